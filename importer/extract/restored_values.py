"""Restores the values of a results file that a spreadsheet program has changed, where the source of its run proves it.

A program that opens `2021-03-04` may save it as `3/4/2021`, and `0012` as 12. The source of the run shows what each
cell was. A cell that can only be what the program makes of its source is what the source says. Another date or number
is read in the format of its column, which the cells with one reading prove; without proof it is refused. So is a number
that a person may have typed with zeros or separators that the program dropped, as it does in the column.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, lru_cache

from importer.extract.csv_file import escape_formula, unescape_formula
from importer.extract.opening import open_records
from importer.extract.possible_values import DATE, Format, possible_values, readings, same
from importer.extract.sheet import PERHAPS_CHANGED, PERHAPS_CODE, ReadingLimits, Record, Sheet, typed_cells
from importer.extract.source_file import SourceCopy, replace_copy
from importer.extract.table import ResultsHeader, results_header
from importer.models import IMPORT_COLUMNS, LINKS_COLUMN, TYPED_COLUMN, Row, SourceOptions
from importer.problems import Column, UnusableInput
from importer.text.cell_links import links_text, read_links

_NOT_A_WORD = re.compile(r"[\d#]")  # #### is a column that is too narrow
_PLAIN = re.compile(r"[1-9]\d{0,14}|0|\d{4}-\d\d-\d\d.*|[^\d]*", re.ASCII)  # reads the same in every locale
# What no person writes to fix a cell: another form of a date or word; in other cells also a number without its zeros.
_ONLY_A_PROGRAM = re.compile(r"\d{4}-\d\d?-\d.*|[^\d]*", re.DOTALL)
_ONLY_A_PROGRAM_ELSEWHERE = re.compile(r"0\d+|\d{16,}")
# What a text is before and after a program drops something of it, so that 50 is perhaps 50.000, and 805 is 0805; or it
# turns a date round, unless it has one reading.
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[.,' ]\d{3})+")
_DROPPED = {
    "zeros": (re.compile(r"[+-]?0\d+"), re.compile(r"[+-]?(?:[1-9]\d*|0)")),
    "decimals": (_GROUPED, re.compile(r"[+-]?\d{1,3}(?:[.,]\d{1,2})?")),
    "separators": (_GROUPED, re.compile(r"[+-]?\d{4,}(?:[.,]\d+)?")),
    "order": (re.compile(r"\d{4}-\d\d-\d\d(?: .*)?"), DATE),
}


def restore_values(
    copy: SourceCopy, original: Callable[[], Sheet], options: SourceOptions, limits: ReadingLimits
) -> SourceCopy:
    """The private copy of a results file, with the values that a spreadsheet program has changed as they were.

    `original` opens the source of the run that wrote the file. The copy of a workbook in which something changed
    becomes a CSV. Values that are not proven are reported when the file is read. A word that replaced a number or date
    was typed by a person: it is no longer listed as a value.
    """
    try:
        return _restored(copy, original, options, limits)
    except (csv.Error, UnusableInput):  # opening the file reports it
        return copy


def _restored(
    copy: SourceCopy, original: Callable[[], Sheet], options: SourceOptions, limits: ReadingLimits
) -> SourceCopy:
    source = open_records(copy.path, copy.path.name, options, limits)
    with closing(source.records()) as records:
        first = next(records, None)
    header = results_header(first.cells) if first is not None and first.number == 1 else None
    if header is None or IMPORT_COLUMNS[0] not in header.added:
        return copy
    has_links = source.has_links or LINKS_COLUMN in header.added
    changes = _Changes(_Table(header, source.records, source.origin.sheet is not None, has_links), original())
    if not changes.found:
        return copy
    with tempfile.TemporaryFile(dir=copy.path.parent) as content:
        text = io.TextIOWrapper(content, "utf-8-sig", newline="", write_through=True)
        writer = csv.writer(text, delimiter=source.delimiter)
        writer.writerows(changes.restored())
        text.detach().seek(0)
        return replace_copy(copy, content, ".csv")


@dataclass(frozen=True, slots=True)
class _Table:
    """A results file: the source's own cells of its rows, and the added ones."""

    header: ResultsHeader
    records: Callable[[], Iterator[Record]]
    is_workbook: bool
    has_links: bool

    def rows(self) -> Iterator[Record]:
        return (record for record in self.records() if record.number > 1)

    def cells(self, record: Record) -> tuple[str, ...]:
        first, count = self.header.first, len(self.header.columns)
        cells = record.cells[first : first + count]
        return cells + ("",) * (count - len(cells))

    def added(self, record: Record, name: str) -> str:
        return "".join(record.cells[at : at + 1]) if (at := self.header.added.get(name)) is not None else ""

    def links(self, record: Record) -> str:
        """What LINKS_COLUMN lists, with the links that a person set in a results workbook."""
        listed, first, cells = self.added(record, LINKS_COLUMN), self.header.first, self.cells(record)
        own = tuple((index - first, link) for index, link in record.links if first <= index < first + len(cells))
        letters = [column.letter for column in self.header.columns]
        try:
            links = read_links(listed or "{}", cells, own, letters)
        except ValueError:  # reading the row reports it
            return listed
        return links_text(cells, links, letters) if own else listed

    def number(self, record: Record) -> int:
        """The number of the source row; -1 if it is not given."""
        text = self.added(record, IMPORT_COLUMNS[0])
        return int(text) if text.isdecimal() and text.isascii() else -1


