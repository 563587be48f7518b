"""The workbook report.xlsx: the sheet Summary, then one sheet for each outcome that has rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types
from xlsxwriter.exceptions import FileCreateError  # type: ignore[import-untyped]

from importer.models import CANDIDATE_COLUMN, SUMMARY_SHEET, OutcomeKind
from importer.problems import Problem, distinct_labels
from importer.report.accounting import ReportedRow
from importer.report.next_steps import next_steps
from importer.report.outcomes import COLORS, WORKBOOK_FILE, csv_file, outcome_text, sheet_title
from importer.report.summary import ProblemGroup, RunFacts, Summary
from importer.report.text import headline, run_details, title_of
from importer.text.results_cells import truncated

MOST_COMMENTS, _LONGEST_COMMENT = 2_000, 1_000  # all of them stay in memory until the end

Style = dict[str, Any]  # properties of a cell, for XlsxWriter

_PLAIN: Final[Style] = {"valign": "top", "font_color": "#1F2933"}
_BOLD: Final[Style] = {**_PLAIN, "bold": True}
_HEADER: Final[Style] = {**_BOLD, "bottom": 1, "bottom_color": "#CBD2D9", "bg_color": "#E4E9EE", "text_wrap": True}
_TITLE: Final[Style] = {**_BOLD, "font_size": 16}
_SECTION: Final[Style] = {**_BOLD, "font_size": 12, "bottom": 2, "bottom_color": "#8FA3B5"}
_FAINT: Final[Style] = {**_PLAIN, "font_color": "#7B8794"}
_NUMBER: Final[Style] = {**_PLAIN, "num_format": "#,##0", "align": "right", "indent": 1}
_LINK: Final[Style] = {**_PLAIN, "font_color": "#2B6CB0", "underline": 1}
_COMMAND: Final[Style] = {**_PLAIN, "font_name": "Consolas", "bg_color": "#F1F4F7"}
_WRAPPED: Final[Style] = {**_PLAIN, "text_wrap": True}
# Source cells have the format Text, so that phone numbers and dates stay as typed. Some versions of Excel show a longer
# cell of that format as ####: those are plain.
_TEXT: Final[Style] = {**_PLAIN, "num_format": "@"}
TEXT_CELL_LIMIT: Final = 255
_HIGHLIGHTED: Final[Style] = {**_TEXT, "bg_color": "#F8D3C5", "border": 1, "border_color": "#D98E73"}
_WARNED: Final[Style] = {**_TEXT, "bg_color": "#FBEFC9", "border": 1, "border_color": "#D9B26F"}
_IMPORT_HEADER: Final[Style] = {**_HEADER, "bg_color": "#F3DFC1"}
_IMPORT: Final[Style] = {**_PLAIN, "bg_color": "#FDF8EF"}
_WRAPPED_IMPORT: Final[Style] = {**_IMPORT, "text_wrap": True}

_SUMMARY_WIDTHS: Final = (18, 11, 26, 54, 50, 34, 26)
_IMPORT_WIDTHS: Final = (11, 42, 17, 70, 55, 24)
_MIN_WIDTH, _MAX_WIDTH = 16, 32


class ReportWorkbook:
    """Writes rows in constant memory, with outcomes in any order. Raises OSError, also for its temporary files."""

    def __init__(self, staged: Path, facts: RunFacts) -> None:
        options = {
            "constant_memory": True,
            "tmpdir": str(staged),  # its temporary files contain personal data: not in a shared folder
            **dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False),
        }
        self._workbook: Any = xlsxwriter.Workbook(str(staged / WORKBOOK_FILE), options)
        self._facts = facts
        self._pages = _Pages(self._workbook)
        self._summary = self._workbook.add_worksheet(SUMMARY_SHEET)
        self._sheets: dict[OutcomeKind, _OutcomeSheet] = {}
        self._comments = iter(range(MOST_COMMENTS))
        created = facts.ended_at or facts.started_at
        # `sources.run_of_report` knows the run by this title.
        self._workbook.set_properties({"title": f"Import {facts.run}", "created": created.replace(tzinfo=None)})

    def add(self, reported: ReportedRow) -> None:
        """Write one row to the sheet of its outcome."""
        kind = reported.outcome.kind
        if kind not in self._sheets:
            sheet = self._workbook.add_worksheet(sheet_title(kind))
            self._sheets[kind] = _OutcomeSheet(sheet, self._pages, self._facts, kind, self._comments)
        self._sheets[kind].add(reported)

    def finish(self, summary: Summary, folder: Path) -> None:
        """Write the summary, and the file."""
        for sheet in self._sheets.values():
            sheet.finish()
        _SummarySheet(self._summary, self._pages).write(summary, folder)
        sheets = self._workbook.worksheets_objs  # in the order of their first rows
        order = [SUMMARY_SHEET, *map(sheet_title, OutcomeKind)]
        sheets.sort(key=lambda sheet: order.index(sheet.get_name()))
        for index, sheet in enumerate(sheets):
            sheet.index = index  # the filters refer to it
        try:
            self._workbook.close()
        except FileCreateError as error:
            raise error.args[0] from None  # the OSError that XlsxWriter wrapped

    def close(self) -> None:
        """Close the temporary files that are open if the workbook was not finished."""
        for sheet in self._workbook.worksheets():
            with suppress(OSError):  # closing fails on a full disk, but the file is deleted anyway
                sheet.row_data_fh.close()


class _Pages:
    """Writes texts in the formats of a workbook, each of which is created once."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._formats: dict[int, Any] = {}

    def format(self, style: Style) -> Any:
        if id(style) not in self._formats:  # the styles are constants
            self._formats[id(style)] = self._workbook.add_format(style)
        return self._formats[id(style)]

    def write(self, sheet: Any, row: int, column: int, text: str, style: Style) -> None:
        """Write the text into the cell (row and column from 0): never a formula, a number or a link.

        An empty text gets only the style. Text that is too long for a cell is cut, with a note; invalid Unicode is
        escaped.
        """
        text, used = truncated(text), self.format(style)
        if not text:
            sheet.write_blank(row, column, None, used)
        elif text.startswith("<r>") and text.endswith("</r>"):
            # XlsxWriter writes such a string as its own markup, which could break the workbook; not in two fragments.
            sheet.write_rich_string(row, column, used, text[:1], used, text[1:], used)
        else:
            sheet.write_string(row, column, text, used)


