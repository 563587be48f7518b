"""The lines of the sheet Summary of report.xlsx; `workbook` writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Final

from importer.models import NEEDS_ATTENTION, OutcomeKind
from importer.report.next_steps import FIXED_BY_A_PERSON, Step, import_command, next_steps
from importer.report.outcomes import WORKBOOK_FILE, outcome_text, sheet_link, sheet_title, sheet_titles
from importer.report.summary import ProblemGroup, Summary
from importer.report.text import headline, sandbox_note
from importer.text.dates import in_words

WIDTHS: Final = (18, 11, 26, 54, 50, 34, 26)
"""The widths of the columns, in characters."""


Style = Mapping[str, Any]
"""The format of a cell: properties for XlsxWriter."""

FAINT: Final = "#7B8794"
RULE: Final = "#CBD2D9"
PLAIN: Final[Style] = {"valign": "top", "font_color": "#1F2933"}
HEADER: Final[Style] = {
    **PLAIN,
    "bold": True,
    "bottom": 1,
    "bottom_color": RULE,
    "bg_color": "#E4E9EE",
    "text_wrap": True,
}
NOTE: Final[Style] = {**PLAIN, "italic": True, "font_color": FAINT}
WRAPPED: Final[Style] = {**PLAIN, "text_wrap": True}
_TITLE: Final[Style] = {**PLAIN, "bold": True, "font_size": 16}
_HEADLINE: Final[Style] = {**PLAIN, "font_size": 12}
_SECTION: Final[Style] = {**_HEADLINE, "bold": True, "bottom": 2, "bottom_color": "#8FA3B5"}
_FAINT: Final[Style] = {**PLAIN, "font_color": FAINT}
_NUMBER: Final[Style] = {**PLAIN, "num_format": "#,##0", "align": "right", "indent": 1}
_FAINT_NUMBER: Final[Style] = {**_NUMBER, "font_color": FAINT}
_TOTAL: Final[Style] = {**_NUMBER, "bold": True, "top": 1, "top_color": RULE}
_TOTAL_LABEL: Final[Style] = {**PLAIN, "bold": True, "top": 1, "top_color": RULE}
_LINK: Final[Style] = {**PLAIN, "font_color": "#2B6CB0", "underline": 1}
_COMMAND: Final[Style] = {**PLAIN, "font_name": "Consolas", "bg_color": "#F1F4F7"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a line: its column from 0, a text or a number, and the target of a link ("" for none)."""

    column: int
    value: str | int
    style: Style
    link: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the sheet. `height` in points; None: as high as its wrapped texts need."""

    cells: tuple[Cell, ...] = ()
    height: float | None = None


NthOf = Callable[[ProblemGroup], int]
"""Which one of the rows of its outcome, from 1, the first row of a group is."""


def summary_sheet(summary: Summary, folder: Path, nth: NthOf) -> Iterator[Line]:
    """All lines of the sheet; `folder`: the results folder as it appears in commands."""
    yield from _opening(summary)
    yield from _outcomes(summary)
    yield from _next_steps(next_steps(summary, folder))
    yield from _problems(summary, folder, nth)
    yield from _warnings(summary, nth)
    yield from _run_details(summary)


def _text(text: str, style: Style = PLAIN, height: float | None = None) -> Line:
    """A line with one text, which extends over the next columns."""
    return Line((Cell(0, text, style),), height)


def _section(title: str) -> Iterator[Line]:
    yield Line()
    yield Line(tuple(Cell(column, title if column == 0 else "", _SECTION) for column in range(len(WIDTHS))))


def _header(*titles: str) -> Line:
    return Line(tuple(Cell(column, title, HEADER) for column, title in enumerate(titles)))


def _opening(summary: Summary) -> Iterator[Line]:
    yield _text(title_of(summary), _TITLE, height=24)
    yield _text(headline(summary), _HEADLINE)
    if summary.stopped:
        yield _text(f"Why: {summary.stopped.reason}", _HEADLINE)
    if summary.sandbox:
        yield _text(sandbox_note(summary), _HEADLINE)


def title_of(summary: Summary) -> str:
    """`Import of a.csv into job post 4f2c9a`."""
    file, target = PurePath(summary.source.file).name, summary.target_title or summary.target
    return f"Check of {file} for {target}" if summary.dry_run else f"Import of {file} into {target}"


def _outcomes(summary: Summary) -> Iterator[Line]:
    yield from _section("Outcomes")
    yield _header("Outcome", "Rows", "Meaning", "", "What to do", "", "")
    for kind in OutcomeKind:
        yield _outcome(summary, kind)
    yield Line((Cell(0, "total", _TOTAL_LABEL), Cell(1, summary.source.rows or 0, _TOTAL)))


def _outcome(summary: Summary, kind: OutcomeKind) -> Line:
    count, words = summary.outcomes[kind], outcome_text(kind, dry_run=summary.dry_run)
    if not count:
        cells = (
            Cell(0, words.label, _FAINT),
            Cell(1, 0, _FAINT_NUMBER),
            Cell(2, words.meaning, _FAINT),
            Cell(4, "", PLAIN),
        )
    else:
        label = Cell(0, words.label, _LINK, link=f"internal:'{sheet_title(kind)}'!A1")
        cells = label, Cell(1, count, _NUMBER), Cell(2, words.meaning, PLAIN), Cell(4, words.next_step, PLAIN)
    return Line(cells)


def _next_steps(steps: Iterable[Step]) -> Iterator[Line]:
    yield from _section("What to do next")
    for number, step in enumerate(steps, start=1):
        yield _text(f"{number}. {step.text}")
        for command in step.commands:
            yield _text(f"     {command}", _COMMAND)


def _problems(summary: Summary, folder: Path, nth: NthOf) -> Iterator[Line]:
    to_fix = [group for group in summary.problems if group.is_to_fix]
    notes = [group for group in summary.problems if not group.is_to_fix and not group.is_warning]
    if to_fix or notes:
        yield from _section("What to fix, then notes" if to_fix and notes else "What to fix" if to_fix else "Notes")
        yield from _import_this_workbook(summary, folder)
        yield from _groups(summary, [*to_fix, *notes], nth)


def _import_this_workbook(summary: Summary, folder: Path) -> Iterator[Line]:
    """How its sheets with rows to fix are imported: the only one without its name, as a program finds it then."""
    to_fix = [title for kind in FIXED_BY_A_PERSON for title in sheet_titles(kind, summary.outcomes[kind])]
    if to_fix:
        is_only = sum(summary.outcomes[kind] > 0 for kind in NEEDS_ATTENTION) == len(to_fix) == 1
        text = "the cells to fix are highlighted in the sheets; you can fix them there and import this workbook"
        yield _text(f"{text}{'' if len(to_fix) == 1 else ', one sheet after the other'}:", NOTE)
        for title in to_fix:
            command = import_command(folder / WORKBOOK_FILE, summary, folder, sheet="" if is_only else title)
            yield _text(f"     {command}", _COMMAND)


def _groups(summary: Summary, groups: Iterable[ProblemGroup], nth: NthOf) -> Iterator[Line]:
    yield _header("Outcome", "Rows", "Column", "Problem (example)", "What to do", "Where", "Code")
    for group in groups:
        link = sheet_link(group.outcome, nth(group), dry_run=summary.dry_run)
        label = Cell(0, outcome_text(group.outcome).label, _LINK if link else PLAIN, link)
        texts = (group.column or "", group.what, group.hint, group.where, group.code)
        cells = (Cell(column, text, WRAPPED) for column, text in enumerate(texts, start=2))
        yield Line((label, Cell(1, group.count, _NUMBER), *cells))


def _warnings(summary: Summary, nth: NthOf) -> Iterator[Line]:
    of_rows = [group for group in summary.problems if group.is_warning]
    if of_rows or summary.warnings:
        yield from _section("Warnings")
    if of_rows:
        yield from _groups(summary, of_rows, nth)
    yield from map(_text, summary.warnings)


def _run_details(summary: Summary) -> Iterator[Line]:
    yield from _section("Run details")
    for label, text in run_details(summary).items():
        yield Line((Cell(0, label, _FAINT), Cell(1, text, PLAIN)))


def run_details(summary: Summary) -> dict[str, str]:
    """The known details by their labels, in order."""
    source, requests = summary.source, summary.requests
    title = f" ({summary.target_title})" if summary.target_title else ""
    facts = {
        "Run": summary.run,
        "Target": f"{summary.target}{title}",
        "File": source.file,
        "Sheet": source.sheet or "",
        "Read as": source.reading,
        "Blank rows": f"{source.blank_rows:,} skipped" if source.blank_rows else "",
        "SHA-256": source.sha256,
        "Mapping": summary.mapping,
        "Requests": f"{requests.sent:,} sent{f', {requests.retried:,} of them retries' if requests.retried else ''}",
        "Started": moment(summary.started_at),
        "Ended": moment(summary.ended_at) if summary.ended_at else "",
        "Duration": _duration(summary.started_at, summary.ended_at) if summary.ended_at else "",
    }
    return {label: text for label, text in facts.items() if text}


def _duration(start: datetime, end: datetime) -> str:
    return in_words(max(0, round((end - start).total_seconds(), 1)))


def moment(at: datetime) -> str:
    """`2026-03-15 14:30:00 UTC`."""
    return f"{at:%Y-%m-%d %H:%M:%S} {at.tzname() or ''}".rstrip()