class _Originals:
    """The rows of the source, by number. Memory is flat as long as they are asked for in their order."""

    def __init__(self, sheet: Sheet, numbers: Iterable[int]) -> None:
        self._rows = sheet.rows()
        self._left = Counter(numbers)
        self._passed: dict[int, Row] = {}

    def row(self, number: int) -> Row | None:
        self._left[number] -= 1
        found = self._passed.pop(number, None)
        while found is None and number > 0 and (row := next(self._rows, None)) is not None:
            if row.number == number:
                found = row
            elif self._left[row.number] > 0:
                self._passed[row.number] = row
        if found is not None and self._left[number] > 0:
            self._passed[number] = found
        return found


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a results file that differs from its source: its text and whether it is typed, before and now.

    `may_be_fixed`: the report names it, or its row as a whole was refused. `was_refused`: as one that a program has
    perhaps changed.
    """

    index: int
    was: str
    was_typed: bool
    now: str
    now_typed: bool
    is_named: bool
    may_be_fixed: bool
    was_refused: bool

    @property
    def is_explained(self) -> bool:
        """Whether it can only be what the program made of it: as a date, a number or a word, whatever the locale."""
        return any(all(found) for found in self._same_values().values())

    @property
    def is_perhaps_explained(self) -> bool:
        """Whether it can be what the program made of it, in some locale."""
        return any(any(found) for found in self._same_values().values())

    def _same_values(self) -> dict[type, list[bool]]:
        """For each value that it may have now, by kind, whether the program may have made it of what the cell was."""
        before = possible_values(self.was)
        found: dict[type, list[bool]] = {}
        for after in possible_values(self.now):
            found.setdefault(type(after), []).append(any(same(each, after) for each in before))
        return found

    @property
    def is_fixed_perhaps(self) -> bool:
        if not self.may_be_fixed or _ONLY_A_PROGRAM.fullmatch(self.was):
            return False
        return self.is_named or not _ONLY_A_PROGRAM_ELSEWHERE.fullmatch(self.was)

    @property
    def is_kept(self) -> bool:
        return self.now == self.was and self.now_typed == self.was_typed

    @property
    def may_be_dropped(self) -> list[str]:
        """What a program perhaps dropped of what a person typed."""
        found = [name for name, (_, after) in _DROPPED.items() if after.fullmatch(self.now)]
        return [name for name in found if name != "order" or len(set(readings(self.now).values())) != 1]

    @property
    def value_before(self) -> str | None:
        """The text of the value that the cell was in every locale; None if that depends on the locale."""
        return self.was if self.was_typed or re.match(r"\d{4}-\d\d-\d\d", self.was) else None


class _Changes:
    """What a program and a person changed in a results file. `found`: whether anything differs from the source."""

    def __init__(self, table: _Table, original: Sheet) -> None:
        self._table, self._original = table, original
        self._places = _same_columns(table.header.columns, original.columns)
        self._rewritten: set[int] = set()
        self._dropped: set[tuple[int, str]] = set()  # by column: what the program drops, and what it keeps
        self._kept: set[tuple[int, str]] = set()
        self._proven: dict[int, frozenset[Format]] = {}
        self.found = False
        for _, changed, _ in self._compared():
            for cell in changed:
                self.found = self.found or not cell.is_kept
                self._learn(cell)

    def restored(self) -> Iterator[list[str]]:
        """All rows of the file as they are to be read, with blank rows where it has some."""
        columns = self._table.header.columns
        links = [LINKS_COLUMN] if self._table.has_links else []
        yield [*map(escape_formula, (column.name for column in columns)), *IMPORT_COLUMNS, TYPED_COLUMN, *links]
        last = 1
        for record, changed, typed in self._compared():
            yield from ([] for _ in range(record.number - last - 1))
            last = record.number
            cells = list(self._table.cells(record))
            marks = {columns[index].letter: columns[index].letter for index in typed}
            for cell in changed:
                letter = columns[cell.index].letter
                cells[cell.index], marks[letter] = self._decided(cell, letter)
            added = [self._table.added(record, name) for name in IMPORT_COLUMNS]
            links = [self._table.links(record)] if self._table.has_links else []
            yield [*map(escape_formula, (*cells, *added)), " ".join(filter(None, marks.values())), *links]

    def _compared(self) -> Iterator[tuple[Record, list[_Cell], frozenset[int]]]:
        """Each row, with its cells that differ from the source, and the indexes of its typed cells."""
        table, first, width = self._table, self._table.header.first, len(self._table.header.columns)
        originals = _Originals(self._original, map(table.number, table.rows()))
        for record in table.rows():
            typed = frozenset(index - first for index in record.typed if first <= index < first + width)
            row, cells = originals.row(table.number(record)), table.cells(record)
            if row is None:
                yield record, [], typed | typed_cells(table.added(record, TYPED_COLUMN), cells, table.header.columns)
                continue
            typed = typed.union(here for here, there in self._places if there in row.typed and cells[here])
            yield record, list(self._changed(record, cells, typed, row)), typed

    def _changed(self, record: Record, cells: tuple[str, ...], typed: frozenset[int], row: Row) -> Iterator[_Cell]:
        status, problem = (self._table.added(record, name) for name in IMPORT_COLUMNS[1:3])
        for here, there in self._places:
            was, was_typed, now = row.cells[there], there in row.typed, cells[here]
            if now and (now != was or was_typed != (here in typed) or _droppable(was)):
                is_named = f'column "{self._original.columns[there].label}"' in problem
                may_be_fixed = is_named or (status.endswith("rejected") and 'column "' not in problem)
                was_refused = any(each.code == PERHAPS_CODE and each.is_in((there,)) for each in row.problems)
                yield _Cell(here, was, was_typed, now, here in typed, is_named, may_be_fixed, was_refused)

    def _learn(self, cell: _Cell) -> None:
        if cell.is_kept:
            self._kept.update((cell.index, name) for name in _droppable(cell.was))
        elif cell.now != cell.was and cell.is_explained:
            self._rewritten.add(cell.index)
            self._dropped.update((cell.index, name) for name in _droppable(cell.was) if name in cell.may_be_dropped)
        found = readings(cell.now)
        if cell.value_before is not None and set(found.values()) == {cell.value_before}:
            self._proven[cell.index] = self._proven.get(cell.index, frozenset(found)) & frozenset(found)

    def _decided(self, cell: _Cell, letter: str) -> tuple[str, str]:
        """The text of a changed cell, and what TYPED_COLUMN lists for it."""
        as_before = cell.was, letter if cell.was_typed else ""
        if cell.was in (cell.now, unescape_formula(cell.now), escape_formula(cell.now)):
            return as_before
        if cell.is_explained and not cell.is_fixed_perhaps:
            return as_before
        if self._table.is_workbook and not (cell.was_typed or cell.now_typed):  # a text, as it was typed
            return cell.now, ""
        if cell.is_explained:
            return cell.was, letter + PERHAPS_CHANGED
        is_dropped = self._is_perhaps_dropped(cell)
        if is_dropped and not DATE.fullmatch(cell.now):
            return cell.was, letter + PERHAPS_CHANGED
        typed_by_program = cell.now_typed and not cell.was_typed
        in_question = cell.was_typed or cell.index in self._rewritten or cell.is_perhaps_explained or is_dropped
        if typed_by_program or not in_question:
            return cell.now, letter if cell.now_typed else ""
        proven = self._proven.get(cell.index, frozenset())
        values = {value for each, value in readings(cell.now).items() if each in proven}
        if len(values) == 1:
            value = values.pop()
            return as_before if value == cell.value_before else (value, letter)
        if cell.was_typed:
            is_word = cell.was not in ("TRUE", "FALSE") and not _NOT_A_WORD.search(cell.now)
            return cell.now, "" if is_word else letter
        if possible_values(cell.now) and not _PLAIN.fullmatch(cell.now):
            return cell.was, letter + PERHAPS_CHANGED
        return cell.now, ""

    def _is_perhaps_dropped(self, cell: _Cell) -> bool:
        """Whether the program may have dropped something of what a person typed, as in other cells of the column.

        If no other cell of the column in the file shows whether it does, the whole source shows what is usual in it.
        """
        if cell.was_refused and cell.may_be_dropped:
            return True
        is_saved_as_text = bool(self._kept) and not self._rewritten
        for name in cell.may_be_dropped:
            place = cell.index, name
            if place in self._dropped or (name == "order" and self._rewritten and place not in self._kept):
                return True
            if name != "separators" and not is_saved_as_text and place not in self._kept and place in self._usual:
                return True
        return False

    @cached_property
    def _usual(self) -> set[tuple[int, str]]:
        """What a program could drop in the texts of each column of the source."""
        return {
            (here, name)
            for row in self._original.rows()
            for here, there in self._places
            if there not in row.typed
            for name in _droppable(row.cells[there])
        }


@lru_cache(maxsize=65_536)
def _droppable(text: str) -> tuple[str, ...]:
    """What a program could drop of a text."""
    return tuple(name for name, (before, _) in _DROPPED.items() if before.fullmatch(text))


def _same_columns(columns: Sequence[Column], original: Sequence[Column]) -> list[tuple[int, int]]:
    """The indexes of each column here and in the source. If they are not the same, only names that are unique."""
    names, before = ([column.name for column in each] for each in (columns, original))
    if names == before:
        return [(index, index) for index in range(len(names))]
    return [
        (index, before.index(name))
        for index, name in enumerate(names)
        if name and names.count(name) == 1 and before.count(name) == 1
    ]