class _OutcomeSheet:
    """The rows of one outcome, the cells with problems highlighted; `finish` completes the table.

    comments: one item for each comment that the workbook may still have.
    """

    def __init__(self, sheet: Any, pages: _Pages, facts: RunFacts, kind: OutcomeKind, comments: Iterator[int]) -> None:
        self._sheet, self._pages, self._comments = sheet, pages, comments
        words = outcome_text(kind, dry_run=facts.dry_run)
        self._limit, self._csv_file = words.sheet_limit, csv_file(kind)
        sheet.set_tab_color(COLORS[words.color])
        self._rows = 0
        row, *others = facts.import_columns
        self._ours = ours = (row, CANDIDATE_COLUMN, *others)
        labels = distinct_labels(facts.columns)
        self._first = len(ours)  # the index of the first column of the source
        self._last = len(ours) + len(labels) - 1
        of_source = [min(max(len(label) + 3, _MIN_WIDTH), _MAX_WIDTH) for label in labels]  # + 3: the filter's button
        for index, width in enumerate((*_IMPORT_WIDTHS[: self._first], *of_source)):
            # Also what is typed into a blank cell stays as it is typed.
            sheet.set_column(index, index, width, pages.format(_TEXT) if index >= self._first else None)
        email, name = facts.identity or ((), ())
        self._candidate = tuple(dict.fromkeys((*name, *email)))
        for index, title in enumerate((*ours, *labels)):
            pages.write(sheet, 0, index, title, _IMPORT_HEADER if index < self._first else _HEADER)

    def add(self, reported: ReportedRow) -> None:
        """Write one row, or only count it if the sheet is full."""
        self._rows += 1
        if self._rows > self._limit:
            return
        row, cells, write = self._rows, reported.row.cells, self._pages.write
        candidate = ", ".join(filter(None, (cells[index] for index in self._candidate)))
        texts = {CANDIDATE_COLUMN: candidate, **reported.import_cells}
        for index, name in enumerate(self._ours):
            write(self._sheet, row, index, texts[name], _WRAPPED_IMPORT if index in (3, 4) else _IMPORT)
        highlighted = reported.highlighted_cells()
        for index, text in enumerate(cells):
            if found := highlighted.get(index):
                self._write_problem(row, self._first + index, text, found)
            elif text:
                write(self._sheet, row, self._first + index, text, _TEXT if len(text) <= TEXT_CELL_LIMIT else _PLAIN)

    def _write_problem(self, row: int, column: int, text: str, problems: list[Problem]) -> None:
        is_warning = all(problem.severity == "warning" for problem in problems)
        self._pages.write(self._sheet, row, column, text, _WARNED if is_warning else _HIGHLIGHTED)
        if next(self._comments, None) is not None:
            comment = "\n".join(f"{problem.message}\n{problem.hint}".strip() for problem in problems)
            options = {"author": "importer", "x_scale": 2.0, "y_scale": 1.2}
            self._sheet.write_comment(row, column, comment[:_LONGEST_COMMENT], options)

    def finish(self) -> None:
        """Set the filter, frozen rows and how it is printed, and note if rows are left out."""
        sheet, written = self._sheet, min(self._rows, self._limit)
        sheet.freeze_panes(1, 2)  # the row and the candidate stay visible beside the source's columns
        sheet.autofilter(0, 0, written, self._last)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.repeat_rows(0)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{written + 1}"})
        if self._rows > written:
            note = f"Only the first {written:,} rows are shown here; {self._csv_file} has all rows."
            self._pages.write(sheet, written + 1, 0, note, _FAINT)


