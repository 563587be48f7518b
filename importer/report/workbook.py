"""The workbook report.xlsx: the sheet Summary, then one sheet for each outcome that has rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types
from xlsxwriter.exceptions import FileCreateError  # type: ignore[import-untyped]

from importer.models import (
    CANDIDATE_COLUMN,
    CORRECTED_SHEET,
    IMPORT_COLUMNS,
    LINKS_COLUMN,
    SUMMARY_SHEET,
    TYPED_COLUMN,
    OutcomeKind,
)
from importer.problems import CellPlace, Problem
from importer.report.accounting import ReportedRow
from importer.report.cells import LINE_HEIGHT, TEXT_CELL_LIMIT, TextRows, finish_table, row_height, write_text
from importer.report.outcomes import WORKBOOK_FILE, csv_file, outcome_text, sheet_title
from importer.report.packed_rows import PackedRows, add_rows
from importer.report.sent_sheet import LinesOf, SentSheet
from importer.report.summary import RunFacts, Summary
from importer.report.summary_sheet import (
    HEADER,
    NOTE,
    PLAIN,
    WIDTHS,
    WRAPPED,
    NthOf,
    Style,
    summary_sheet,
)

MOST_COMMENTS: Final = 2_000
MOST_CORRECTIONS: Final = 20_000
_CORRECTED_COLUMNS: Final = {"Row": 8, "Cell": 10, "Column": 24, "In the file": 45, "Read as": 45}

# Source cells have the format Text, so that phone numbers and dates stay as typed; PLAIN is for texts that are too long
# for that format.
_TEXT: Final[Style] = {**PLAIN, "num_format": "@"}
_HIGHLIGHTED: Final[Style] = {**_TEXT, "bg_color": "#F8D3C5", "border": 1, "border_color": "#D98E73"}
_WARNED: Final[Style] = {**_TEXT, "bg_color": "#FBEFC9", "border": 1, "border_color": "#D9B26F"}
_IMPORT_HEADER: Final[Style] = {**HEADER, "bg_color": "#F3DFC1"}
_IMPORT: Final[Style] = {**PLAIN, "bg_color": "#FDF8EF"}
_WRAPPED_IMPORT: Final[Style] = {**_IMPORT, "text_wrap": True}

_PROBLEM_WIDTH, _HINT_WIDTH = 70, 55
_IMPORT_WIDTHS: Final = (11, 42, 17, _PROBLEM_WIDTH, _HINT_WIDTH)
_FROZEN: Final = 2  # columns: the row and the candidate stay visible beside the source's columns
_MIN_WIDTH, _MAX_WIDTH = 8, 32
_LEGIBLE_WIDTH: Final = 350  # characters on a printed page; of a wider table only the import columns are printed
_ONE_PAGE: Final = 950.0  # points: a summary that is not higher is printed on one page; it fills up to 1.25 of A4
_ROWS_MEASURED = 200
_ROWS_FITTED = 2_000  # XlsxWriter keeps each height in memory
_COMMENT = {"author": "importer", "x_scale": 2.0, "y_scale": 1.2}
_LONGEST_COMMENT = 1_000


class ReportWorkbook:
    """Writes rows in constant memory, with outcomes in any order; a ReportWriter.

    Raises:
        OSError: the file, or a temporary file in the same folder, cannot be written.
    """

    files = (WORKBOOK_FILE,)

    def __init__(self, staged: Path, facts: RunFacts, lines_of: LinesOf, nth: NthOf) -> None:
        """lines_of: what each row was sent with."""
        options = {
            "constant_memory": True,
            "tmpdir": str(staged),  # its temporary files contain personal data: not in a shared folder
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        }
        self._path = staged / WORKBOOK_FILE
        self._without_rows = staged / f"{WORKBOOK_FILE}.empty"
        self._workbook: Any = xlsxwriter.Workbook(str(self._without_rows), options)
        self._facts = facts
        self._nth = nth
        self._styles = _Styles(self._workbook)
        self._summary = self._workbook.add_worksheet(SUMMARY_SHEET)
        self._sheets: dict[OutcomeKind, list[_OutcomeSheet]] = {kind: [] for kind in OutcomeKind}
        self._rows: dict[str, PackedRows] = {}  # of each outcome sheet, by its title
        self._comments = iter(range(MOST_COMMENTS))
        self._sent = SentSheet(self._workbook, self._styles, lines_of, dry_run=facts.dry_run)
        created = facts.ended_at or facts.started_at
        self._workbook.set_properties({"title": f"Import {facts.run}", "created": created.replace(tzinfo=None)})

    def add(self, reported: ReportedRow) -> None:
        """Write one row to the sheet of its outcome."""
        kind = reported.outcome.kind
        parts = self._sheets[kind]
        if not parts or parts[-1].is_to_be_followed:
            title = sheet_title(kind, len(parts) + 1)
            sheet = self._workbook.add_worksheet(title)
            self._rows[title] = PackedRows(sheet, self._path.with_name(f"{len(self._rows)}.rows"))
            parts.append(_OutcomeSheet(sheet, self._styles, self._facts.of(kind), kind, self._comments))
        parts[-1].add(reported)
        self._sent.add(reported)

    def finish(self, summary: Summary, folder: Path) -> None:
        """Write the summary, sort the sheets by outcome, and write the file."""
        for parts in self._sheets.values():
            for part in parts:
                part.finish()
        self._sent.finish()
        self._write_corrections()
        self._write_summary(summary, folder)
        self._order_sheets()
        try:
            self._workbook.close()
        except FileCreateError as error:
            raise error.args[0] from None  # the OSError that XlsxWriter wrapped
        titles = [sheet.get_name() for sheet in self._workbook.worksheets()]
        numbered = {f"xl/worksheets/sheet{number}.xml": title for number, title in enumerate(titles, start=1)}
        rows = {name: self._rows[title] for name, title in numbered.items() if title in self._rows}
        add_rows(self._without_rows, rows, self._path)

    def close(self) -> None:
        """Close the temporary files that are open if the workbook was not finished."""
        for rows in self._rows.values():
            rows.close()
        for sheet in self._workbook.worksheets():
            with suppress(OSError):  # closing fails on a full disk, but the file is deleted anyway
                sheet.row_data_fh.close()

    def _order_sheets(self) -> None:
        """Sort the sheets, which were created in the order of their first rows."""
        titles = [sheet_title(kind, part) for kind, parts in self._sheets.items() for part, _ in enumerate(parts, 1)]
        titles = [SUMMARY_SHEET, *titles, self._sent.title, CORRECTED_SHEET]
        places = {title: place for place, title in enumerate(titles)}
        self._workbook.worksheets_objs.sort(key=lambda sheet: places[sheet.get_name()])
        for index, sheet in enumerate(self._workbook.worksheets_objs):
            sheet.index = index  # the filters refer to it

    def _write_corrections(self) -> None:
        """Write the cells that were read with another text, if there are any."""
        cells = self._facts.corrections[:MOST_CORRECTIONS]
        if not cells:
            return
        sheet = self._workbook.add_worksheet(CORRECTED_SHEET)
        for column, (name, width) in enumerate(_CORRECTED_COLUMNS.items()):
            sheet.set_column(column, column, width)
            write_text(sheet, 0, column, name, self._styles[HEADER])
        for row, one in enumerate(sorted(cells, key=lambda each: (each.row, each.column.index)), start=1):
            address = CellPlace(self._facts.origin, one.row, one.column).address
            for column, text in enumerate((str(one.row), address, one.column.name, one.old, one.new)):
                write_text(sheet, row, column, text, self._styles[_TEXT if len(text) <= TEXT_CELL_LIMIT else PLAIN])
        finish_table(sheet, len(cells), len(_CORRECTED_COLUMNS) - 1)

    def _write_summary(self, summary: Summary, folder: Path) -> None:
        sheet, styles = self._summary, self._styles
        for index, width in enumerate(WIDTHS):
            sheet.set_column(index, index, width)
        sheet.hide_gridlines(2)
        sheet.set_landscape()
        height = 0.0
        for row, line in enumerate(summary_sheet(summary, folder, self._nth)):
            wrapped = {str(cell.value): WIDTHS[cell.column] for cell in line.cells if cell.style is WRAPPED}
            height += line.height or row_height(wrapped)
            if line.height or wrapped:  # before any cell of the row
                sheet.set_row(row, line.height or row_height(wrapped))
            for cell in line.cells:
                if cell.link:
                    sheet.write_url(row, cell.column, cell.link)
                if isinstance(cell.value, int):
                    sheet.write_number(row, cell.column, cell.value, styles[cell.style])
                else:
                    write_text(sheet, row, cell.column, cell.value, styles[cell.style])
        sheet.fit_to_pages(1, 1 if height <= _ONE_PAGE else 0)


class _Styles:
    """Creates each format of a workbook once."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def __getitem__(self, style: Style) -> Any:
        key = tuple(style.items())
        if key not in self._formats:
            self._formats[key] = self._workbook.add_format(dict(style))
        return self._formats[key]


