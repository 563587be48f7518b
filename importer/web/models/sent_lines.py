"""What is sent beside the cells that it comes from, as lines of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from importer.problems import CellPlace, Origin
from importer.transform import TracedAnswer


class SentLine(NamedTuple):
    """An answer beside its cells, as texts. question: of a field of an entry also the entry's number."""

    cell: str
    column: str
    text: str
    question: str
    sent: str


def sent_lines(answers: Iterable[TracedAnswer], origin: Origin) -> Iterator[SentLine]:
    """The lines of a candidate, without questions that have neither an answer nor a filled cell.

    origin: of the candidate's row; cells of other tables are named with their file or sheet.
    """
    for answer in answers:
        for number, entry in enumerate(answer.entries, start=1):
            for field in entry:
                yield from sent_lines([replace(field, label=f"{answer.label} {number}: {field.label}")], origin)
        if not answer.entries and (answer.cells or answer.sent is not None):
            yield SentLine(
                ", ".join(dict.fromkeys(address(cell.place, origin) for cell in answer.cells)),
                ", ".join(dict.fromkeys(cell.place.column.label for cell in answer.cells if cell.place.column)),
                " | ".join(cell.text for cell in answer.cells),
                answer.label,
                sent_text(answer.sent),
            )


def address(place: CellPlace, origin: Origin) -> str:
    """`C5`; in another table `schools.csv C5`."""
    cell = f"{place.column.letter if place.column else ''}{place.row}"
    return cell if place.origin == origin else f"{place.origin.sheet or Path(place.origin.file).name} {cell}"


def sent_text(sent: str | bool | None) -> str:
    """What is sent as a text: `true` for True, "" for nothing."""
    return "" if sent is None else str(sent).lower() if isinstance(sent, bool) else sent
