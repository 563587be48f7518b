"""The process that reads a workbook: sets its own limits, chooses one sheet, reads it, and writes messages to stdout.

A reader may crash, hang or run out of memory on a hostile file; then this process ends, and its parent reports why.
`workbook` starts it and sends the request on stdin.
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
from contextlib import suppress
from dataclasses import astuple, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Protocol

from importer.extract.cell_flags import DamagedError
from importer.extract.cell_text import Value
from importer.extract.sheet import WINDOW, FileKind, SheetName
from importer.extract.sheet_content import (
    Batch,
    Batches,
    Refusal,
    Request,
    SheetContent,
    SheetFacts,
    decoded,
    frame,
    read_frame,
)
from importer.extract.workbook_readers import CalamineBook, OpenpyxlBook
from importer.problems import UnusableInput, unusable_file


class _Book(Protocol):
    @property
    def sheets(self) -> tuple[SheetName, ...]: ...

    def values(self, title: str) -> SheetContent: ...
    def content(self, sheet: SheetName) -> SheetContent: ...


def main() -> None:
    """Read the request from stdin and write the response to stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    warnings.simplefilter("ignore")  # readers warn about parts that they skip; none contains cells
    gc.disable()  # nothing here creates cycles, and collection is slow with millions of cells
    request = decoded(read_frame(sys.stdin.buffer) or b"")
    assert isinstance(request, Request)
    _limit(request)
    out = sys.stdout.buffer
    try:
        _answer(request, out)
    except UnusableInput as error:
        out.write(frame(Refusal([(each.code, each.message, each.hint) for each in error.problems])))
    out.flush()


def _limit(request: Request) -> None:
    if sys.platform == "win32":
        return  # the parent's timeout is the only limit there
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (request.memory, request.memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # no reader may unpack to disk
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = int(request.seconds * 2) + 10  # for two threads; the parent's timeout comes first
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _answer(request: Request, out: IO[bytes]) -> None:
    if request.heads:
        opened = _open(request)
        out.writelines(frame(_head(opened, title)) for title in request.heads)
        return
    book = _CachedBook(_open(request), request.name)
    sheets = book.sheets
    sheet = _choose(book, sheets, request)
    content = book.content(sheet)
    others = [other.title for other in sheets if other.visible and other != sheet] if not request.sheet else []
    flags = content.flags
    batches = Batches(content)
    for batch in batches:
        out.write(frame(batch))
    known = (
        sorted(flags.hidden),
        sorted(flags.hidden_columns),
        [each.title for each in sheets if not each.visible and each != sheet],
        list(map(astuple, flags.merged)),
        flags.unchecked,
        batches.lost_digits,
        batches.formats,
        batches.covered,
        dict(flags.uncalculated),
        dict(flags.in_utc),
    )
    visible = [each.title for each in sheets if each.visible]
    out.write(frame(SheetFacts(sheet.title, others, visible, *known)))
    out.flush()
    os._exit(0)  # the system frees the memory of millions of cells at once, the reader one by one


def _head(book: _Book, title: str) -> Batch:
    """The first rows of a sheet; none if it cannot be read, which is no reason not to read another one."""
    with suppress(Exception):
        content = book.values(title)
        for batch in Batches(replace(content, rows=islice(content.rows, WINDOW))):
            return batch
    return Batch(1, 0)


class _CachedBook:
    """A book that keeps the content of the last sheet: a sheet that is checked and then read is loaded once."""

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

    def first(self, sheet: SheetName, matches: Callable[[Sequence[Value]], bool]) -> Sequence[Value] | None:
        """The first row that matches. `content` still has it and the rows before it."""
        content = self.content(sheet)
        read: list[Sequence[Value]] = []
        found = None
        for row in content.rows:
            read.append(row)
            if matches(row):
                found = row
                break
        self._content = replace(content, rows=chain(read, content.rows))
        return found


def _open(request: Request) -> _Book:
    path, kind = Path(request.path), FileKind(request.kind)
    if kind is not FileKind.XLS:
        _check_size(request)
    if request.engine == "openpyxl":
        return OpenpyxlBook(path)
    return CalamineBook(path, kind)


def _check_size(request: Request) -> None:
    with zipfile.ZipFile(request.path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > request.unpacked:
        megabytes, allowed = -(-size >> 20), request.unpacked >> 20
        message = f"the workbook unpacks to {megabytes:,} MB; the limit is {allowed:,} MB"
        hint = (
            "save the sheet as CSV, which has no such limit; or, if you trust the workbook, raise "
            "IMPORTER_WORKBOOK_UNPACKED_MEGABYTES"
        )
        raise unusable_file("limit-exceeded", message, hint, request.name)


# --- which sheet is read ------------------------------------------------------------------------


def _choose(book: _CachedBook, sheets: Sequence[SheetName], request: Request) -> SheetName:
    if not sheets:
        message = "the workbook has no worksheet; sheets of charts or macros have no rows"
        raise unusable_file(
            "sheets-empty", message, "copy the rows to a worksheet, or export them as CSV", request.name
        )
    if request.sheet is None:
        return _first_sheet(request.name, sheets, lambda sheet: _has_cells(book, sheet))
    return _named_sheet(request.name, sheets, request.sheet)


def _has_cells(book: _CachedBook, sheet: SheetName) -> bool:
    return book.content(sheet).flags.last_row > 0 or book.first(sheet, _is_filled) is not None


def _is_filled(row: Sequence[Value]) -> bool:
    return any(cell != "" for cell in row)


def _named_sheet(name: str, sheets: Sequence[SheetName], wanted: str) -> SheetName:
    """The sheet with that title in any case, hidden or not, or with that number among the visible sheets.

    `name` is the file name for messages.

    Raises:
        UnusableInput: no sheet has the title or number.
    """
    for normalized in (str, _folded):
        for sheet in sheets:
            if normalized(sheet.title) == normalized(wanted):
                return sheet
    visible = [sheet for sheet in sheets if sheet.visible]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(visible):
        return visible[int(wanted) - 1]
    titles = {_folded(sheet.title): sheet.title for sheet in sheets}
    near = difflib.get_close_matches(_folded(wanted), list(titles), n=1)
    hint = f"did you mean {titles[near[0]]!r}? " if near else ""
    raise unusable_file("sheet-not-found", f"the sheet {wanted!r} does not exist", f"{hint}{_list_of(sheets)}", name)


def _first_sheet(name: str, sheets: Sequence[SheetName], has_cells: Callable[[SheetName], bool]) -> SheetName:
    """The first visible sheet that is not empty.

    Raises:
        UnusableInput: all visible sheets are empty.
    """
    for sheet in sheets:
        if sheet.visible and has_cells(sheet):
            return sheet
    hidden = any(not sheet.visible for sheet in sheets)
    hint = "to read a hidden sheet, set sheet: under source: in the mapping; " if hidden else ""
    raise unusable_file("sheets-empty", "all visible sheets are empty", f"{hint}{_list_of(sheets)}", name)


def _list_of(sheets: Sequence[SheetName]) -> str:
    titles = [repr(sheet.title) + ("" if sheet.visible else " (hidden)") for sheet in sheets]
    return f"the sheets are {', '.join(titles)}"


def _folded(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", title).replace("İ", "i").replace("ı", "i").casefold().split())
