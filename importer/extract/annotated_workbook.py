"""A copy of a source as a workbook in which the cells with problems are colored and have a note.

A first sheet lists the causes; the reader skips it. The other sheets keep their rows, so that the fixed copy is
imported like the source.
"""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

from openpyxl import Workbook, load_workbook
from openpyxl.comments import Comment
from openpyxl.formatting.formatting import ConditionalFormattingList
from openpyxl.formatting.rule import FormulaRule
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.worksheet import Worksheet

from importer.atomic_files import open_private
from importer.extract.cell_flags import LAST_ROW
from importer.extract.cell_text import plain_number
from importer.extract.opening import open_records
from importer.extract.sheet import COPY_OF, FIRST_SHEET, NOT_READ, ReadingLimits, Record, Sheet
from importer.models import SourceOptions
from importer.problems import CellPlace, Problem, UnusableInput, unusable_file
from importer.text.results_cells import MAX_CELL_LENGTH, truncated

MOST_NOTES: Final = 5_000
_LARGEST = 100 << 20  # bytes of unpacked sheets, or of a CSV: openpyxl needs several times as much memory
_COLOR, _FONT = "F8D3C5", "Calibri"
_MARK = '"importer"<>""'  # always true: the formula of our coloring, by which it is found again
_NOTE = "[importer] "  # before our part of a note
_LINKS = 5
_CANNOT_KEEP = {  # parts of the package, in words
    "xl/charts/": "charts",
    "xl/media/": "pictures",
    "xl/drawings/drawing": "shapes and drawings",
    "xl/pivotTables/": "pivot tables",
    "xl/slicers/": "slicers",
    "xl/threadedComments/": "threads of comments (their texts are kept as notes)",
    "xl/ctrlProps/": "form controls",
    "xl/embeddings/": "embedded files",
}


@dataclass(frozen=True, slots=True)
class Annotated:
    """What was written: how many cells are colored, and what of the source the copy does not have."""

    cells: int
    not_kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Annotation:
    """The texts of the first sheet: what the file is (and its SHA-256), how to import it, and its warnings."""

    sha256: str
    title: str
    command: str
    warnings: Sequence[str]


def refuse_annotation(source: Path, out: Path) -> None:
    """Check, before the source is read, that it can be annotated.

    Raises:
        UnusableInput: `out` is not an .xlsx file or is the source, or the source is too large or has macros.
    """
    suffix = source.suffix.lower()
    if out.suffix.lower() != ".xlsx":
        raise _unusable(out, f"the annotated copy is an .xlsx workbook, not {out.suffix or 'a file without extension'}")
    if source.exists() and out.exists() and source.samefile(out):
        raise _unusable(out, "this is the file itself, which is never overwritten", "choose another name")
    if suffix == ".xlsm":
        hint = "save it as .xlsx in a spreadsheet program, and check that file"
        raise _unusable(source, "a workbook with macros cannot be annotated: the copy would lose them", hint)
    if suffix in (".json", ".jsonl", ".ndjson"):
        raise _unusable(
            source,
            "only a spreadsheet or a CSV can be annotated",
            "check it without --annotate: report.xlsx has the same notes",
        )
    size = source.stat().st_size if source.is_file() else 0
    if suffix == ".xlsx" and zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            size = sum(each.file_size for each in archive.infolist() if each.filename.startswith("xl/worksheets/"))
    if size > _LARGEST:
        message = f"it has {size >> 20:,} MB of cells; a file of up to {_LARGEST >> 20} MB can be annotated"
        raise _unusable(source, message, "use report.xlsx of the check, or check some rows: --rows 1-20000")


def write_annotated(
    source: Path, sheet: Sheet, problems: Iterable[Problem], texts: Annotation, options: SourceOptions, out: Path
) -> Annotated:
    """Write the annotated copy of a source (its private copy). `problems`: those of its rows, in their order.

    Raises:
        UnusableInput: the workbook cannot be read or written.
    """
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            is_workbook = source.suffix.lower() == ".xlsx"
            book = load_workbook(source, rich_text=True) if is_workbook else _new_workbook(source, sheet, options)
            found = [(problem, _cell_of(problem, book, sheet)) for problem in problems]
            cells = _annotate(book, found)
            _write_causes(book, found, texts)
            draft = out.with_name(f".{out.name}.tmp")
            with os.fdopen(open_private(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC), "w+b") as file:
                book.save(file)
            not_kept = tuple(_not_kept(source, draft, [str(each.message) for each in noted])) if is_workbook else ()
            draft.replace(out)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise _unusable(out, f"the annotated copy cannot be written: {error}", "use report.xlsx of the check") from None
    return Annotated(cells, not_kept)


def _unusable(path: Path, message: str, hint: str = "give a name that ends in .xlsx") -> UnusableInput:
    return unusable_file("annotation-failed", message, hint, path)


