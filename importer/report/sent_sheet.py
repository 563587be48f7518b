"""The sheet of report.xlsx with what was sent: one line for each answer, beside the cells that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from importer.models import SENT_SHEETS, OutcomeKind, Row
from importer.report.accounting import ReportedRow
from importer.report.cells import TEXT_CELL_LIMIT, TextRows, finish_table, write_text
from importer.report.outcomes import outcome_text
from importer.report.summary_sheet import HEADER, NOTE, PLAIN, Style
from importer.sent_answers import SentLine

LinesOf = Callable[[Row], Sequence[SentLine]]
"""What the candidate of a row was sent with; () if it is not known."""

MOST_LINES: Final = 2_000
_COLUMNS: Final = {
    "Row": 8, "Outcome": 15, "Cell": 16, "Column": 24, "The file says": 45, "Question": 28, "Sent": 45, "Note": 46,
}  # fmt: skip
_TEXT: Final[Style] = {**PLAIN, "num_format": "@"}


class SentSheet:
    """Writes the lines of rows that this run sent, or that a check would send; `MOST_LINES` at most."""

    def __init__(self, workbook: Any, styles: Any, lines_of: LinesOf, *, dry_run: bool) -> None:
        self.title = SENT_SHEETS[dry_run]
        self._workbook, self._styles, self._lines_of, self._dry_run = workbook, styles, lines_of, dry_run
        self._sheet: Any = None
        self._rows: TextRows | None = None
        self._lines = 0
        self._shown = 0
        self._sent = 0

    def add(self, reported: ReportedRow) -> None:
        """Write the lines of a row if it was sent, or only count it if the sheet is full."""
        outcome = reported.outcome
        if not (outcome.kind is OutcomeKind.NOT_SENT if self._dry_run else outcome.attempts):
            return
        self._sent += 1
        if self._sent > self._shown + 1 and self._lines:  # it is full: whole candidates only
            return
        lines = self._lines_of(reported.row)
        if self._lines + len(lines) > MOST_LINES:
            return
        self._shown += 1
        label = outcome_text(outcome.kind, dry_run=self._dry_run).label
        for line in lines:
            self._write((str(reported.row.number), label, *line))

    def _write(self, texts: tuple[str, ...]) -> None:
        if self._sheet is None:
            self._begin()
        self._lines += 1
        if self._rows is None or not self._rows.write(self._lines, texts):
            for index, text in enumerate(texts):
                style = self._styles[_TEXT if len(text) <= TEXT_CELL_LIMIT else PLAIN]
                write_text(self._sheet, self._lines, index, text, style)

    def _begin(self) -> None:
        self._sheet = self._workbook.add_worksheet(self.title)
        for index, (name, width) in enumerate(_COLUMNS.items()):
            self._sheet.set_column(index, index, width)
            write_text(self._sheet, 0, index, name, self._styles[HEADER])
        styles, long_styles = [self._styles[_TEXT]] * len(_COLUMNS), [self._styles[PLAIN]] * len(_COLUMNS)
        self._rows = TextRows(self._sheet, styles, long_styles, TEXT_CELL_LIMIT + 1, range(len(_COLUMNS)))

    def finish(self) -> None:
        """Set filter and frozen rows, and note if candidates are left out."""
        if self._sheet is None:
            return
        finish_table(self._sheet, self._lines, len(_COLUMNS) - 1)
        if self._sent > self._shown:
            note = f"Only the first {self._shown:,} of {self._sent:,} rows that were sent are shown here."
            write_text(self._sheet, self._lines + 1, 0, note, self._styles[NOTE])
