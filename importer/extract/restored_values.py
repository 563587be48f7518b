"""Restores the values of a results file that a spreadsheet program has changed, where the source of its run proves it.

A program that opens `2021-03-04` may save it as `3/4/2021`, and `0012` as 12. The source of the run shows what each
cell was. A cell that can only be what the program makes of its source is what the source says. Another date or number
is read in the format of its column, which the cells with one reading prove; without proof it is refused. So is a number
that a person may have typed with zeros or separators that the program dropped, as it does in the column, and a text
with characters that the encoding of the file does not have.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from importer.extract.changed_cell import ChangedCell, NamedMonth, droppable, named_month, shows_format, unnamed_month
from importer.extract.csv_file import Encoding
from importer.extract.encoding import byte_order_mark
from importer.extract.opening import open_records, results_file
from importer.extract.possible_values import DATE, Format, possible_values, readings
from importer.extract.results_file import OR_LEAVE_IT, PERHAPS_CODE, ReadAs, ResultsTable, is_canonical, perhaps_mark
from importer.extract.saved_encoding import BYTES, decode, has_character, lost_characters, proven_encodings
from importer.extract.sheet import ReadingLimits, Record, Sheet
from importer.extract.source_file import SourceCopy, replace_copy
from importer.models import IMPORT_COLUMNS, LINKS_COLUMN, TYPED_COLUMN, Row, SourceOptions
from importer.problems import UnusableInput
from importer.text.results_cells import escape_formula, unescape_formula

_NOT_A_WORD = re.compile(r"[\d#]")  # #### is a column that is too narrow
_PLAIN = re.compile(r"[1-9]\d{0,14}|0|\d{4}-\d\d-\d\d.*|[^\d]*", re.ASCII)  # reads the same in every locale


def restore_values(
    copy: SourceCopy,
    original: Callable[[], Sheet],
    options: SourceOptions,
    limits: ReadingLimits,
    *,
    has_report: bool = True,
) -> SourceCopy:
    """The private copy of a results file, with the values that a spreadsheet program has changed as they were.

    `original` opens the source of the run that wrote the file. A copy in which something changed becomes a CSV, which
    says how it was read. Values that are not proven are reported when the file is read. A word that replaced a number
    or date was typed by a person: it is no longer listed as a value. has_report: as in ReadAs.
    """
    try:
        sheet, is_marked = original(), byte_order_mark(copy.path) is not None
        copy, encodings = _as_utf8(copy, sheet, limits)
        source = open_records(copy.path, copy.path.name, options, limits)
        table = ResultsTable.of(source)
        if table is None:
            return copy
        changes = _Changes(table, sheet, encodings, is_marked=is_marked)
        if not (changes.found or encodings):
            return copy
        if encodings:
            source = replace(source, how=source.how.replace("UTF-8 with BOM", " or ".join(encodings)))
        read_as = ReadAs(source.how, source.origin.sheet, table.width, has_report)
        with tempfile.TemporaryFile(dir=copy.path.parent) as content:
            text = io.TextIOWrapper(content, "utf-8-sig", newline="", write_through=True)
            csv.writer(text, delimiter=source.delimiter).writerows(changes.restored(read_as))
            text.detach().seek(0)
            return replace_copy(copy, content, ".csv")
    except (csv.Error, UnusableInput):  # opening the file reports it
        return copy


def _as_utf8(copy: SourceCopy, original: Sheet, limits: ReadingLimits) -> tuple[SourceCopy, Sequence[str]]:
    """The copy in UTF-8, and the encodings that it may have been in; none if it was UTF-8 or nothing proves another."""
    saved = results_file(copy.path, copy.path.name, limits, Encoding(BYTES, BYTES))
    if saved is None or results_file(copy.path, copy.path.name, limits) is not None:
        return copy, ()
    table = ResultsTable.of(saved.source())
    encodings = proven_encodings(_Changes(table, original).evidence()) if table else ()
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


class _Changes:
    """What a program and a person changed in a results file. `found`: whether anything differs from the source.

    encodings: that the program saved it in, if that was not UTF-8. is_marked: it has the byte-order mark of Unicode, so
    that no character was lost.
    """

    def __init__(
        self, table: ResultsTable, original: Sheet, encodings: Sequence[str] = (), *, is_marked: bool = False
    ) -> None:
        self._table, self._original, self._encodings = table, original, encodings
        self._is_ascii = not (table.is_workbook or is_marked)
        self._names = self._column_names()
        self._places = _same_columns(self._names, [column.name for column in original.columns])
        self._rewritten: set[int] = set()
        self._dropped: set[tuple[int, str]] = set()  # by column: what the program drops, and what it keeps
        self._kept: set[tuple[int, str]] = set()
        self._proven: dict[int, frozenset[Format]] = {}
        self._left_as_text: dict[int, frozenset[Format]] = {}
        self._months: defaultdict[int, set[NamedMonth]] = defaultdict(set)
        self._loses_characters = bool(encodings)
        self.found = False
        for record, changed, _ in self._compared():
            self._is_ascii = self._is_ascii and all(map(str.isascii, table.cells(record)))
            for cell in changed:
                self.found = self.found or not cell.is_kept
                self._learn(cell)
        self._loses_characters = self._loses_characters and (self._is_ascii or bool(encodings))

    def evidence(self) -> Iterator[tuple[str, str]]:
        """The cells that a person had no reason to change, as they were and as they are."""
        yield from zip((column.name for column in self._original.columns), self._names, strict=False)
        for _, changed, _ in self._compared(also_kept=True):
            yield from ((cell.was, cell.now) for cell in changed if not cell.is_named)

    def restored(self, read_as: ReadAs) -> Iterator[list[str]]:
        """All rows of the file as they are to be read, with blank rows where it has some."""
        table, first, columns = self._table, self._table.header.first, self._table.header.columns
        width, added = table.width, dict(table.header.added)
        for name in (TYPED_COLUMN, *([LINKS_COLUMN] if table.has_links else ())):
            width += name not in added
            added.setdefault(name, width - 1)
        header = [""] * width
        header[first : first + len(columns)] = self._names
        for name, at in added.items():
            header[at] = name
        yield [*map(escape_formula, header), read_as.cell]
        last = 1
        for record, changed, marks in self._compared():
            yield from ([] for _ in range(record.number - last - 1))
            last, cells = record.number, list(record.cells[: table.width])
            if any(each.index is None for each in record.problems):
                cells = cells[:1]
            if len(cells) < table.width and not table.is_workbook:  # which cells are missing is unknown
                yield list(map(escape_formula, cells))
                continue
            cells += [""] * (width - len(cells))
            for cell in changed:
                cells[first + cell.index], marks[cell.index] = self._decided(cell, columns[cell.index].letter)
            cells[added[TYPED_COLUMN]] = " ".join(filter(None, marks.values()))
            if table.has_links:
                cells[added[LINKS_COLUMN]] = table.links(record)
            yield [*map(escape_formula, cells), "", *map(escape_formula, record.cells[table.width :])]

    def _column_names(self) -> list[str]:
        """The names of the columns, with the characters that the program lost."""
        names = [column.name for column in self._table.header.columns]
        before = [column.name for column in self._original.columns]
        if len(names) != len(before):
            return names
        return [was if lost_characters(was, now) else now for was, now in zip(before, names, strict=True)]

    def _compared(self, *, also_kept: bool = False) -> Iterator[tuple[Record, list[ChangedCell], dict[int, str]]]:
        """Each row, with its cells that differ from the source or show what a program keeps, and what TYPED_COLUMN
        lists for its cells."""
        table, first, width = self._table, self._table.header.first, len(self._table.header.columns)
        originals = _Originals(self._original, map(table.number, table.rows()))
        letters = {there: table.header.columns[here].letter for here, there in self._places}
        for record in table.rows():
            typed = [index - first for index in record.typed if first <= index < first + width]
            marks = {index: table.header.columns[index].letter for index in sorted(typed)}
            row, cells = originals.row(table.number(record)), table.cells(record)
            if row is None:
                listed = {each.partition("=")[0]: each for each in table.added(record, TYPED_COLUMN).split()}
                places = ((each.index, listed.get(each.letter)) for each in table.header.columns)
                yield record, [], marks | {index: mark for index, mark in places if mark and cells[index]}
                continue
            before = row.typed_marks(letters)
            marks |= {here: before[there] for here, there in self._places if there in before and cells[here]}
            yield record, list(self._changed(record, cells, marks, row, also_kept=also_kept)), marks

    def _changed(
        self, record: Record, cells: tuple[str, ...], marks: dict[int, str], row: Row, *, also_kept: bool
    ) -> Iterator[ChangedCell]:
        status, problem = (self._table.added(record, name) for name in IMPORT_COLUMNS[1:3])
        for here, there in self._places:
            was, now, mark = row.cells[there], cells[here], marks.get(here, "") if there in row.typed else ""
            if now and (also_kept or now != was or bool(mark) != (here in marks) or shows_format(was)):
                is_named = f'column "{self._original.columns[there].label}"' in problem
                may_be_fixed = is_named or (status.endswith("rejected") and 'column "' not in problem)
                refusals = [each for each in row.problems if each.code == PERHAPS_CODE and each.is_in((there,))]
                was_wrong = is_named and not any(each.hint.endswith(OR_LEAVE_IT) for each in refusals)
                known = is_named, may_be_fixed, bool(refusals), was_wrong
                yield ChangedCell(here, was, mark, now, here in marks, *known)

    def _learn(self, cell: ChangedCell) -> None:
        if cell.is_kept:
            self._kept.update((cell.index, name) for name in droppable(cell.was))
        elif cell.now != cell.was and cell.is_explained:
            self._rewritten.add(cell.index)
            self._dropped.update((cell.index, name) for name in droppable(cell.was) if name in cell.may_be_dropped)
            if month := named_month(cell.was, cell.now):
                self._months[cell.index].add(month)
        elif "?" in cell.now and lost_characters(cell.was, cell.now):
            self._loses_characters = True
        found = readings(cell.now)
        if cell.value_before is not None and set(found.values()) == {cell.value_before}:
            # A text that was left as it was does not prove a format, but another format is not proven beside it.
            formats = self._left_as_text if cell.is_kept and not cell.was_typed else self._proven
            formats[cell.index] = formats.get(cell.index, frozenset(found)) & frozenset(found)

    def _decided(self, cell: ChangedCell, letter: str) -> tuple[str, str]:
        """The text of a changed cell, and what TYPED_COLUMN lists for it."""
        as_before = cell.was, cell.mark
        # The value stays one: as a text, the mapping would read it.
        unproven = cell.was, f"{cell.mark} {perhaps_mark(letter, cell.now, was_wrong=cell.was_wrong)}".strip()
        if cell.was in (cell.now, unescape_formula(cell.now), escape_formula(cell.now)) or cell.is_cut:
            return as_before
        if self._has_lost_characters(cell):
            is_proven = self._loses_characters and not (cell.is_named or (cell.may_be_fixed and "?" not in cell.now))
            return as_before if is_proven else unproven
        if self._loses_characters and cell.now.count("?") > cell.was.count("?"):
            return unproven
        if cell.is_explained and not cell.is_fixed_perhaps:
            return as_before
        is_text = self._table.is_workbook and not cell.now_typed  # as it was typed
        if is_text and not cell.was_typed:
            return cell.now, ""
        if cell.is_told_form or (is_text and is_canonical(cell.now)):
            return cell.now, letter
        if month := unnamed_month(cell.now, self._months[cell.index]):
            return month, ""
        if cell.is_explained:
            return unproven
        is_dropped = self._is_perhaps_dropped(cell)
        if is_dropped and not DATE.fullmatch(cell.now):
            return unproven
        typed_by_program = cell.now_typed and not cell.was_typed
        in_question = cell.was_typed or cell.index in self._rewritten or cell.is_perhaps_explained or is_dropped
        if typed_by_program or not in_question:
            return cell.now, letter if cell.now_typed else ""
        proven = self._proven.get(cell.index, frozenset())
        proven &= self._left_as_text.get(cell.index, proven)
        values = {value for each, value in readings(cell.now).items() if each in proven}
        if len(values) == 1:
            value = values.pop()
            return as_before if value == cell.value_before else (value, letter)
        if cell.was_typed:
            is_word = cell.was not in ("TRUE", "FALSE") and not _NOT_A_WORD.search(cell.now)
            return cell.now, "" if is_word else letter
        if possible_values(cell.now) and not _PLAIN.fullmatch(cell.now):
            return unproven
        return cell.now, ""

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