# --- a source that is not an .xlsx ------------------------------------------------------------------


def _new_workbook(source: Path, sheet: Sheet, options: SourceOptions) -> Workbook:
    """The same rows in the same places. Texts are text cells; only what a workbook stored as a value is a value."""
    book = Workbook()
    page = book.worksheets[0]
    page.title = sheet.origin.sheet or "Candidates"
    for record in open_records(source, source.name, options, ReadingLimits()).records():
        if record.number > LAST_ROW:
            raise ValueError(f"a workbook has at most {LAST_ROW:,} rows")
        _write_record(page, record)
    for index, column in enumerate(sheet.columns, start=sheet.origin.first + 1):
        page.column_dimensions[get_column_letter(index)].width = min(max(len(column.name) + 3, 12), 40)
        page.cell(sheet.header_row, index).font = Font(bold=True)
    page.freeze_panes = f"A{sheet.header_row + 1}"
    return book


def _write_record(page: Worksheet, record: Record) -> None:
    cell: Any
    for index, text in enumerate(record.cells):
        if text:
            cell = page.cell(record.number, index + 1)
            cell.value = _value(text) if index in record.typed else truncated(text)
            if shown := dict(record.currencies).get(index):
                cell.number_format = f"#,##0.00 [${shown}]"
            if isinstance(cell.value, str):
                cell.data_type, cell.number_format, cell.quotePrefix = "s", "@", True


