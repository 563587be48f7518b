"""The workbook report.xlsx: the sheet Summary, then one sheet for each outcome that has rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types
from xlsxwriter.exceptions import FileCreateError  # type: ignore[import-untyped]

from importer.models import Column, OutcomeKind
from importer.report.facts import RunFacts
from importer.report.names import CSV_FILES, SHEET_TITLES, SUMMARY_SHEET, WORKBOOK_FILE
from importer.report.outcome_sheet import MOST_ROWS, CommentsLeft, OutcomeSheet
from importer.report.packed_rows import PackedRows, PackingZip
from importer.report.reported import ReportedRow
from importer.report.styles import TAB_COLOURS, Styles
from importer.report.summary import Summary
from importer.report.summary_sheet import write_summary_sheet


class ReportWorkbook:
    """Takes rows in constant memory, whatever the order of their outcomes; `save` writes the file.

    Left without `save` it leaves nothing open. A sheet holds `most_rows` and names the file that holds the rest.

    Raises:
        OSError: the file, or a temporary file in the same folder, cannot be written.
    """

    def __init__(self, folder: Path, facts: RunFacts, most_rows: int = MOST_ROWS) -> None:
        options = {
            "constant_memory": True,
            "tmpdir": str(folder),  # its row files hold candidates' data: not into a folder that all may list
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        }
        self._workbook: Any = xlsxwriter.Workbook(str(folder / WORKBOOK_FILE), options)
        self._workbook.use_zip64()
        self._columns: tuple[Column, ...] = facts.columns
        self._styles = Styles(self._workbook)
        self._summary = self._workbook.add_worksheet(SUMMARY_SHEET)
        self._folder = folder
        self._sheets: dict[OutcomeKind, OutcomeSheet] = {}
        self._packed: dict[int, PackedRows] = {}
        self._comments = CommentsLeft()
        self._most_rows = most_rows
        self._knows_types = facts.knows_types
        created = facts.ended_at or facts.started_at
        self._workbook.set_properties({"title": f"Import {facts.run}", "created": created.replace(tzinfo=None)})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sheet in self._workbook.worksheets():
            with suppress(OSError):  # on a full disk closing fails too, and the file goes anyway
                sheet.row_data_fh.close()
        for rows in self._packed.values():
            rows.discard()

    def add(self, reported: ReportedRow) -> None:
        """Write one row into the sheet of its outcome."""
        kind = reported.outcome.kind
        if kind not in self._sheets:
            self._sheets[kind] = self._begin(kind)
        self._sheets[kind].add(reported)

    def _begin(self, kind: OutcomeKind) -> OutcomeSheet:
        sheet = self._workbook.add_worksheet(SHEET_TITLES[kind])
        sheet.set_tab_color(TAB_COLOURS[kind])
        self._pack_as_they_come(sheet)
        file = CSV_FILES[kind]
        return OutcomeSheet(
            sheet, self._styles, self._columns, file, self._comments, self._most_rows, self._knows_types
        )

    def _pack_as_they_come(self, sheet: Any) -> None:
        """Take the place of the file that XlsxWriter has just made for the rows of a new sheet."""
        number = len(self._packed)
        self._packed[number] = PackedRows(number, self._folder)
        sheet.row_data_fh.close()
        sheet.row_data_fh = sheet.fh = self._packed[number]

    def save(self, summary: Summary, folder: Path) -> None:
        """Write the summary, put the sheets in the order of the outcomes and write the file.

        folder: where the results will lie, as commands are to name it.
        """
        for sheet in self._sheets.values():
            sheet.finish()
        write_summary_sheet(self._summary, self._styles, summary, folder)
        self._order_sheets()
        try:
            with _packed_by(self._packed):
                self._workbook.close()
        except FileCreateError as error:
            raise error.args[0] from None  # the OSError that XlsxWriter put into its own

    def _order_sheets(self) -> None:
        """Sheets are made when their first row comes; a reader wants them in one order in every report."""
        places = {SUMMARY_SHEET: -1} | {SHEET_TITLES[kind]: place for place, kind in enumerate(OutcomeKind)}
        self._workbook.worksheets_objs.sort(key=lambda sheet: places[sheet.get_name()])
        for index, sheet in enumerate(self._workbook.worksheets_objs):
            sheet.index = index  # by it the filters find their sheet


@contextmanager
def _packed_by(rows: Mapping[int, PackedRows]) -> Iterator[None]:
    """XlsxWriter has no setting for what packs its files."""
    as_it_was = xlsxwriter.workbook.ZipFile
    xlsxwriter.workbook.ZipFile = partial(PackingZip, rows=rows)
    try:
        yield
    finally:
        xlsxwriter.workbook.ZipFile = as_it_was
