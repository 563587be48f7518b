"""Tables on the terminal; in them candidates as they are sent: each answer beside its cells, entries as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from importer.cli.messages import print_result
from importer.problems import Origin
from importer.sent_answers import Note, TracedAnswer, address, sent_lines, sent_text
from importer.text.normalize import visible

_LONGEST: Final = 120  # characters of a text
_WIDTH: Final = 100  # columns of a table of answers; a terminal of 80 is enough
_GAP: Final = 2  # columns between two of a table
_ENTRIES_BESIDE: Final = 3  # entries side by side: more would break words


def new_table(*headings: str) -> Table:
    """A table without frame. Its cells are `cell`s."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(Text(heading), overflow="fold")
    return table


def print_lines_of(rows: Sequence[Sequence[str]], widest: Sequence[int]) -> None:
    """Print one line for each row, the first one with headings. Longer texts are cut; the last one has what is left."""
    shown = [[visible(" ".join(text.split())) for text in row] for row in rows]
    longest = [max(map(cell_len, texts)) for texts in zip(*shown, strict=True)]
    widths = [min(lengths) for lengths in zip(longest, widest, strict=False)]
    widths.append(max(Console(color_system=None).width - sum(widths) - _GAP * len(widths), _GAP))
    for row in shown:
        cells = [
            text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"
            for text, width in zip(row, widths, strict=True)
        ]
        padded = (set_cell_size(text, width) for text, width in zip(cells, widths, strict=True))
        print_result((" " * _GAP).join(padded).rstrip())


def cell(text: str) -> Text:
    """A text in a table: rich would treat square brackets in a str as markup."""
    return Text(visible(text))


def print_table(table: Table | Text, widest: int = sys.maxsize) -> None:
    """Print a table, or a text broken like one, on stdout, at most as wide as the terminal; and a blank line."""
    console = Console(color_system=None)
    with console.capture() as capture:
        console.print(table, width=min(console.width, widest))
    for line in capture.get().splitlines():
        print_result(line.rstrip())
    print_result("")


def show_answers(answers: tuple[TracedAnswer, ...], origin: Origin, sent_title: str = "is sent") -> None:
    """Print the answers of a candidate; those without a cell and a value in one line."""
    table = new_table("cell", "is read as", "question", sent_title)
    for line in sent_lines([answer for answer in answers if not answer.entries], origin):
        where = f"{line.cell} {line.column}".strip()
        sent = shortened(line.sent) if line.sent else "nothing"
        table.add_row(*map(cell, (where, shortened(line.text), line.question, sent + _noted(line.note))))
    print_table(table, _WIDTH)
    for answer in answers:
        for entries in _entries(answer, origin):
            print_table(entries, _WIDTH)
    blank = [answer.label for answer in answers if answer.sent is None and not answer.cells]
    if blank:
        print_table(cell(f"not answered, as the cells are blank or read as empty: {', '.join(blank)}"), _WIDTH)


def _entries(answer: TracedAnswer, origin: Origin) -> Iterator[Table]:
    """One column for each entry; under each value its cell, with the text of the cell where it differs."""
    sent = [{field.label: field for field in entry if field.sent is not None} for entry in answer.entries]
    names = list(dict.fromkeys(field.label for entry in answer.entries for field in entry))
    names = [name for name in names if any(name in entry for entry in sent)]
    for first in range(0, len(sent), _ENTRIES_BESIDE):
        shown = sent[first : first + _ENTRIES_BESIDE]
        table = new_table(answer.label, *(str(first + number) for number in range(1, len(shown) + 1)))
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
    return cell(f"{shortened(sent_text(field.sent))}\n{cells}{said}{_noted('; '.join(notes))}")


def _noted(note: str) -> str:
    return f"\n({note})" if note else ""


def shortened(text: str) -> str:
    """A text on one line; a long one cut, with its length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 20]}… ({len(text):,} characters)"
