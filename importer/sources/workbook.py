"""Opens a workbook: chooses its sheet, reads it once, and keeps its records in a file without a name."""

from __future__ import annotations

import difflib
import errno
import pickle
import tempfile
import unicodedata
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import IO, Final, Protocol

from importer.models import CELLS_MERGED, SourceOptions
from importer.problems import Origin, Problem, UnusableInput, column_letter, file_problem, unusable_file
from importer.sources.header import place_of
from importer.sources.sheet import WINDOW, CellProblem, FileKind, Layout, ReadingLimits, Record, SheetName
from importer.sources.table import RecordSource
from importer.sources.table_warnings import hidden_columns_read, hidden_rows_read
from importer.sources.workbook_cells import Cell, CellReader, DamagedError, MergedRange, SheetFacts
from importer.sources.xls_book import XlsBook

_MAX_HEADS: Final = 8  # sheets that are looked at, beside the one that is read
_MOST_KEPT: Final = 4  # sheets: the page reads them again for each step
_SHOWN: Final = 10  # merged ranges in one warning
_BATCH: Final = 250  # records that are written at once
_TOLD_EACH: Final = 1_000  # records
_DAMAGED: Final = (
    "the workbook cannot be read: it is damaged, or has a form that importer does not know",
    "open it in a spreadsheet program and save it again",
)


class _Book(Protocol):
    sheets: tuple[SheetName, ...]

    def rows(self, title: str, facts: SheetFacts) -> Iterator[tuple[int, list[Cell]]]: ...


def workbook_records(
    path: Path, name: str, kind: FileKind, options: SourceOptions, limits: ReadingLimits
) -> RecordSource:
    """The records of a sheet of a workbook. `name` is the file name for messages.

    Raises UnusableInput: it is damaged or too large, or does not have the sheet.
    """
    status = path.stat()
    sheet = _read(path, (status.st_ino, status.st_ctime_ns, status.st_size), name, kind, options.sheet, limits)
    facts, read = sheet.facts, sheet.origin.sheet
    if facts.is_1904 and options.counts_from_1900:
        message = "this workbook counts days from 1904, but the mapping reads numbers as days since 1900 (dates: excel)"
        hint = "write dates: excel_1904 in the mapping"
        raise unusable_file("date-format-invalid", message, hint, name)
    is_named = options.sheet is not None
    visible = tuple(one for one, is_visible in sheet.sheets if is_visible)
    others = [] if is_named else [one for one in visible if one != read]
    return RecordSource(
        sheet.origin,
        f"{kind}, sheet {read!r}",
        sheet.records,
        lambda layout: (
            *_warnings(sheet, others, layout),
            *hidden_rows_read(frozenset(facts.hidden), sheet.records, options, layout),
            *hidden_columns_read(sorted(facts.hidden_columns), options, layout),
        ),
        even=False,
        hidden=frozenset(facts.hidden),
        sheets=visible,
        hidden_tables=() if is_named else tuple(_head(name, *each) for each in sheet.heads),
    )


def sheet_heads(
    path: Path, name: str, kind: FileKind, titles: Sequence[str], limits: ReadingLimits
) -> list[RecordSource]:
    """The first rows of sheets of a workbook, of eight at most; none if they cannot be read."""
    with _told_well(name):
        return [_head(name, *each) for each in _heads(_open(path, name, kind, limits), name, titles)]


def sheets_of(path: Path, name: str, limits: ReadingLimits) -> Iterator[tuple[str, Iterator[Record], SheetFacts]]:
    """The titles and records of the sheets of an .xlsx workbook, also of hidden ones, and what is known at their ends.

    Raises UnusableInput: it is damaged or too large.
    """
    with _told_well(name):
        book = _open(path, name, FileKind.XLSX, limits)
    for sheet in book.sheets:
        facts = SheetFacts()
        yield sheet.title, _records(book, name, sheet.title, facts), facts


def _records(book: _Book, name: str, title: str, facts: SheetFacts) -> Iterator[Record]:
    reader = CellReader(name, facts)
    with _told_well(name, title):
        yield from (reader.record(*row) for row in book.rows(title, facts))


def refuse_merged(facts: SheetFacts, name: str, title: str) -> None:
    """Raise UnusableInput if a sheet has merged cells, of which each may be meant for all of its rows."""
    if facts.merged:
        ranges = ", ".join(map(_address, facts.merged[:_SHOWN]))
        message = f"cells of the sheet {title!r} are merged ({ranges}): for which rows their value is, is not known"
        raise unusable_file(CELLS_MERGED, message, "unmerge them, and fill in each row", name)


