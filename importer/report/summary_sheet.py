"""The sheet Summary of report.xlsx: what happened, in words, for a person who was not there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from importer.models import NOT_GOOD, OutcomeKind
from importer.report.cells import Styles, row_height, write_text
from importer.report.outcomes import sheet_title, words_for
from importer.report.summary import ProblemGroup, Summary
from importer.report.text import Step, headline, next_steps

_WIDTHS = (18, 11, 26, 62, 58, 34)


def write_summary_sheet(sheet: Any, styles: Styles, summary: Summary, folder: Path) -> None:
    """Write the whole sheet, from top to bottom; `folder` is the results folder as commands are to name it."""
    for index, width in enumerate(_WIDTHS):
        sheet.set_column(index, index, width)
    sheet.hide_gridlines(2)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    page = _Page(sheet, styles)
    _opening(page, summary)
    _outcomes(page, summary)
    _next_steps(page, next_steps(summary, folder))
    _problems(page, summary)
    _warnings(page, summary)
    _particulars(page, summary)


@dataclass(slots=True)
class _Page:
    """Where on the sheet the writing has come to."""

    sheet: Any
    styles: Styles
    row: int = 0

    def text(self, column: int, text: str, style: Any) -> None:
        write_text(self.sheet, self.row, column, text, style)

    def number(self, column: int, number: int, style: Any) -> None:
        self.sheet.write_number(self.row, column, number, style)

    def next(self) -> None:
        self.row += 1

    def height(self, points: float) -> None:
        """Set the height of this row, before anything is written into it."""
        self.sheet.set_row(self.row, points)

    def line(self, text: str, style: Any) -> None:
        """A line of its own, running on over the columns beside it."""
        self.text(0, text, style)
        self.next()

    def section(self, title: str) -> None:
        self.next()
        for column in range(len(_WIDTHS)):
            self.text(column, title if column == 0 else "", self.styles.section)
        self.next()

    def header(self, *titles: str) -> None:
        for column, title in enumerate(titles):
            self.text(column, title, self.styles.header)
        self.next()


def _opening(page: _Page, summary: Summary) -> None:
    into = summary.target_title or str(summary.target)
    page.height(24)
    page.line(f"Import of {PurePath(summary.source.file).name} into {into}", page.styles.title)
    page.line(headline(summary), page.styles.headline)
    if summary.stopped:
        page.line(f"Why: {summary.stopped.reason}", page.styles.headline)
    if summary.sandbox:
        page.line("A rehearsal with the sandbox: the real service was not touched", page.styles.headline)


def _outcomes(page: _Page, summary: Summary) -> None:
    page.section("What became of the rows")
    page.header("Outcome", "Rows", "What it means", "", "What to do next", "")
    for kind in OutcomeKind:
        _outcome(page, summary, kind)
    page.text(0, "in all", page.styles.total_label)
    page.number(1, summary.source.rows or 0, page.styles.total)
    page.next()


def _outcome(page: _Page, summary: Summary, kind: OutcomeKind) -> None:
    styles, count = page.styles, summary.outcomes[kind]
    words = words_for(kind, dry_run=summary.dry_run)
    if count:
        page.sheet.write_url(page.row, 0, f"internal:'{sheet_title(kind)}'!A1", styles.link, words.label)
    else:
        page.text(0, words.label, styles.faint)
    page.number(1, count, styles.number if count else styles.faint_number)
    page.text(2, words.meaning, styles.long if count else styles.faint)
    page.text(4, words.next_step if count else "", styles.long)
    page.next()


def _next_steps(page: _Page, steps: Iterable[Step]) -> None:
    page.section("What to do next")
    for number, step in enumerate(steps, start=1):
        page.line(f"{number}. {step.text}", page.styles.long)
        for command in step.commands:
            page.line(f"     {command}", page.styles.command)


def _problems(page: _Page, summary: Summary) -> None:
    if not summary.problems:
        return
    page.section("Problems: what to fix, then what is good to know")
    page.line(
        "the cells to mend are coloured in the sheets; what is wrong with a row is in the last columns of its sheet",
        page.styles.note,
    )
    page.header("Outcome", "Rows", "Column", "Problem (the first of them)", "What to do", "Where")
    for group in sorted(summary.problems, key=lambda group: group.outcome not in NOT_GOOD):
        texts = {2: group.column or "", 3: group.what, 4: group.hint, 5: _where(group)}
        page.height(row_height({text: _WIDTHS[column] for column, text in texts.items()}))
        page.text(0, words_for(group.outcome).label, page.styles.wrapped)
        page.number(1, group.count, page.styles.number)
        for column, text in texts.items():
            page.text(column, text, page.styles.wrapped)
        page.next()


def _where(group: ProblemGroup) -> str:
    rest = group.count - len(group.places)
    return ", ".join(group.places) + (f" and {rest:,} more" if rest else "")


def _warnings(page: _Page, summary: Summary) -> None:
    if not summary.warnings:
        return
    page.section("Warnings")
    for warning in summary.warnings:
        page.line(warning, page.styles.long)


def _particulars(page: _Page, summary: Summary) -> None:
    page.section("How it was run")
    for label, text in _facts(summary).items():
        page.text(0, label, page.styles.label)
        page.text(1, text, page.styles.long)
        page.next()


def _facts(summary: Summary) -> dict[str, str]:
    """The particulars that are known, by their labels, in the order of the page."""
    source, requests = summary.source, summary.requests
    title = f" ({summary.target_title})" if summary.target_title else ""
    facts = {
        "Run": summary.run,
        "Target": f"{summary.target}{title}",
        "File": source.file,
        "Sheet": source.sheet or "",
        "How it was read": source.reading,
        "Blank rows": f"{source.blank_rows:,} passed over" if source.blank_rows else "",
        "SHA-256": source.sha256,
        "Mapping": summary.mapping,
        "Requests": f"{requests.sent:,} sent, {requests.retried:,} of them retries",
        "Started": _moment(summary.started_at),
        "Ended": _moment(summary.ended_at) if summary.ended_at else "",
    }
    return {label: text for label, text in facts.items() if text}


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} {moment.tzname() or ''}".rstrip()
