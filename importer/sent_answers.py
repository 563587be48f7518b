"""What is sent beside where it comes from: the cells of each answer and what happened in between, as lines of texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from importer.models import Row
from importer.problems import CellPlace, Origin


class Note(StrEnum):
    """What happened between the cells and what is sent, where a person may want to check it."""

    OTHERWISE = "by `otherwise`"
    NOT_SENT = "filled in, but not sent"
    SECOND_CHOICE = "an earlier cell is not valid"
    SHORT_YEAR = "two-digit year"
    DATE_COMPLETED = "day or month added"
    LINK = "address of the link"
    JOINED = "joined"
    SPLIT = "split"
    VALUE_TABLE = "value table"
    DEFAULT = "default"
    COUNTRY_CODE = "country code added"
    CURRENT = "current"
    CONSTANT = "the same for every row"
    CORRECTED = "corrected, the file has another text"


@dataclass(frozen=True, slots=True)
class TracedCell:
    """A cell that an answer comes from, and its text; of an entry in a list within a cell, the text of its part."""

    place: CellPlace
    text: str


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """One answer or field of a request body.

    label: the field's name, or the question's label. cells: those that it comes from; if nothing is sent, those that
    are filled in. sent: as in the body, None if nothing is sent. entries: of education or experience, the fields of
    each entry in the order in which they are sent; its `cells` and `notes` are then empty.
    """

    label: str
    cells: tuple[TracedCell, ...] = ()
    sent: str | bool | None = None
    notes: tuple[Note, ...] = ()
    entries: tuple[tuple[TracedAnswer, ...], ...] = ()


# --- one line for each answer ---------------------------------------------------------------------


def mark_corrected(
    answers: Iterable[TracedAnswer], corrections: Collection[tuple[int, int]]
) -> tuple[TracedAnswer, ...]:
    """The answers, with a note where a cell is read with the text of a list of corrections.

    corrections: the row number and the index of the column of each of these cells.
    """
    if not corrections:
        return tuple(answers)
    return tuple(
        replace(
            one,
            notes=one.notes + (Note.CORRECTED,) * any(_is_in(cell.place, corrections) for cell in one.cells),
            entries=tuple(mark_corrected(entry, corrections) for entry in one.entries),
        )
        for one in answers
    )


def _is_in(place: CellPlace, corrections: Collection[tuple[int, int]]) -> bool:
    return place.column is not None and (place.row, place.column.index) in corrections


class SentLine(NamedTuple):
    """An answer beside its cells, as texts. question: of a field of an entry also the entry's number."""

    cell: str
    column: str
    text: str
    question: str
    sent: str
    note: str


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
                "; ".join(answer.notes),
            )


def address(place: CellPlace, origin: Origin) -> str:
    """`C5`; in another table `schools.csv C5`."""
    cell = f"{place.column.letter if place.column else ''}{place.row}"
    return cell if place.origin == origin else f"{place.origin.sheet or Path(place.origin.file).name} {cell}"


def sent_text(sent: str | bool | None) -> str:
    """What is sent as a text: `true` for True, "" for nothing."""
    return "" if sent is None else str(sent).lower() if isinstance(sent, bool) else sent


# --- candidates to look at before sending ---------------------------------------------------------

PICKED_FROM: Final = 5_000  # candidates: enough to meet every oddity of a file in a second
_LONG = 300  # characters: a longer text is worth a look
_USUAL = (Note.CONSTANT, Note.CURRENT, Note.DEFAULT)


@dataclass(frozen=True, slots=True)
class PickedCandidate:
    """A candidate as it will be sent, and why it was picked: "" if it is an ordinary one."""

    row: Row
    answers: tuple[TracedAnswer, ...]
    why: str


def pick_candidates(traced: Iterable[tuple[Row, tuple[TracedAnswer, ...]]], count: int) -> tuple[PickedCandidate, ...]:
    """At most `count` of the first candidates: those that are the first with an oddity, then ordinary ones.

    traced: the candidates that will be sent, each with its row; read as far as needed.
    """
    odd, ordinary, known = list[PickedCandidate](), list[PickedCandidate](), set[str]()
    for row, answers in islice(traced, PICKED_FROM):
        new = [why for why in _oddities(row, answers) if why not in known]
        known.update(new)
        if new or len(ordinary) < count:
            (odd if new else ordinary).append(PickedCandidate(row, answers, "; ".join(new)))
    return tuple([*odd, *ordinary][:count])


def _oddities(row: Row, answers: Sequence[TracedAnswer]) -> Iterator[str]:
    """What is odd about a candidate."""
    fields = [*answers, *(field for answer in answers for entry in answer.entries for field in entry)]
    notes = {note for field in fields for note in field.notes}
    yield from (note for note in Note if note in notes and note not in _USUAL)
    if any(cell.place.origin != row.origin for field in fields for cell in field.cells):
        yield "entries from another table"
    if row.members:
        yield "several rows of the file"
    if any(len(sent_text(field.sent)) > _LONG for field in fields if not field.entries):
        yield "a long text"
