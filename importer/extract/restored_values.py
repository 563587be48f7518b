"""Restores the values of a results file that a spreadsheet program has changed, where the source of its run proves it.

A program that opens `2021-03-04` may save it as `3/4/2021`, and `0012` as 12; it never says so. A person fixes other
cells of the same file. The source of the run shows what each cell was, so the importer asks of each cell who wrote what
stands there now. All cases follow from five rules, of which the first that applies decides (`_Changes._decided`):

1. **What is as it was, is as it was.** Also with or without the quote of a formula, cut to the length of a cell, or
   with the characters lost that the encoding of the file does not have (`saved_encoding`).
2. **A text cell of a workbook is what the person typed**: no program changes it. Over a value (a cell that the source
   stored as a number, a date, TRUE or FALSE) it is a value if it has the format of `Row`, and a text for the mapping
   if it has one meaning; one that can be read in several ways is a problem.
3. **What only a program can have made of what it was, is what it was**: all values that it may have now, in any locale
   (`possible_values`), are those of what it was. Not where a person was asked to fix the cell and may have written the
   same: then nothing shows whose it is, and the problem quotes it.
4. **A value is read in the form of its column.** Where cells with a known value show how the program writes dates,
   months or numbers (`Habits`), what a person typed is read in that form.
5. **What no program writes otherwise is the person's**: a word, a plain number, a text in a column that the program
   leaves alone. **The rest is refused**: also a number that may have had zeros or decimals, which the program drops in
   this column, or usually would. The old value is in its place, so that a row is never sent with half a truth.

So no value changes silently, and none is sent that is not proven. A value stays one, in the format of `Row`: the
mapping would read another format in its own way.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from importer.extract.changed_cell import ChangedCell, Habits, droppable, is_date
from importer.extract.csv_file import Encoding
from importer.extract.encoding import byte_order_mark
from importer.extract.opening import open_records, results_file
from importer.extract.possible_values import readings
from importer.extract.results_file import (
    OR_LEAVE_IT,
    PERHAPS_CODE,
    ReadAs,
    ResultsHeader,
    is_canonical,
    perhaps_changed,
    problems_text,
    results_header,
)
from importer.extract.saved_encoding import BYTES, decode, has_character, lost_characters, proven_encodings
from importer.extract.sheet import ReadingLimits, Record, Sheet
from importer.extract.source_file import SourceCopy, replace_copy
from importer.extract.table import RecordSource
from importer.models import IMPORT_COLUMNS, LINKS_COLUMN, TYPED_COLUMN, Row, SourceOptions
from importer.problems import Problem, UnusableInput
from importer.text.results_cells import escape_formula, links_text, read_links

_NOT_A_WORD = re.compile(r"[\d#]")  # #### is a column that is too narrow
_PLAIN = re.compile(r"[1-9]\d{0,14}|0|\d{4}-\d\d-\d\d.*|[^\d]*", re.ASCII)  # reads the same in every locale


def restore_values(
    copy: SourceCopy,
    original: Callable[[], Sheet],
    options: SourceOptions,
    limits: ReadingLimits,
) -> SourceCopy:
    """The private copy of a results file, with the values that a spreadsheet program has changed as they were.

    `original` opens the source of the run that wrote the file. A copy in which something changed becomes a CSV, which
    says how it was read, and has the problems of values that are not proven.
    """
    try:
        sheet, is_marked = original(), byte_order_mark(copy.path) is not None
        copy, encodings = _as_utf8(copy, sheet, limits)
        source = open_records(copy.path, copy.path.name, options, limits)
        header = _header(source)
        if header is None:
            return copy
        changes = _Changes(source, header, sheet, encodings, may_lose_characters=not is_marked)
        if not (changes.found or encodings):
            return copy
        if encodings:
            source = replace(source, how=source.how.replace("UTF-8 with BOM", " or ".join(encodings)))
        with tempfile.TemporaryFile(dir=copy.path.parent) as content:
            text = io.TextIOWrapper(content, "utf-8-sig", newline="", write_through=True)
            csv.writer(text, delimiter=source.delimiter).writerows(changes.restored(source.how))
            text.detach().seek(0)
            return replace_copy(copy, content, ".csv")
    except (csv.Error, UnusableInput):  # opening the file reports it
        return copy


def _header(source: RecordSource) -> ResultsHeader | None:
    """None for another file, and for a results file whose rows are not numbered any more."""
    with closing(source.records()) as records:
        first = next(records, None)
    header = results_header(first.cells) if first is not None and first.number == 1 else None
    return header if header and IMPORT_COLUMNS[0] in header.added else None


def _as_utf8(copy: SourceCopy, original: Sheet, limits: ReadingLimits) -> tuple[SourceCopy, Sequence[str]]:
    """The copy in UTF-8, and the encodings that it may have been in; none if it was UTF-8 or nothing proves another."""
    saved = results_file(copy.path, copy.path.name, limits, Encoding(BYTES, BYTES))
    if saved is None or results_file(copy.path, copy.path.name, limits) is not None:
        return copy, ()
    header = _header(saved.source())
    encodings = proven_encodings(_Changes(saved.source(), header, original).evidence()) if header else ()
    if not encodings:
        return copy, ()
    with copy.path.open("rb") as content, tempfile.TemporaryFile(dir=copy.path.parent) as decoded:
        decode(content, encodings, decoded)
        decoded.seek(0)
        return replace_copy(copy, decoded, copy.path.suffix), encodings


class _Originals:
    """The rows of the source, by number. Memory is flat as long as they are asked for in their order."""

    def __init__(self, sheet: Sheet, numbers: Iterable[int]) -> None:
        self._rows = sheet.rows()
        self._left = Counter(numbers)
        self._read: dict[int, Row] = {}

    def row(self, number: int) -> Row | None:
        while number > 0 and number not in self._read and (row := next(self._rows, None)) is not None:
            if self._left[row.number] > 0:
                self._read[row.number] = row
        self._left[number] -= 1
        return self._read.get(number) if self._left[number] > 0 else self._read.pop(number, None)


class _Compared(NamedTuple):
    """A row of the file: its cells that differ from the source, or show what a program keeps; and what TYPED_COLUMN
    lists, by the index of the cell."""

    record: Record
    cells: list[ChangedCell]
    marks: dict[int, str]


class _Changes:
    """What a program and a person changed in a results file. `found`: whether anything differs from the source.

    encodings: that the program saved it in, if that was not UTF-8.
    may_lose_characters: the file does not have the byte-order mark of Unicode.
    """

    def __init__(
        self,
        source: RecordSource,
        header: ResultsHeader,
        original: Sheet,
        encodings: Sequence[str] = (),
        *,
        may_lose_characters: bool = True,
    ) -> None:
        self._source, self._header, self._original = source, header, original
        self._encodings = encodings
        self._is_workbook = source.origin.sheet is not None
        self._names = self._column_names()
        self._places = _same_columns(self._names, [column.name for column in original.columns])
        self._habits: defaultdict[int, Habits] = defaultdict(Habits)
        self._is_ascii = may_lose_characters and not self._is_workbook
        self.found = loses_characters = False
        for record, changed, _ in self._compared():
            self._is_ascii = self._is_ascii and all(map(str.isascii, header.own(record.cells)))
            for cell in changed:
                self.found = self.found or not cell.is_kept
                self._habits[cell.index].learn(cell)
                loses_characters = loses_characters or ("?" in cell.now and bool(lost_characters(cell.was, cell.now)))
        self._loses_characters = bool(encodings) or (self._is_ascii and loses_characters)

    def evidence(self) -> Iterator[tuple[str, str]]:
        """The cells that a person had no reason to change, as they were and as they are."""
        yield from zip((column.name for column in self._original.columns), self._names, strict=False)
        for _, changed, _ in self._compared(also_kept=True):
            yield from ((cell.was, cell.now) for cell in changed if not cell.is_named)

    def restored(self, how: str) -> Iterator[list[str]]:
        """All rows of the file as they are to be read, with blank rows where it has some. how: it was read."""
        first, columns, added = self._header.first, self._header.columns, dict(self._header.added)
        own = width = max(first + len(columns), 1 + max(added.values()))
        has_links = self._source.has_links or LINKS_COLUMN in added
        for name in (TYPED_COLUMN, LINKS_COLUMN) if has_links else (TYPED_COLUMN,):
            width += name not in added
            added.setdefault(name, width - 1)
        header = [""] * width
        header[first : first + len(columns)] = self._names
        for name, at in added.items():
            header[at] = name
        yield [*map(escape_formula, header), ReadAs(how, self._source.origin.sheet, own).cell]
        last = 1
        for record, changed, marks in self._compared():
            yield from ([] for _ in range(record.number - last - 1))
            last, cells = record.number, list(record.cells[:own])
            if any(each.index is None for each in record.problems):
                cells = cells[:1]
            if len(cells) < own and not self._is_workbook:  # which cells are missing is unknown
                yield list(map(escape_formula, cells))
                continue
            cells += [""] * (width - len(cells))
            problems: list[tuple[int, Problem]] = []
            for cell in changed:
                at = cell.index
                cells[first + at], marks[at], problem = self._decided(cell, columns[at].letter)
                problems += [(at, problem)] if problem else []
            cells[added[TYPED_COLUMN]] = " ".join(filter(None, marks.values()))
            if has_links:
                cells[added[LINKS_COLUMN]] = self._links(record)
            yield [*map(escape_formula, cells), problems_text(problems), *map(escape_formula, record.cells[own:])]

    def _links(self, record: Record) -> str:
        """What LINKS_COLUMN lists, with the links that a person set in a results workbook."""
        listed, first = self._header.text(record.cells, LINKS_COLUMN), self._header.first
        cells, letters = self._header.own(record.cells), [column.letter for column in self._header.columns]
        own = tuple((index - first, link) for index, link in record.links if 0 <= index - first < len(cells))
        try:
            return links_text(cells, read_links(listed or "{}", cells, own, letters), letters) if own else listed
        except ValueError:  # reading the row reports it
            return listed

    def _column_names(self) -> list[str]:
        """The names of the columns, with the characters that the program lost."""
        names = [column.name for column in self._header.columns]
        before = [column.name for column in self._original.columns]
        if len(names) != len(before):
            return names
        return [was if lost_characters(was, now) else now for was, now in zip(before, names, strict=True)]

    def _rows(self) -> Iterator[Record]:
        return (record for record in self._source.records() if record.number > 1)

    def _compared(self, *, also_kept: bool = False) -> Iterator[_Compared]:
        header, columns = self._header, self._header.columns
        originals = _Originals(self._original, (header.row_number(record.cells) or -1 for record in self._rows()))
        letters = {there: columns[here].letter for here, there in self._places}
        for record in self._rows():
            cells, typed = header.own(record.cells), {index - header.first for index in record.typed}
            marks = {column.index: column.letter for column in columns if column.index in typed}
            row = originals.row(header.row_number(record.cells) or -1)
            if row is None:
                listed = {each.partition("=")[0]: each for each in header.text(record.cells, TYPED_COLUMN).split()}
                places = ((each.index, listed.get(each.letter)) for each in columns)
                yield _Compared(record, [], marks | {index: mark for index, mark in places if mark and cells[index]})
                continue
            before = row.typed_marks(letters)
            marks |= {here: before[there] for here, there in self._places if there in before and cells[here]}
            yield _Compared(record, list(self._changed(record, typed, before, row, also_kept=also_kept)), marks)

    def _changed(
        self, record: Record, typed: set[int], before: dict[int, str], row: Row, *, also_kept: bool
    ) -> Iterator[ChangedCell]:
        status, problem = (self._header.text(record.cells, name) for name in IMPORT_COLUMNS[1:3])
        cells = self._header.own(record.cells)
        for here, there in self._places:
            was, now, mark, now_typed = row.cells[there], cells[here], before.get(there, ""), here in typed
            is_kept = now == was and (bool(mark) or not now_typed)
            if now and (also_kept or not is_kept or droppable(was) or is_date(was)):
                is_named = f'column "{self._original.columns[there].label}"' in problem
                may_be_fixed = is_named or (status.endswith("rejected") and 'column "' not in problem)
                refusals = [each for each in row.problems if each.code == PERHAPS_CODE and each.is_in((there,))]
                was_wrong = is_named and not any(each.hint.endswith(OR_LEAVE_IT) for each in refusals)
                known = is_named, may_be_fixed, bool(refusals), was_wrong
                yield ChangedCell(here, was, mark, now, now_typed, is_kept, *known)

    def _decided(self, cell: ChangedCell, letter: str) -> tuple[str, str, Problem | None]:
        """The text of a changed cell, what TYPED_COLUMN lists for it, and its problem."""
        was, now, mark, origin = cell.was, cell.now, cell.mark, cell.origin
        as_before, as_text, as_value = (was, mark, None), (now, "", None), (now, letter, None)
        # The value stays one: as a text, the mapping would read it.
        unproven = was, mark, perhaps_changed(was, now, was_wrong=cell.was_wrong)
        if cell.is_as_it_was:
            return as_before
        if self._has_lost_characters(cell):
            is_proven = self._loses_characters and not (cell.is_named or (cell.may_be_fixed and "?" not in now))
            return as_before if is_proven else unproven
        if self._loses_characters and now.count("?") > was.count("?"):
            return unproven
        is_text = self._is_workbook and not cell.now_typed
        if is_text and not mark:
            return as_text
        if origin.readings and not cell.is_fixed_perhaps:
            return as_before
        if is_text:
            return as_text if cell.is_unambiguous and not is_canonical(now) else as_value
        if cell.is_requested_form:
            return as_value
        habits, is_dropped = self._habits[cell.index], self._is_perhaps_dropped(cell)
        if origin.readings or (is_dropped and not is_date(now)):
            return unproven
        if not mark and (cell.now_typed or not (habits.is_rewritten or origin.is_possible or is_dropped)):
            return as_value if cell.now_typed else as_text
        if (text := habits.proven_text(cell)) is not None:
            return as_before if text == was else (text, letter if is_canonical(text) else "", None)
        if mark:
            return as_text if was not in ("TRUE", "FALSE") and not _NOT_A_WORD.search(now) else as_value
        return unproven if readings(now) and not _PLAIN.fullmatch(now) else as_text

    def _has_lost_characters(self, cell: ChangedCell) -> bool:
        """Whether the cell is what the encoding of the file makes of it. UTF-8 loses nothing."""
        lost = lost_characters(cell.was, cell.now)
        if self._encodings:
            return bool(lost) and not any(has_character(each, one) for each in self._encodings for one in lost)
        return bool(lost) and self._is_ascii

    def _is_perhaps_dropped(self, cell: ChangedCell) -> bool:
        """Whether the program may have dropped something of what a person typed, as in other cells of the column.

        If no other cell of the column in the file shows whether it does, the whole source shows what is usual in it.
        """
        column, habits = self._habits[cell.index], self._habits.values()
        is_rewritten = any(each.is_rewritten for each in habits)
        is_saved_as_text = not is_rewritten and any(each.kept for each in habits)
        for name in cell.may_be_dropped:
            if cell.was_refused or name in column.dropped:
                return True
            is_usual = name != "separators" and not is_saved_as_text and (cell.index, name) in self._usual
            if name not in column.kept and (is_usual or (name == "order" and is_rewritten)):
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
            for name in droppable(row.cells[there])
        }


def _same_columns(names: Sequence[str], before: Sequence[str]) -> list[tuple[int, int]]:
    """The indexes of each column here and in the source. If they are not the same, only names that are unique."""
    if list(names) == list(before):
        return [(index, index) for index in range(len(names))]
    return [
        (index, before.index(name))
        for index, name in enumerate(names)
        if name and names.count(name) == 1 and before.count(name) == 1
    ]
