"""The process that reads a workbook: limits itself, chooses one sheet and reads it, writes messages to stdout.

A reader may crash, hang or fill the memory over a hostile file; then this process ends, and its parent says so.
Started by `workbook`, the request on stdin.
"""

from __future__ import annotations

import difflib
import gc
import os
import signal
import sys
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Protocol

from importer.extract.cell_flags import DamagedError
from importer.extract.cell_text import Value
from importer.extract.sheet import FileKind, SheetName
from importer.extract.sheet_content import Batches, Refusal, Request, SheetContent, SheetFacts, frame
from importer.extract.table import added_columns
from importer.extract.workbook_readers import CalamineBook, OpenpyxlBook
from importer.problems import FilePlace, Problem, UnusableInput


class _Book(Protocol):
    @property
    def sheets(self) -> tuple[SheetName, ...]: ...

    def content(self, sheet: SheetName) -> SheetContent: ...


def main() -> None:
    """Read the request from stdin, and answer it on stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    warnings.simplefilter("ignore")  # readers warn of parts that they leave out; none holds cells
    gc.disable()  # nothing here makes cycles, and collecting among millions of cells takes its time
    request = Request.from_bytes(sys.stdin.buffer.read())
    _limit(request)
    out = sys.stdout.buffer
    try:
        _answer(request, out)
    except UnusableInput as error:
        out.write(frame(Refusal(error.problems)))
    out.flush()


def _limit(request: Request) -> None:
    if sys.platform == "win32":
        return  # there the parent's clock is the only limit
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (request.memory, request.memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # nothing is unpacked to disk
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = int(request.seconds * 2) + 10  # two threads work; the parent's clock comes first
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _answer(request: Request, out: IO[bytes]) -> None:
    book = _Loaded(_open(request), request.name)
    sheet = _choose(book, request)
    content = book.content(sheet)
    others = [other.title for other in book.sheets if other.visible and other != sheet] if not request.sheet else []
    flags = content.flags
    batches = Batches(content)
    for batch in batches:
        out.write(frame(batch))
    hidden = sorted(flags.hidden)
    out.write(frame(SheetFacts(sheet.title, others, hidden, flags.merged, flags.unchecked, batches.lost_digits)))
    out.flush()
    os._exit(0)  # the system frees the memory of millions of cells at once, the reader one after the other


class _Loaded:
    """A book that keeps what was loaded of the sheet last asked for: looking into it must not load it twice."""

    def __init__(self, book: _Book, file: str) -> None:
        self.sheets = book.sheets
        self._book = book
        self._file = file
        self._title: str | None = None
        self._content: SheetContent | None = None

    def content(self, sheet: SheetName) -> SheetContent:
        if self._content is None or self._title != sheet.title:
            try:
                self._content, self._title = self._book.content(sheet), sheet.title
            except DamagedError as error:
                raise DamagedError(f"sheet {sheet.title!r}: {error}") from None
            self._content.flags.stray.check(self._file)
        return self._content

    def first(self, sheet: SheetName, wanted: Callable[[Sequence[Value]], bool]) -> Sequence[Value] | None:
        """The first row that is wanted; `content` gives it and those before it again."""
        content = self.content(sheet)
        read: list[Sequence[Value]] = []
        found = None
        for row in content.rows:
            read.append(row)
            if wanted(row):
                found = row
                break
        self._content = replace(content, rows=chain(read, content.rows))
        return found


def _open(request: Request) -> _Book:
    path, kind = Path(request.path), FileKind(request.kind)
    if kind is not FileKind.XLS:
        _check_size(request)
    return OpenpyxlBook(path) if request.engine == "openpyxl" else CalamineBook(path, kind)


def _check_size(request: Request) -> None:
    with zipfile.ZipFile(request.path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > request.unpacked:
        megabytes, allowed = -(-size >> 20), request.unpacked >> 20
        raise UnusableInput(
            Problem(
                "workbook-too-large",
                f"the workbook unpacks to {megabytes:,} MB; the limit is {allowed:,} MB",
                "save the sheet as CSV, which has no such limit; or, if you trust the workbook, raise "
                "IMPORTER_WORKBOOK_UNPACKED_MEGABYTES",
                FilePlace(request.name),
            )
        )


# --- which sheet is read ------------------------------------------------------------------------


def _choose(book: _Loaded, request: Request) -> SheetName:
    if request.sheet is None:
        return _first_sheet(request.name, book.sheets, lambda sheet: _holds_anything(book, sheet))
    try:
        return _named_sheet(request.name, book.sheets, request.sheet)
    except UnusableInput:
        # A sheet of the report that somebody copied into a workbook of its own bears another name.
        results = [sheet for sheet in book.sheets if _is_results(book, sheet)]
        if len(results) != 1:
            raise
        return results[0]


def _holds_anything(book: _Loaded, sheet: SheetName) -> bool:
    return book.content(sheet).flags.last_row > 0 or book.first(sheet, _is_filled) is not None


def _is_filled(row: Sequence[Value]) -> bool:
    return any(cell != "" for cell in row)


def _is_results(book: _Loaded, sheet: SheetName) -> bool:
    header = book.first(sheet, lambda row: True) or ()
    return added_columns([cell if isinstance(cell, str) else "" for cell in header]) > 0


def _named_sheet(name: str, sheets: Sequence[SheetName], wanted: str) -> SheetName:
    """The sheet of that title, upper and lower case alike, or of that number among the visible ones.

    A hidden sheet is read when it is named. `name` is the file's.

    Raises:
        UnusableInput: there is none.
    """
    for form in (str, _folded):
        for sheet in sheets:
            if form(sheet.title) == form(wanted):
                return sheet
    visible = [sheet for sheet in sheets if sheet.visible]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(visible):
        return visible[int(wanted) - 1]
    titles = {_folded(sheet.title): sheet.title for sheet in sheets}
    near = difflib.get_close_matches(_folded(wanted), list(titles), n=1)
    hint = f"did you mean {titles[near[0]]!r}? " if near else ""
    raise UnusableInput(
        Problem("sheet-not-found", f"the sheet {wanted!r} does not exist", f"{hint}{_list_of(sheets)}", FilePlace(name))
    )


def _first_sheet(name: str, sheets: Sequence[SheetName], holds_rows: Callable[[SheetName], bool]) -> SheetName:
    """The first visible sheet that holds anything.

    Raises:
        UnusableInput: no visible sheet does.
    """
    for sheet in sheets:
        if sheet.visible and holds_rows(sheet):
            return sheet
    hidden = any(not sheet.visible for sheet in sheets)
    hint = "to read a hidden sheet, set sheet: under source: in the mapping; " if hidden else ""
    raise UnusableInput(
        Problem("sheets-empty", "all visible sheets are empty", f"{hint}{_list_of(sheets)}", FilePlace(name))
    )


def _list_of(sheets: Sequence[SheetName]) -> str:
    titles = [repr(sheet.title) + ("" if sheet.visible else " (hidden)") for sheet in sheets]
    return f"the sheets are {', '.join(titles)}" if titles else "the workbook has no worksheet"


def _folded(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", title).replace("İ", "i").replace("ı", "i").casefold().split())