def _open(path: Path, name: str, kind: FileKind, limits: ReadingLimits) -> _Book:
    if kind is FileKind.XLS:
        return XlsBook(path, name)
    from importer.sources.xlsx_book import XlsxBook  # openpyxl is slow to load, and a CSV does not need it

    return XlsxBook(path, name, limits)


@lru_cache(maxsize=_MOST_KEPT)
def _read(
    path: Path, state: tuple[int, ...], name: str, kind: FileKind, wanted: str | None, limits: ReadingLimits
) -> _KeptSheet:
    """The sheet that is wanted of a workbook. state: what differs once the file is another one."""
    with _told_well(name):
        book = _open(path, name, kind, limits)
        title = _chosen(book, wanted, name)
    with _told_well(name, title):
        return _KeptSheet(book, name, title, limits.on_rows)


@contextmanager
def _told_well(name: str, title: str = "") -> Iterator[None]:
    """Whatever a library raises for a damaged workbook is one problem: it may raise anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts that openpyxl skips; none has cells
            yield
    except (UnusableInput, MemoryError, ImportError, NameError):  # the last ones: a bug of ours
        raise
    except DamagedError as error:
        message = f"the workbook is damaged and cannot be read (sheet {title!r}: {error})"
        raise unusable_file("workbook-damaged", message, _DAMAGED[1], name) from None
    except Exception as error:
        # Of a damaged workbook, openpyxl raises one without a number, and zipfile looks for bytes before the first.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise unusable_file("workbook-damaged", *_DAMAGED, name) from None


def _heads(book: _Book, name: str, titles: Sequence[str]) -> Iterator[tuple[str, list[Record]]]:
    """The titles and the first rows of some sheets, as far as they can be read."""
    for title in titles[:_MAX_HEADS]:
        with suppress(Exception):  # no reason not to read another one
            reader, rows = CellReader(name, SheetFacts()), book.rows(title, SheetFacts())
            yield title, [reader.record(*row) for row in islice(rows, WINDOW)]


def _head(name: str, title: str, records: Sequence[Record]) -> RecordSource:
    return RecordSource(Origin(name, title), "", lambda: (one for one in records), even=False)


# --- which sheet is read ------------------------------------------------------------------------


def _chosen(book: _Book, wanted: str | None, name: str) -> str:
    """The title of the sheet that is named, hidden or not, or has this number among the visible ones; else of the first
    visible one with cells.

    Raises UnusableInput: there is none.
    """
    sheets = book.sheets
    if not sheets:
        message = "the workbook has no worksheet; sheets of charts or macros have no rows"
        raise unusable_file("file-empty", message, "copy the rows to a worksheet, or export them as CSV", name)
    visible = [sheet.title for sheet in sheets if sheet.visible]
    if wanted is None:
        if found := next(filter(partial(_has_cells, book), visible), None):
            return found
        is_hidden = len(visible) < len(sheets)
        hint = "to read a hidden sheet, set sheet: under source: in the mapping; " if is_hidden else ""
        raise unusable_file("file-empty", "all visible sheets are empty", f"{hint}{_list_of(sheets)}", name)
    for normalized in (str, _folded):
        for sheet in sheets:
            if normalized(sheet.title) == normalized(wanted):
                return sheet.title
    if wanted.isdecimal() and 1 <= int(wanted) <= len(visible):
        return visible[int(wanted) - 1]
    titles = {_folded(sheet.title): sheet.title for sheet in sheets}
    near = difflib.get_close_matches(_folded(wanted), list(titles), n=1)
    hint = f"did you mean {titles[near[0]]!r}? " if near else ""
    raise unusable_file("sheet-not-found", f"the sheet {wanted!r} does not exist", f"{hint}{_list_of(sheets)}", name)


def _has_cells(book: _Book, title: str) -> bool:
    return any(cells for _, cells in book.rows(title, SheetFacts()))


def _list_of(sheets: Sequence[SheetName]) -> str:
    titles = [repr(sheet.title) + ("" if sheet.visible else " (hidden)") for sheet in sheets]
    return f"the sheets are {', '.join(titles)}"


def _folded(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", title).replace("İ", "i").replace("ı", "i").casefold().split())


# --- the records of a sheet, in a file --------------------------------------------------------------


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # of a disk that is full, which was told when it was written
        file.close()


class _KeptSheet:
    """A sheet that was read: its facts, and its records in batches in a file without a name."""

    def __init__(self, book: _Book, name: str, title: str, on_rows: Callable[[int], None] | None) -> None:
        self.origin, self.facts = Origin(name, title), SheetFacts()
        self._file, self._lock = tempfile.TemporaryFile(), Lock()  # noqa: SIM115 - closed with this
        weakref.finalize(self, _close, self._file)
        reader, rows, count = CellReader(name, self.facts), book.rows(title, self.facts), 0
        while batch := [reader.record(*row) for row in islice(rows, _BATCH)]:
            pickle.dump(batch, self._file)
            count += len(batch)
            if on_rows is not None and count % _TOLD_EACH == 0:
                on_rows(count)
        self._file.flush()
        self._end = self._file.tell()
        self.sheets = [(one.title, one.visible) for one in book.sheets]
        hidden = [one for one, is_visible in self.sheets if not is_visible and one != title]
        self.heads = list(_heads(book, name, hidden))

    def records(self) -> Generator[Record, None, None]:
        """Every row that has cells; may be called again. Cells under merged ones, which nobody sees, are blank; those
        below the first one have a problem, as its value may be meant for them too.
        """
        tops = set[MergedRange]()
        for record, hidden, merged in self._all():
            shown = _without(record, hidden) if hidden else record
            begun = [one for one in merged if one.first_row == record.number]
            tops |= {one for one in begun if any(record.cells[one.first_index : one.first_index + 1])}
            if any(shown.cells) and (below := [one for one in merged if one in tops and one.first_row < record.number]):
                shown = replace(shown, problems=shown.problems + tuple(map(_merged_with, below)))
            if links := self.facts.links.get(record.number):
                shown = replace(shown, links=tuple(one for one in links.items() if one[0] not in hidden))
            yield shown

    def _all(self) -> Iterator[tuple[Record, frozenset[int], Sequence[MergedRange]]]:
        """Each record as it was read, the indexes of its cells under merged ones, and the ranges that it is in."""
        waiting, reached = deque(sorted(self.facts.merged)), list[MergedRange]()
        at = 0
        while at < self._end:
            with self._lock:  # requests of the page read at the same time
                self._file.seek(at)
                batch, at = pickle.load(self._file), self._file.tell()
            for record in batch:
                hidden: frozenset[int] = frozenset()
                while waiting and waiting[0].first_row <= record.number:
                    reached.append(waiting.popleft())
                if reached:
                    reached = [one for one in reached if one.last_row >= record.number]
                    hidden = frozenset(_covered(record, reached))
                yield record, hidden, reached


def _merged_with(merged: MergedRange) -> CellProblem:
    first = f"{column_letter(merged.first_index)}{merged.first_row}"
    message = f"the cell is merged with {first}: its value may be meant for this row too"
    hint = f"unmerge the cells ({_address(merged)}), and fill in each row"
    return CellProblem(merged.first_index, Problem(CELLS_MERGED, message, hint))


def _covered(record: Record, merged: Iterable[MergedRange]) -> Iterator[int]:
    """The indexes of the filled cells that merged ranges hide."""
    for each in merged:
        for index in range(each.first_index, min(each.last_index + 1, len(record.cells))):
            if record.cells[index] and (record.number, index) != (each.first_row, each.first_index):
                yield index


def _without(record: Record, hidden: frozenset[int]) -> Record:
    """A record without the cells of some indexes."""
    return replace(
        record,
        cells=tuple("" if index in hidden else text for index, text in enumerate(record.cells)),
        typed=record.typed - hidden,
        problems=tuple(one for one in record.problems if one.index not in hidden),
    )


# --- what a person should know ----------------------------------------------------------------------


def _warnings(sheet: _KeptSheet, others: Sequence[str], layout: Layout) -> Iterator[Problem]:
    origin = sheet.origin
    if others:
        message = f"only the sheet {origin.sheet!r} is read, not {', '.join(map(repr, others))}"
        hint = "to read another sheet, set sheet: under source: in the mapping"
        yield file_problem("sheets-not-read", message, hint, origin.file)
    yield from _merged(sheet, layout)


def _merged(sheet: _KeptSheet, layout: Layout) -> Iterator[Problem]:
    shown = [
        merged
        for merged in sheet.facts.merged
        if merged.last_row > layout.header_row
        and merged.first_row not in layout.left_out
        and merged.first_index < len(layout.columns)
    ]
    if shown:
        ranges = ", ".join(map(_address, shown[:_SHOWN])) + (", ..." if len(shown) > _SHOWN else "")
        some = f"{len(shown):,} ranges of cells are" if len(shown) > 1 else "a range of cells is"
        message = f"{some} merged ({ranges}); only the first cell of each has the value, the others are blank"
        hint = "unmerge the cells and fill them in, unless blank is correct"
        yield Problem(CELLS_MERGED, message, hint, place_of(sheet.origin))


def _address(merged: MergedRange) -> str:
    first = f"{column_letter(merged.first_index)}{merged.first_row}"
    return f"{first}:{column_letter(merged.last_index)}{merged.last_row}"
