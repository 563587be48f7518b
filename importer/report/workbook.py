"""The workbook report.xlsx: the sheet Summary, then one sheet for each outcome that has rows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types
from xlsxwriter.exceptions import FileCreateError  # type: ignore[import-untyped]

from importer.models import IMPORT_COLUMNS, TYPED_COLUMN, OutcomeKind, Problem
from importer.report.cells import LINE, Styles, TextRows, row_height, write_text
from importer.report.outcomes import WORKBOOK_FILE, csv_file, sheet_title, words_for
from importer.report.reported_row import ReportedRow
from importer.report.summary import RunFacts, Summary
from importer.report.summary_sheet import write_summary_sheet

MOST_COMMENTS: Final = 2_000

_SUMMARY_SHEET: Final = "Summary"
_PROBLEM_WIDTH, _HINT_WIDTH = 70, 55
_TYPES_WIDTH = 13
_IMPORT_WIDTHS: Final = (11, 17, _PROBLEM_WIDTH, _HINT_WIDTH)
_NARROWEST, _WIDEST = 8, 32
_ROWS_MEASURED = 200
_ROWS_FITTED = 2_000  # XlsxWriter keeps each height in memory
_TEXT_CELL_SHOWS = 255  # some versions of Excel show a longer cell of the format Text as ####
_COMMENT = {"author": "importer", "x_scale": 2.0, "y_scale": 1.2}
_LONGEST_COMMENT = 1_000


class ReportWorkbook:
    """Takes rows in constant memory, whatever the order of their outcomes; a ReportWriter.

    Raises:
        OSError: the file, or a temporary file in the same folder, cannot be written.
    """

    files = (WORKBOOK_FILE,)

    def __init__(self, staged: Path, facts: RunFacts) -> None:
        options = {
            "constant_memory": True,
            "tmpdir": str(staged),  # its row files hold candidates' data: not into a folder that all may list
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        }
        self._workbook: Any = xlsxwriter.Workbook(str(staged / WORKBOOK_FILE), options)
        self._workbook.use_zip64()
        self._facts = facts
        self._styles = Styles(self._workbook)
        self._summary = self._workbook.add_worksheet(_SUMMARY_SHEET)
        self._sheets: dict[OutcomeKind, _OutcomeSheet] = {}
        self._comments = _CommentsLeft()
        created = facts.ended_at or facts.started_at
        self._workbook.set_properties({"title": f"Import {facts.run}", "created": created.replace(tzinfo=None)})

    def add(self, reported: ReportedRow) -> None:
        """Write one row into the sheet of its outcome."""
        kind = reported.outcome.kind
        if kind not in self._sheets:
            sheet = self._workbook.add_worksheet(sheet_title(kind))
            self._sheets[kind] = _OutcomeSheet(sheet, self._styles, self._facts, kind, self._comments)
        self._sheets[kind].add(reported)

    def finish(self, summary: Summary, folder: Path) -> None:
        """Write the summary, put the sheets in the order of the outcomes and write the file."""
        for sheet in self._sheets.values():
            sheet.finish()
        write_summary_sheet(self._summary, self._styles, summary, folder)
        self._order_sheets()
        try:
            self._workbook.close()
        except FileCreateError as error:
            raise error.args[0] from None  # the OSError that XlsxWriter put into its own

    def close(self) -> None:
        """Let the row files go that XlsxWriter still holds open where the workbook was not finished."""
        for sheet in self._workbook.worksheets():
            with suppress(OSError):  # on a full disk closing fails too, and the file goes anyway
                sheet.row_data_fh.close()

    def _order_sheets(self) -> None:
        """Sheets are made when their first row comes; a reader wants them in one order in every report."""
        places = {sheet_title(kind): place for place, kind in enumerate(OutcomeKind)}
        self._workbook.worksheets_objs.sort(key=lambda sheet: places.get(sheet.get_name(), -1))
        for index, sheet in enumerate(self._workbook.worksheets_objs):
            sheet.index = index  # by it the filters find their sheet


@dataclass(slots=True)
class _CommentsLeft:
    """How many comments the workbook may still get: each is a drawing, kept in memory until the end."""

    count: int = MOST_COMMENTS

    def take(self) -> bool:
        if not self.count:
            return False
        self.count -= 1
        return True


class _OutcomeSheet:
    """The rows of one outcome, the cells with problems highlighted; `finish` completes the table."""

    def __init__(self, sheet: Any, styles: Styles, facts: RunFacts, kind: OutcomeKind, comments: _CommentsLeft) -> None:
        self._sheet = sheet
        self._styles = styles
        self._columns = facts.columns
        self._knows_types = facts.knows_types
        self._limit = words_for(kind, dry_run=facts.dry_run).sheet_limit
        self._csv_file = csv_file(kind)
        self._comments = comments
        self._rows = 0
        sheet.set_tab_color(words_for(kind).tab_color)
        self._widths = [len(column.name) + 3 for column in self._columns]  # + 3: the filter's button
        import_names = (*IMPORT_COLUMNS, *[TYPED_COLUMN] * self._knows_types)
        short, wrapped = styles.short_import, styles.wrapped_import
        self._import_styles = [short, short, wrapped, wrapped, *[short] * self._knows_types]
        self._last_column = len(self._columns) + len(import_names) - 1
        for index, column in enumerate(self._columns):
            write_text(sheet, 0, index, column.name, styles.header)
        for index, name in enumerate(import_names, start=len(self._columns)):
            write_text(sheet, 0, index, name, styles.import_header)
        text_styles = [styles.text] * len(self._columns) + self._import_styles
        long_styles = [styles.long] * len(self._columns) + self._import_styles
        self._text_rows = TextRows(sheet, text_styles, long_styles, _TEXT_CELL_SHOWS + 1)

    def add(self, reported: ReportedRow) -> None:
        """Write one row, or only count it where the sheet is full."""
        self._rows += 1
        if self._rows > self._limit:
            return
        cells, problems = reported.row.cells, reported.outcome.problems
        if self._rows <= _ROWS_MEASURED:
            self._widths = [max(width, len(text) + 1) for width, text in zip(self._widths, cells, strict=True)]
        import_cells: tuple[str, ...] = reported.import_cells
        if self._knows_types:
            import_cells = (*import_cells, reported.typed_letters(self._columns))
        if problems or not self._text_rows.write(self._rows, (*cells, *import_cells), len(cells)):
            self._write_source(reported)
            self._write_import(import_cells)

    def _write_source(self, reported: ReportedRow) -> None:
        highlighted = reported.highlighted_cells()
        for index, text in enumerate(reported.row.cells):
            if index in highlighted:
                self._write_highlighted(index, text, highlighted[index])
            elif text:
                style = self._styles.text if len(text) <= _TEXT_CELL_SHOWS else self._styles.long
                write_text(self._sheet, self._rows, index, text, style)

    def _write_highlighted(self, index: int, text: str, problems: list[Problem]) -> None:
        write_text(self._sheet, self._rows, index, text, self._styles.highlighted)
        if self._comments.take():
            comment = "\n".join(f"{problem.message}\n{problem.hint}".strip() for problem in problems)
            self._sheet.write_comment(self._rows, index, comment[:_LONGEST_COMMENT], _COMMENT)

    def _write_import(self, cells: tuple[str, ...]) -> None:
        _, _, problem, hint, *_ = cells
        height = row_height({problem: _PROBLEM_WIDTH, hint: _HINT_WIDTH})
        if height > LINE and self._rows <= _ROWS_FITTED:
            self._sheet.set_row(self._rows, height)
        for index, (text, style) in enumerate(zip(cells, self._import_styles, strict=True), len(self._columns)):
            write_text(self._sheet, self._rows, index, text, style)

    def finish(self) -> None:
        """Set filter, widths and what stays in view; say what the sheet does not hold."""
        sheet, written = self._sheet, min(self._rows, self._limit)
        for index, width in enumerate(self._widths):
            sheet.set_column(index, index, min(max(width, _NARROWEST), _WIDEST))
        widths = (*_IMPORT_WIDTHS, *[_TYPES_WIDTH] * self._knows_types)
        for index, width in enumerate(widths, start=len(self._columns)):
            sheet.set_column(index, index, width)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, written, self._last_column)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.repeat_rows(0)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{written + 1}"})
        if self._rows > written:
            note = f"The first {written:,} rows. {self._csv_file} holds all."
            write_text(sheet, written + 1, 0, note, self._styles.note)