class _SummarySheet:
    """Writes the sheet Summary from top to bottom."""

    def __init__(self, sheet: Any, pages: _Pages) -> None:
        self._sheet, self._pages, self._row = sheet, pages, 0

    def _line(self, *cells: tuple[str | int, Style], link: str = "") -> None:
        """A line with a text or number in each column. link: the target of the first cell."""
        if link:
            self._sheet.write_url(self._row, 0, link)
        for column, (value, style) in enumerate(cells):
            if isinstance(value, int):
                self._sheet.write_number(self._row, column, value, self._pages.format(style))
            elif value or style is not _PLAIN:
                self._pages.write(self._sheet, self._row, column, value, style)
        self._row += 1

    def _section(self, title: str, *header: str) -> None:
        self._row += 1
        self._line((title, _SECTION), *[("", _SECTION)] * (len(_SUMMARY_WIDTHS) - 1))
        if header:
            self._line(*((each, _HEADER) for each in header))

    def write(self, summary: Summary, folder: Path) -> None:
        """Write all lines; `folder`: the results folder as it appears in commands."""
        for column, width in enumerate(_SUMMARY_WIDTHS):
            self._sheet.set_column(column, column, width)
        self._sheet.hide_gridlines(2)
        self._sheet.set_landscape()
        self._sheet.fit_to_pages(1, 0)
        self._sheet.set_row(0, 24)
        self._line((title_of(summary), _TITLE))
        self._line((headline(summary), _PLAIN))
        if summary.stopped:
            self._line((f"Why: {summary.stopped.reason}", _PLAIN))
        self._section("What to do next")
        for number, step in enumerate(next_steps(summary, folder), start=1):
            self._line((f"{number}. {step.text}", _PLAIN))
            for command in step.commands:
                self._line((f"     {command}", _COMMAND))
        self._groups("What to fix", summary, summary.to_fix)
        self._section("Outcomes", "Outcome", "Rows", "Meaning", "", "What to do", "", "")
        for kind, count in summary.outcomes.items():
            words = summary.words(kind)
            style, link = (_PLAIN if count else _FAINT), ""
            cells = (words.meaning, style), ("", _PLAIN), (words.next_step if count else "", _PLAIN)
            if count and csv_file(kind) in summary.files:  # not of the rows of a check that are ready
                style, link = _LINK, f"internal:'{sheet_title(kind)}'!A1"
            self._line((words.label, style), (count, _NUMBER), *cells, link=link)
        self._line(("total", _BOLD), (summary.source.rows or 0, _NUMBER))
        self._groups("Warnings", summary, summary.warned, summary.warnings)
        self._groups("Notes", summary, summary.notes)
        self._section("Run details")
        for label, text in run_details(summary).items():
            self._line((label, _FAINT), (text, _PLAIN))

    def _groups(self, title: str, summary: Summary, groups: list[ProblemGroup], texts: Sequence[str] = ()) -> None:
        if groups or texts:
            self._section(title)
        if groups:
            header = ("Outcome", "Rows", "Column", "Problem (example)", "What to do", "Where", "Code")
            self._line(*((each, _HEADER) for each in header))
        for group in groups:
            wrapped = (group.column or "", group.what, group.hint, group.where, group.code)
            label = summary.words(group.outcome).label
            link = f"internal:'{sheet_title(group.outcome)}'!A1"
            self._line((label, _LINK), (group.count, _NUMBER), *((text, _WRAPPED) for text in wrapped), link=link)
        for text in texts:
            self._line((text, _PLAIN))
