"""One sheet of report.xlsx: the rows of one outcome, the guilty cells marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from importer.models import Column, Problem
from importer.report.cell_text import write_text
from importer.report.places import guilty_column
from importer.report.reported import IMPORT_COLUMNS, TYPED_COLUMN, ReportedRow
from importer.report.row_height import LINE, row_height
from importer.report.styles import Styles
from importer.report.text_rows import TextRows

MOST_ROWS: Final = 100_000
MOST_COMMENTS: Final = 2_000

_PROBLEM_WIDTH, _HINT_WIDTH = 70, 55
_TYPES_WIDTH = 13
_IMPORT_WIDTHS: Final = (11, 17, _PROBLEM_WIDTH, _HINT_WIDTH)
_NARROWEST, _WIDEST = 8, 32
_ROWS_MEASURED = 200
_ROWS_FITTED = 2_000  # XlsxWriter keeps each height in memory
_TEXT_CELL_SHOWS = 255  # some versions of Excel show a longer cell of the format Text as ####
_COMMENT = {"author": "importer", "x_scale": 2.0, "y_scale": 1.2}
_LONGEST_COMMENT = 1_000


@dataclass(slots=True)
class CommentsLeft:
    """How many comments the workbook may still get: each is a drawing, kept in memory until the end."""

    count: int = MOST_COMMENTS

    def take(self) -> bool:
        if not self.count:
            return False
        self.count -= 1
        return True


@dataclass(slots=True)
class OutcomeSheet:
    """Rows go in as they come, in constant memory; `finish` closes the table.

    `csv_file` is the file that holds all rows where the sheet does not.
    """

    sheet: Any
    styles: Styles
    columns: tuple[Column, ...]
    csv_file: str
    comments: CommentsLeft
    most_rows: int = MOST_ROWS
    knows_types: bool = False
    _rows: int = 0
    _widths: list[int] = field(default_factory=list)
    _text_rows: TextRows | None = None

    def __post_init__(self) -> None:
        self._widths = [len(column.name) + 3 for column in self.columns]  # + 3: the filter's button
        for index, column in enumerate(self.columns):
            write_text(self.sheet, 0, index, column.name, self.styles.header)
        for index, name in enumerate(self._import_names, start=len(self.columns)):
            write_text(self.sheet, 0, index, name, self.styles.import_header)

    def add(self, reported: ReportedRow) -> None:
        """Write one row, or only count it where the sheet is full."""
        self._rows += 1
        if self._rows > self.most_rows:
            return
        if self._rows <= _ROWS_MEASURED:
            self._measure(reported)
        if reported.outcome.problems or not self._write_plain(reported):
            self._write_source(reported)
            self._write_import(reported)

    def _measure(self, reported: ReportedRow) -> None:
        for index, text in enumerate(reported.row.cells):
            self._widths[index] = max(self._widths[index], len(text) + 1)

    def _write_plain(self, reported: ReportedRow) -> bool:
        if self._text_rows is None:
            styles = [self.styles.text] * len(self.columns) + self._import_styles
            long_styles = [self.styles.long] * len(self.columns) + self._import_styles
            self._text_rows = TextRows(self.sheet, styles, long_styles, _TEXT_CELL_SHOWS + 1)
        return self._text_rows.write(
            self._rows, (*reported.row.cells, *self._import_cells(reported)), len(self.columns)
        )

    @property
    def _import_names(self) -> tuple[str, ...]:
        return (*IMPORT_COLUMNS, *[TYPED_COLUMN] * self.knows_types)

    def _import_cells(self, reported: ReportedRow) -> tuple[str, ...]:
        types = [reported.typed_letters(self.columns)] if self.knows_types else []
        return (*reported.import_cells, *types)

    @property
    def _import_styles(self) -> list[Any]:
        styles = self.styles
        own = [styles.short_import, styles.short_import, styles.wrapped_import, styles.wrapped_import]
        return own + [styles.short_import] * self.knows_types

    def _write_source(self, reported: ReportedRow) -> None:
        guilty = _guilty_cells(reported)
        for index, text in enumerate(reported.row.cells):
            if index in guilty:
                self._write_guilty(index, text, guilty[index])
            elif text:
                style = self.styles.text if len(text) <= _TEXT_CELL_SHOWS else self.styles.long
                write_text(self.sheet, self._rows, index, text, style)

    def _write_guilty(self, index: int, text: str, problems: list[Problem]) -> None:
        write_text(self.sheet, self._rows, index, text, self.styles.guilty)
        if self.comments.take():
            says = "\n".join(f"{problem.message}\n{problem.hint}".strip() for problem in problems)
            self.sheet.write_comment(self._rows, index, says[:_LONGEST_COMMENT], _COMMENT)

    def _write_import(self, reported: ReportedRow) -> None:
        begin = len(self.columns)
        _, _, problem, hint = reported.import_cells
        height = row_height({problem: _PROBLEM_WIDTH, hint: _HINT_WIDTH})
        if height > LINE and self._rows <= _ROWS_FITTED:
            self.sheet.set_row(self._rows, height)
        for index, (text, style) in enumerate(
            zip(self._import_cells(reported), self._import_styles, strict=True), begin
        ):
            write_text(self.sheet, self._rows, index, text, style)

    def finish(self) -> None:
        """Set filter, widths and what stays in view; say what the sheet does not hold."""
        written = min(self._rows, self.most_rows)
        last_column = len(self.columns) + len(self._import_names) - 1
        for index, width in enumerate(self._widths):
            self.sheet.set_column(index, index, min(max(width, _NARROWEST), _WIDEST))
        widths = (*_IMPORT_WIDTHS, *[_TYPES_WIDTH] * self.knows_types)
        for index, width in enumerate(widths, start=len(self.columns)):
            self.sheet.set_column(index, index, width)
        self.sheet.freeze_panes(1, 0)
        self.sheet.autofilter(0, 0, written, last_column)
        self.sheet.set_landscape()
        self.sheet.fit_to_pages(1, 0)
        self.sheet.repeat_rows(0)
        self.sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{written + 1}"})
        if self._rows > written:
            rest = f"{self._rows - written:,} more rows are in {self.csv_file}"
            write_text(self.sheet, written + 1, 0, rest, self.styles.note)


def _guilty_cells(reported: ReportedRow) -> dict[int, list[Problem]]:
    cells: dict[int, list[Problem]] = {}
    for problem in reported.outcome.problems:
        index = guilty_column(problem.place, reported.row)
        if index is not None:
            cells.setdefault(index, []).append(problem)
    return cells