def _value(text: str) -> str | float | bool | date:
    """The value that is read as this text again; the text itself if there is none."""
    if text in ("TRUE", "FALSE"):
        return text == "TRUE"
    if re.fullmatch(r"-?\d+(\.\d+)?", text) and plain_number(float(text)) == text:
        return float(text)
    if text >= "1900" and re.fullmatch(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?", text):  # XLSX has no earlier dates
        return datetime.fromisoformat(text) if " " in text else date.fromisoformat(text)
    return text


# --- the cells --------------------------------------------------------------------------------------


_Cell = tuple[str, int, int]
"""A cell: the title of its sheet, its row and its column, both from 1."""
_Found = tuple[Problem, _Cell | None]
"""A problem, and its cell; None if it is in another file."""


def _annotate(book: Workbook, found: Sequence[_Found]) -> int:
    """Color the cells and add the notes; return how many cells are colored. Our earlier marks are removed."""
    for page in book.worksheets:
        _remove_marks(page)
    by_cell: dict[_Cell, list[Problem]] = {}
    for problem, place in found:
        if place is not None:
            by_cell.setdefault(place, []).append(problem)
    for (title, row, column), here in islice(by_cell.items(), MOST_NOTES):
        texts = (f"{one.message}\n-> {one.hint}" if one.hint else one.message for one in here)
        _add_note(book[title].cell(row, column), "\n".join(texts))
    places = sorted((title, column, row) for title, row, column in by_cell)
    for (title, column), same in groupby(places, lambda place: place[:2]):
        for ranges in _ranges(get_column_letter(column), [row for *_, row in same]):
            fill = PatternFill(bgColor=_COLOR, fill_type="solid")
            book[title].conditional_formatting.add(ranges, FormulaRule(formula=[_MARK], fill=fill))  # type: ignore[no-untyped-call]
    return len(by_cell)


def _cell_of(problem: Problem, book: Workbook, sheet: Sheet) -> _Cell | None:
    """The cell of a problem; of a row its first one."""
    place = problem.place
    if not isinstance(place, CellPlace) or place.origin.file != sheet.origin.file:
        return None
    title = place.origin.sheet or book.worksheets[0].title
    index = place.column.index if place.column else 0
    return (title, place.row, index + place.origin.first + 1) if title in book.sheetnames else None


def _add_note(cell: Any, text: str) -> None:
    before = f"{cell.comment.text}\n\n" if cell.comment else ""
    author = cell.comment.author if cell.comment else "importer"
    note = Comment(f"{before}{_NOTE}{text}"[:MAX_CELL_LENGTH], author)
    note.width, note.height = 340, 40 + 18 * sum(1 + len(line) // 48 for line in note.text.split("\n"))
    cell.comment = note


def _remove_marks(page: Worksheet) -> None:
    for row in page.iter_rows():
        for cell in row:
            if cell.comment and _NOTE in cell.comment.text:
                own = cell.comment.text.partition(_NOTE)[0].rstrip()
                cell.comment = Comment(own, cell.comment.author) if own else None
    kept = ConditionalFormattingList()
    for each in page.conditional_formatting:
        for rule in each.rules:
            if list(rule.formula) != [_MARK]:
                kept.add(str(each.sqref), rule)
    page.conditional_formatting = kept


def _ranges(letter: str, rows: Sequence[int], most: int = 100) -> Iterator[str]:
    """Rows of a column as ranges of consecutive ones, `F7:F9 F12:F12`, so many in each text."""
    groups = [list(group) for _, group in groupby(enumerate(rows), lambda pair: pair[1] - pair[0])]
    ranges = [f"{letter}{group[0][1]}:{letter}{group[-1][1]}" for group in groups]
    return (" ".join(ranges[start : start + most]) for start in range(0, len(ranges), most))


# --- the first sheet ----------------------------------------------------------------------------


def _write_causes(book: Workbook, found: Sequence[_Found], texts: Annotation) -> None:
    """Write the sheet with the problems of each code, column and hint, the most frequent first."""
    for page in book.worksheets:
        if page["A1"].value == NOT_READ:
            book.remove(page)
    page = book.create_sheet(FIRST_SHEET, 0)
    book.active = page
    for each in book.worksheets:  # otherwise both are selected, and what is typed goes into both
        each.sheet_view.tabSelected = each is page
    page.sheet_view.showGridLines = False
    page.sheet_properties.tabColor = "D98E73"
    lines = [
        (NOT_READ, Font(name=_FONT, bold=True, size=16)),
        (texts.title, Font(name=_FONT, size=12)),
        ("Fix the colored cells; the note in each says what to do. Then save this workbook and run:", Font(name=_FONT)),
        (texts.command, Font(name="Consolas")),
    ]
    for row, (text, font) in enumerate(lines, start=1):
        page.cell(row, 1, text).font = font
    header = ("Cells", "Column", "Problem (example)", "What to do", "First cells", *[""] * (_LINKS - 1), "Code")
    widths = (8, 22, 60, 50, *[9] * _LINKS, 22)
    for index, (name, width) in enumerate(zip(header, widths, strict=True), start=1):
        cell = page.cell(6, index, name)
        cell.font, cell.fill = Font(name=_FONT, bold=True), PatternFill("solid", fgColor="E4E9EE")
        page.column_dimensions[get_column_letter(index)].width = width
    page.cell(1, len(header) + 1, f"{COPY_OF}{texts.sha256}")
    page.column_dimensions[get_column_letter(len(header) + 1)].hidden = True
    causes: dict[tuple[str, str | None, str], list[_Found]] = {}
    for problem, place in found:
        causes.setdefault((problem.code, problem.column, problem.hint), []).append((problem, place))
    row = 7
    for cause in sorted(causes.values(), key=len, reverse=True):
        _write_cause(page, row, cause)
        row += 1
    for warning in texts.warnings:
        row += 1
        page.cell(row, 1, f"Warning: {warning}").font = Font(name=_FONT, italic=True)
    page.freeze_panes = "A7"
    page.page_setup.orientation, page.page_setup.fitToWidth, page.page_setup.fitToHeight = "landscape", 1, 0
    page.sheet_properties.pageSetUpPr.fitToPage = True
    page.print_title_rows = "6:6"


def _write_cause(page: Worksheet, row: int, cause: Sequence[_Found]) -> None:
    example, cells = cause[0][0], [place for _, place in cause if place is not None]
    for index, value in enumerate((len(cause), example.column or "", example.message, example.hint), start=1):
        cell: Any = page.cell(row, index)
        cell.value = value
        cell.data_type = "n" if index == 1 else "s"
        cell.font, cell.alignment = Font(name=_FONT), Alignment("left", vertical="top", wrap_text=index > 1)
    for index, (title, number, column) in enumerate(cells[:_LINKS], start=5):
        address = f"{get_column_letter(column)}{number}"
        linked: Any = page.cell(row, index, address)
        location = f"'{title.replace(chr(39), chr(39) * 2)}'!{address}"
        linked.hyperlink = Hyperlink(ref=linked.coordinate, location=location, display=address)
        linked.font, linked.alignment = Font(name=_FONT, color="2B6CB0", underline="single"), Alignment(vertical="top")
    code = page.cell(row, 5 + _LINKS, example.code)
    code.font, code.alignment = Font(name=_FONT), Alignment(vertical="top")
    lines = max(1 + len(example.message) // 55, 1 + len(example.hint) // 46)
    page.row_dimensions[row].height = 15.0 * lines


# --- what is lost -------------------------------------------------------------------------------


def _not_kept(source: Path, copy: Path, warned: Sequence[str]) -> Iterator[str]:
    """What of a workbook its copy does not have, in words."""
    before, after = (_parts(path) for path in (source, copy))
    for prefix, words in _CANNOT_KEEP.items():
        if after[prefix] < before[prefix]:
            yield words
    for kind in ("Data Validation", "Conditional Formatting"):
        if any(kind in text for text in warned):
            yield f"some rules of {kind.lower()} of newer programs"


def _parts(path: Path) -> Counter[str]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if "/_rels/" not in name]
    return Counter(prefix for name in names for prefix in _CANNOT_KEEP if name.startswith(prefix))
