"""The page report.html: what happened, what to fix and why, for people who open no workbook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from importer.models import ManyTargets, OutcomeKind
from importer.problems import DamagedRun
from importer.report.accounting import ReportedRow
from importer.report.next_steps import next_steps
from importer.report.outcomes import PAGE_FILE, csv_file, outcome_text
from importer.report.problem_codes import GeneralTexts
from importer.report.summary import ProblemGroup, RunFacts, Summary, read_summary
from importer.report.text import headline, moment, run_details, title_of
from importer.text.normalize import visible

_MOST_CAUSES: Final = 100  # of a section; the workbook has all

_COLORS: Final = {
    OutcomeKind.CREATED: "good",
    OutcomeKind.ALREADY_EXISTS: "there",
    OutcomeKind.ALREADY_IMPORTED: "there",
    OutcomeKind.REJECTED: "wrong",
    OutcomeKind.INVALID: "wrong",
    OutcomeKind.FAILED: "open",
    OutcomeKind.UNCONFIRMED: "open",
    OutcomeKind.NOT_SENT: "idle",
    OutcomeKind.FILTERED: "idle",
}


class ReportPage:
    """Writes report.html from the summary; a ReportWriter."""

    files = (PAGE_FILE,)

    def __init__(self, staged: Path, facts: RunFacts) -> None:
        self._path = staged / PAGE_FILE
        self._with_personal_data = facts.personal_data

    def add(self, reported: ReportedRow) -> None:
        """The page shows no single row."""

    def finish(self, summary: Summary, folder: Path) -> None:
        """Write the page. Raises OSError."""
        text = page(summary, folder, with_personal_data=self._with_personal_data)
        self._path.write_text(text, "utf-8", errors="backslashreplace")  # a file name may not be UTF-8

    def close(self) -> None:
        """Nothing stays open."""


def page(summary: Summary, folder: Path, *, with_personal_data: bool = True) -> str:
    """The HTML of the page. folder: the results folder as it appears in commands.

    with_personal_data: show messages, which quote cells and responses; otherwise the general text of each code.
    """
    shown = summary if with_personal_data else GeneralTexts().summary(summary)
    environment = Environment(
        loader=PackageLoader(__package__, "."), autoescape=True, undefined=StrictUndefined, finalize=_shown
    )
    kinds = [kind for kind in OutcomeKind if summary.outcomes[kind]]
    return environment.get_template("report.html.j2").render(
        title=title_of(summary),
        sentence=headline(summary),
        kind="Check" if summary.dry_run else "Sandbox run" if summary.sandbox else "Run",
        when=moment(summary.started_at),
        stopped=shown.stopped,
        outcomes=[(kind, outcome_text(kind, dry_run=summary.dry_run), summary.outcomes[kind]) for kind in kinds],
        color=_COLORS,
        file_of=csv_file,
        with_personal_data=with_personal_data,
        total=summary.source.rows or 0,
        steps=next_steps(summary, folder),
        targets=list(_targets(summary, folder, with_links=with_personal_data)),
        sections=list(_sections(shown)),
        most=_MOST_CAUSES,
        label=lambda kind: outcome_text(kind, dry_run=summary.dry_run).label,
        details=run_details(summary),
    )


def _shown(value: Any) -> Any:
    """A text without control characters, which a cell or a response could contain."""
    return visible(value) if type(value) is str else value  # not of Markup, which is escaped already


@dataclass(frozen=True, slots=True)
class _TargetRow:
    title: str
    sentence: str
    link: str


def _targets(summary: Summary, folder: Path, *, with_links: bool) -> Iterator[_TargetRow]:
    """Of a run with several targets: each with its result, and the link to its own page; then the rows of none."""
    if not isinstance(summary.target, ManyTargets):
        return
    others: int | None = summary.source.rows or 0
    for one in summary.target.runs:
        try:
            part = read_summary(folder.parent / one.run)
        except DamagedRun:
            others = None  # not known
            yield _TargetRow(str(one.target), "nothing was sent, or its report is missing", "")
        else:
            rows = part.source.rows
            others = None if others is None or rows is None else others - rows
            title = f"{part.target_title} ({one.target})" if part.target_title else str(one.target)
            yield _TargetRow(title, headline(part), quote(f"../{one.run}/{PAGE_FILE}") if with_links else "")
    if others:
        yield _TargetRow("no target", f"{others:,} row{'' if others == 1 else 's'}, which no mapping takes", "")


@dataclass(frozen=True, slots=True)
class _Section:
    id: str
    title: str
    groups: list[ProblemGroup]
    texts: tuple[str, ...] = ()


def _sections(summary: Summary) -> Iterator[_Section]:
    notes = [group for group in summary.problems if not group.is_to_fix and not group.is_warning]
    yield _Section("fix", "What to fix", [group for group in summary.problems if group.is_to_fix])
    yield _Section("warnings", "Warnings", [one for one in summary.problems if one.is_warning], summary.warnings)
    yield _Section("notes", "Notes", notes)
