"""Shows candidates as they will be sent: each answer beside the cells that it comes from, entries as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from importer.cli.messages import print_result
from importer.models import Row
from importer.problems import Origin
from importer.sent_answers import Note, PickedCandidate, TracedAnswer, address, sent_lines, sent_text
from importer.text.normalize import visible
from importer.text.wrapping import wrapped

_LONGEST: Final = 120  # characters of a text
_WIDTH: Final = 100  # columns; a terminal of 80 is enough
_ENTRIES_BESIDE: Final = 3  # entries side by side: more would break words


def show_candidates(candidates: Iterable[PickedCandidate]) -> None:
    """Print candidates on stdout, each with the reason why it was picked."""
    for candidate in candidates:
        for line in wrapped(f"{_rows(candidate.row)}, {candidate.why or 'an ordinary one'}", others="  "):
            print_result(line)
        print_result("")
        show_answers(candidate.answers, candidate.row.origin)


def _rows(row: Row) -> str:
    if not row.members:
        return f"Row {row.number}"
    return f"Rows {', '.join(str(member.number) for member in row.members)}"


def show_answers(answers: tuple[TracedAnswer, ...], origin: Origin, sent_title: str = "is sent") -> None:
    """Print the answers of a candidate; those without a cell and a value in one line."""
    table = _table("cell", "the file says", "question", sent_title)
    for line in sent_lines([answer for answer in answers if not answer.entries], origin):
        where = f"{line.cell} {line.column}".strip()
        sent = shortened(line.sent) if line.sent else "nothing"
        table.add_row(*map(_text, (where, shortened(line.text), line.question, sent + _noted(line.note))))
    _print(table)
    for answer in answers:
        for entries in _entries(answer, origin):
            _print(entries)
    blank = [answer.label for answer in answers if answer.sent is None and not answer.cells]
    if blank:
        _print(_text(f"not answered, as the cells are blank or read as empty: {', '.join(blank)}"))


def _print(shown: Table | Text) -> None:
    console = Console(color_system=None)
    with console.capture() as capture:
        console.print(shown, width=min(console.width, _WIDTH))
    for line in capture.get().splitlines():
        print_result(line.rstrip())
    print_result("")


def _entries(answer: TracedAnswer, origin: Origin) -> Iterator[Table]:
    """One column for each entry; under each value its cell, with the text of the cell where it differs."""
    sent = [{field.label: field for field in entry if field.sent is not None} for entry in answer.entries]
    names = list(dict.fromkeys(field.label for entry in answer.entries for field in entry))
    names = [name for name in names if any(name in entry for entry in sent)]
    for first in range(0, len(sent), _ENTRIES_BESIDE):
        shown = sent[first : first + _ENTRIES_BESIDE]
        table = _table(answer.label, *(str(first + number) for number in range(1, len(shown) + 1)))
        for name in names:
            table.add_row(name, *(_entry_cell(entry.get(name), origin) for entry in shown))
        yield table


def _entry_cell(field: TracedAnswer | None, origin: Origin) -> Text:
    if field is None:
        return Text("")
    cells = ", ".join(dict.fromkeys(address(cell.place, origin) for cell in field.cells))
    said = " | ".join(cell.text for cell in field.cells)
    said = f" {shortened(said)}" if said.strip() != sent_text(field.sent) else ""
    notes = [note for note in field.notes if note is not Note.CURRENT]
    return _text(f"{shortened(sent_text(field.sent))}\n{cells}{said}{_noted('; '.join(notes))}")


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for heading in headings:
        table.add_column(Text(heading), overflow="fold")
    return table


def _noted(note: str) -> str:
    return f"\n({note})" if note else ""


def _text(text: str) -> Text:
    # Text, not str: rich would treat square brackets in a cell as markup.
    return Text(visible(text))


def shortened(text: str) -> str:
    """A text on one line; a long one cut, with its length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 20]}… ({len(text):,} characters)"


def candidates_json(candidates: Iterable[PickedCandidate]) -> Iterator[dict[str, Any]]:
    """Candidates for programs: the same, not shortened."""
    for candidate in candidates:
        yield {
            "row": candidate.row.number,
            "why": candidate.why,
            "answers": [line._asdict() for line in sent_lines(candidate.answers, candidate.row.origin)],
        }