class _OutcomeSheet:
    """The rows of one outcome, the cells with problems highlighted; `finish` completes the table.

    comments: one item for each comment that the workbook may still have; all of them stay in memory until the end.
    """

    def __init__(
        self, sheet: Any, styles: _Styles, facts: RunFacts, kind: OutcomeKind, comments: Iterator[int]
    ) -> None:
        self._sheet = sheet
        self._text, self._long = styles[_TEXT], styles[PLAIN]
        self._highlighted, self._warned = styles[_HIGHLIGHTED], styles[_WARNED]
        self._note = styles[NOTE]
        self._columns = facts.columns
        self._facts = facts
        words = outcome_text(kind, dry_run=facts.dry_run)
        self._limit, self._is_split = words.sheet_limit, words.is_split
        self._csv_file = csv_file(kind)
        self._comments = comments
        self._rows = 0
        sheet.set_tab_color(words.tab_color)
        self._widths = [len(column.name) + 3 for column in self._columns]  # + 3: the filter's button
        email, name = facts.identity or ((), ())
        self._candidate = tuple(dict.fromkeys((*name, *email)))
        row, *others = IMPORT_COLUMNS
        short, wrapped = styles[_IMPORT], styles[_WRAPPED_IMPORT]
        self._import_styles = [short, short, short, wrapped, wrapped]
        last = [short] * len(facts.last_columns)
        self._source = range(len(self._import_styles), len(self._import_styles) + len(self._columns))
        self._last_column = self._source.stop - 1 + len(last)
        for index, name_of_column in enumerate((row, CANDIDATE_COLUMN, *others)):
            write_text(sheet, 0, index, name_of_column, styles[_IMPORT_HEADER])
        for index, column in zip(self._source, self._columns, strict=True):
            write_text(sheet, 0, index, column.name, styles[HEADER])
        for index, name_of_column in enumerate(facts.last_columns, self._source.stop):
            write_text(sheet, 0, index, name_of_column, styles[_IMPORT_HEADER])
        text_styles = self._import_styles + [self._text] * len(self._columns) + last
        long_styles = self._import_styles + [self._long] * len(self._columns) + last
        self._text_rows = TextRows(sheet, text_styles, long_styles, TEXT_CELL_LIMIT + 1, self._source)

    @property
    def is_to_be_followed(self) -> bool:
        """Whether the next row belongs into another sheet."""
        return self._is_split and self._rows == self._limit

    def add(self, reported: ReportedRow) -> None:
        """Write one row, or only count it if the sheet is full."""
        self._rows += 1
        if self._rows > self._limit:
            return
        cells, problems = reported.row.cells, reported.outcome.problems
        if self._rows <= _ROWS_MEASURED:
            self._widths = [max(width, len(text) + 1) for width, text in zip(self._widths, cells, strict=True)]
        row, *others = reported.import_cells
        import_cells = (row, ", ".join(filter(None, (cells[index] for index in self._candidate))), *others)
        last = reported.last_cells(self._facts)
        highlighted = reported.highlighted_cells() if problems else {}
        own = {self._source[index]: found for index, found in sorted(highlighted.items()) if index < len(cells)}
        styles = {index: self._style_of(found) for index, found in own.items()}
        commented = [index for index in own if next(self._comments, None) is not None]
        # XlsxWriter writes a row with a comment itself.
        by_cell = commented or (problems and self._rows <= _ROWS_FITTED)
        if by_cell or not self._text_rows.write(self._rows, (*import_cells, *cells, *last), styles):
            self._write_import(import_cells)
            self._write_source(cells, styles)
            for index, text in enumerate(last, self._source.stop):
                write_text(self._sheet, self._rows, index, text, self._import_styles[0])
        for index in commented:
            self._write_comment(index, own[index])

    def _style_of(self, problems: list[Problem]) -> Any:
        is_warning = all(problem.severity == "warning" for problem in problems)
        return self._warned if is_warning else self._highlighted

    def _write_source(self, cells: tuple[str, ...], styles: dict[int, Any]) -> None:
        for index, text in zip(self._source, cells, strict=True):
            if index in styles:
                write_text(self._sheet, self._rows, index, text, styles[index])
            elif text:
                style = self._text if len(text) <= TEXT_CELL_LIMIT else self._long
                write_text(self._sheet, self._rows, index, text, style)

    def _write_comment(self, index: int, problems: list[Problem]) -> None:
        comment = "\n".join(f"{problem.message}\n{problem.hint}".strip() for problem in problems)
        self._sheet.write_comment(self._rows, index, comment[:_LONGEST_COMMENT], _COMMENT)

    def _write_import(self, cells: tuple[str, ...]) -> None:
        *_, problem, hint = cells
        height = row_height({problem: _PROBLEM_WIDTH, hint: _HINT_WIDTH})
        if height > LINE_HEIGHT and self._rows <= _ROWS_FITTED:
            self._sheet.set_row(self._rows, height)
        for index, (text, style) in enumerate(zip(cells, self._import_styles, strict=True)):
            write_text(self._sheet, self._rows, index, text, style)

    def finish(self) -> None:
        """Set filter, widths and frozen rows, and note if rows are left out."""
        sheet, written = self._sheet, min(self._rows, self._limit)
        widths = [*_IMPORT_WIDTHS, *(min(max(width, _MIN_WIDTH), _MAX_WIDTH) for width in self._widths)]
        for index, width in enumerate(widths):
            sheet.set_column(index, index, width)
        for index, name in enumerate(self._facts.last_columns, self._source.stop):
            is_for_us = name in (TYPED_COLUMN, LINKS_COLUMN)  # only the importer reads them
            sheet.set_column(index, index, len(name) + 3, None, {"hidden": is_for_us})
        last_printed = len(_IMPORT_WIDTHS) - 1 if sum(widths) > _LEGIBLE_WIDTH else None
        finish_table(sheet, written, self._last_column, frozen=_FROZEN, last_printed=last_printed)
        if self._rows > written:
            note = f"Only the first {written:,} rows are shown here; {self._csv_file} has all rows."
            write_text(sheet, written + 1, 0, note, self._note)
