"""The summary of a run as plain lines for a terminal of 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from importer.models import CREATED_EMAILS, OutcomeKind
from importer.report.headline import headline
from importer.report.names import WORKBOOK_FILE
from importer.report.next_steps import Step, next_steps
from importer.report.summary import ProblemGroup, Summary
from importer.report.words import OPEN, words_for
from importer.text.visible import visible

WIDTH: Final = 80
MOST_GROUPS: Final = 12
MOST_WARNINGS: Final = 6

_COUNT_WIDTH = 8
_BLANK = re.compile(r"[^\S ]")


def summary_lines(summary: Summary, folder: Path) -> list[str]:
    """What an operator wants to read after a run, at most 80 columns wide save for paths and commands.

    folder: the results folder of the run, as it is to be shown. The lines hold no control characters, whatever the
    cells and the service said.
    """
    parts = [
        _opening(summary),
        _outcomes(summary),
        _problems("What to fix", [group for group in summary.problems if group.outcome in OPEN]),
        _problems("Created, with a warning", [group for group in summary.problems if group.is_warning]),
        _problems("Good to know", [group for group in summary.problems if _worth_knowing(group, summary)]),
        _warnings(summary),
        _requests(summary),
        _report(summary, folder),
        _next(next_steps(summary, folder)),
    ]
    lines: list[str] = []
    for part in parts:
        block = list(part)
        if block:
            lines += ["", *block] if lines else block
    return lines


def _opening(summary: Summary) -> Iterator[str]:
    yield from _wrapped(headline(summary))
    if summary.stopped:
        yield from _wrapped(summary.stopped.reason, "Why: ", " " * 5)
    if summary.sandbox:
        yield from _wrapped("A rehearsal with the sandbox: the real service was not touched")


def _outcomes(summary: Summary) -> Iterator[str]:
    if not summary.source.rows:
        return
    for kind in OutcomeKind:
        if summary.outcomes[kind]:
            words = words_for(kind, dry_run=summary.dry_run)
            yield f"{summary.outcomes[kind]:>{_COUNT_WIDTH},}  {words.label:<13}  {words.meaning}"
    yield f"{summary.source.rows:>{_COUNT_WIDTH},}  in all"


def _worth_knowing(group: ProblemGroup, summary: Summary) -> bool:
    """What is neither to be fixed nor a warning nor said already by the reason of a stop, and holds no addresses."""
    said_already = summary.stopped is not None and group.outcome is OutcomeKind.NOT_SENT
    is_told = group.outcome in OPEN or group.is_warning or said_already
    return not is_told and group.code != CREATED_EMAILS


def _problems(title: str, groups: list[ProblemGroup]) -> Iterator[str]:
    if groups:
        yield title
    for group in groups[:MOST_GROUPS]:
        yield from _problem(group)
    if len(groups) > MOST_GROUPS:
        yield f"... and {len(groups) - MOST_GROUPS:,} more in {WORKBOOK_FILE}"


def _problem(group: ProblemGroup) -> Iterator[str]:
    label = words_for(group.outcome).label
    title = f"{label}: {group.column}" if group.column else label
    indent = " " * (_COUNT_WIDTH + 2)
    yield from _wrapped(title, f"{group.count:>{_COUNT_WIDTH},}  ", indent)
    first, *others = group.places
    yield from _wrapped(f"{first}: {group.what}", indent, indent)
    if group.hint:
        yield from _wrapped(group.hint, f"{indent}-> ", f"{indent}   ")
    if others:
        yield from _wrapped(_likewise(others, group.count), indent, indent)


def _likewise(others: list[str], count: int) -> str:
    rest = count - len(others) - 1
    listed = f"also {', '.join(others)}"
    return f"{listed} and {rest:,} more" if rest else listed


def _warnings(summary: Summary) -> Iterator[str]:
    if summary.warnings:
        yield "Warnings"
    for warning in summary.warnings[:MOST_WARNINGS]:
        yield from _wrapped(warning, "  - ", "    ")
    if len(summary.warnings) > MOST_WARNINGS:
        yield f"... and {len(summary.warnings) - MOST_WARNINGS:,} more in {WORKBOOK_FILE}"


def _requests(summary: Summary) -> Iterator[str]:
    sent, retried = summary.requests.sent, summary.requests.retried
    if sent:
        yield f"Requests: {sent:,} sent, {retried:,} of them retries"
    elif summary.source.rows is not None:
        yield f"Requests: none was sent for {'this row' if summary.source.rows == 1 else 'these rows'}"


def _report(summary: Summary, folder: Path) -> Iterator[str]:
    if WORKBOOK_FILE in summary.files:
        yield f"Report: {_printable(str(folder / WORKBOOK_FILE))}"


def _next(steps: Iterable[Step]) -> Iterator[str]:
    yield "What to do next"
    for number, step in enumerate(steps, start=1):
        yield from _wrapped(step.text, f"  {number}. ", "     ")
        for command in step.commands:
            yield f"     {_printable(command)}"


def _wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    return textwrap.wrap(
        _printable(text),
        WIDTH,
        initial_indent=_printable(first),
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]


def _printable(text: str) -> str:
    """On one line, and without what a terminal would obey: a cell or an answer could hold its control sequences."""
    return visible(_BLANK.sub(" ", text))
