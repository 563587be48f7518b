"""The step File: how the file is read, shown on its first rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response

from importer.app.inspect_file import FirstRows, first_rows
from importer.app.orders import Listener, RunControl, ignore, parse_row_numbers, reading_file
from importer.models import SourceOptions
from importer.problems import LikelyEncoding, UnusableInput, UsageError
from importer.web.forms import Form, SentForm
from importer.web.pages import FieldError, ImportPage, OfImport, ShownProblem, shown
from importer.web.running import SOON

router = APIRouter()

_ROWS: Final = 20
_KEPT: Final = 20  # files whose first rows are kept in memory
_ENCODINGS: Final = ("utf-8", "cp1252", "cp1254", "iso-8859-9", "cp1250", "cp1251", "cp1253", "utf-16", "mac-roman")
_NUMBERS: Final = {"header_row": "row number", "header_rows": "number of rows"}


@router.get("/imports/{id}/file")
def show(page: OfImport) -> Response:
    read, problems, likely, sheets = _read(page)
    source = page.draft.source
    skipped = ",".join(map(str, source.skip_rows))
    declared = {name: getattr(source, name) for name in ("sheet", *_NUMBERS, "encoding", "delimiter")}
    flags = {f"--{name.replace('_', '-')}": str(value) for name, value in declared.items() if value is not None}
    flags |= {"--skip-rows": skipped} if skipped else {}
    return page.show(
        "file",
        problems=problems,
        command=page.command("inspect", Path(page.file_shown_as), flags=flags),
        read=read,
        is_running=read is None and not problems and not likely,
        source=source,
        skipped=skipped,
        encodings=_ENCODINGS,
        likely=likely,
        sheets=read.sheets if read else sheets,
        is_text=Path(page.draft.file).suffix.lower() in (".csv", ".tsv", ".tab", ".txt"),
    )


def _read(
    page: ImportPage,
) -> tuple[FirstRows | None, tuple[ShownProblem, ...], tuple[LikelyEncoding, ...], tuple[str, ...]]:
    """The first rows, or why there are none, with the encodings or the sheets to choose from if that is why."""
    try:
        return _first_rows(page), (), (), ()
    except UnusableInput as error:
        encodings = tuple(one for problem in error.problems for one in problem.encodings)
        sheets = tuple(one for problem in error.problems for one in problem.sheets)
        return None, () if encodings else shown(error), encodings, sheets


def _first_rows(page: ImportPage) -> FirstRows | None:
    """The first rows, as they were read before if nothing changed since; None while they are read: a large workbook
    takes many seconds.
    """
    file, source, kept = Path(page.draft.file), page.draft.source, page.web.first_rows
    found, shown_as = file.stat() if file.exists() else None, page.file_shown_as
    key = (file, source, found and (found.st_mtime_ns, found.st_ctime_ns, found.st_size))

    def read(listen: Listener, _: RunControl) -> None:
        if found is not None:
            listen(reading_file(file.name, found.st_size))
        try:
            kept[key] = first_rows(file, source, _ROWS, shown_as)
        except UnusableInput as error:  # it would be read again and again
            kept[key] = error
        while len(kept) > _KEPT:
            kept.popitem(last=False)

    if key not in kept:
        task = page.start("read", read)
        if task.kind != "read":  # a run of this import: the page need not wait for its end
            read(ignore, task.control)
        task.over.wait(SOON)
        if task.kind == "read" and task.error is not None:
            raise task.error
    if isinstance(first := kept.get(key), UnusableInput):
        raise first
    return first


@router.post("/imports/{id}/file")
def read_otherwise(page: OfImport, form: SentForm) -> Response:
    """Read it in another way; the table follows."""
    source = _options(page.draft.source, form)
    if source == page.draft.source:
        return page.go("file")
    page.change(source=source, is_read=False)
    return page.go("file", page.forget_mapping())


@router.post("/imports/{id}/file/use")
def use(page: OfImport, form: SentForm) -> Response:
    """The file is read as it should be."""
    if _first_rows(page) is None:
        return page.go("file")
    page.change(is_read=True)
    return page.go("target")


def _options(source: SourceOptions, form: Form) -> SourceOptions:
    header_row, header_rows = (_number(name, form) for name in _NUMBERS)
    if (header_rows or 1) > 1 and header_row is None:
        raise FieldError("header_row", "enter the first row of the header, as it has more than one")
    skipped = form.text("skip_rows")
    try:
        skip_rows = parse_row_numbers(skipped, "the rows to skip:") if skipped else ()
    except UsageError as error:
        raise FieldError("skip_rows", str(error)) from None
    return replace(
        source,
        sheet=form.text("sheet") or None,
        encoding=form.text("encoding") or None,
        delimiter=form.text("delimiter") or None,
        header_row=header_row,
        header_rows=header_rows,
        skip_rows=skip_rows,
    )


def _number(name: str, form: Form) -> int | None:
    text = form.text(name)
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise FieldError(name, f"{text!r} is not a {_NUMBERS[name]}")
    return int(text)
