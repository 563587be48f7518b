"""The summary of a run as text: the headline, and all lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final

from importer.models import CREATED_EMAILS, NEEDS_ATTENTION, OutcomeKind
from importer.report.next_steps import OpenRows, Step, next_steps, steps_of_source
from importer.report.outcomes import PAGE_FILE, WORKBOOK_FILE, outcome_text
from importer.report.summary import ProblemGroup, Summary
from importer.text.terminal import WIDTH, on_one_line, wrapped

MOST_GROUPS: Final = 12
LARGEST_GROUPS: Final = 3  # at the end of a run
MOST_WARNINGS: Final = 6
_SHORT_GROUPS: Final = 5  # after these, in one line each
_FEW_MORE: Final = 2  # groups that are shown beyond the maximum rather than mentioned

_COUNT_WIDTH = 8
_INDENT = " " * (_COUNT_WIDTH + 2)
_LABEL_WIDTH = 16


def headline(summary: Summary) -> str:
    """`Finished: 300 rows read, 251 created, 30 already existed, 19 invalid`."""
    return f"{_ending(summary)}: {_counts(summary)}"


def _counts(summary: Summary) -> str:
    if summary.source.rows is None:
        return "rows are not counted yet"
    counts = [
        f"{summary.outcomes[kind]:,} {outcome_text(kind, dry_run=summary.dry_run).counted}"
        for kind in OutcomeKind
        if summary.outcomes[kind]
    ]
    return ", ".join([f"{_rows(summary.source.rows)} read", *counts])


def sandbox_note(summary: Summary) -> str:
    """What it means that a run used the sandbox."""
    if summary.dry_run:
        return "Checked against the questions of the sandbox, not of the real service"
    return "Sandbox run: nothing was sent to the real service"


def _rows(count: int) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def _ending(summary: Summary) -> str:
    if summary.stopped:
        return "Stopped early"
    if not summary.finished:
        return "Not finished"
    return "Dry run, nothing sent" if summary.dry_run else "Finished"


def summary_lines(
    summary: Summary, folder: Path, most_groups: int = MOST_GROUPS, details: Sequence[str] = ()
) -> list[str]:
    """The lines to show after a run, at most 80 columns wide except for paths and commands.

    folder: the results folder as it is shown. most_groups: the maximum of groups of problems. details: lines that are
    shown before the next steps. Control characters in cells and responses are replaced.
    """
    parts = [
        _opening(summary),
        _outcomes(summary),
        _problems_to_fix(summary, most_groups),
        warning_lines([group for group in summary.problems if group.is_warning], summary.warnings),
        _problems("Notes", [group for group in summary.problems if _is_note(group, summary)], most_groups),
        _requests(summary),
        _report(summary, folder),
        details,
        _next(next_steps(summary, folder)),
    ]
    return _with_blank_lines(parts)


def status_lines(summary: Summary, folder: Path, file: Path, rows: OpenRows) -> list[str]:
    """The lines about a source over all its runs. folder: of its last run."""
    is_open = (*NEEDS_ATTENTION, OutcomeKind.NOT_SENT)
    parts = [
        _outcomes(summary),
        _problems("Still to be done", [group for group in summary.problems if group.outcome in is_open], MOST_GROUPS),
        _next(steps_of_source(summary, folder, file, rows)),
    ]
    return _with_blank_lines(parts)


def attention_lines(summary: Summary, folder: Path) -> list[str]:
    """What needs a person: the largest problems and, unless that is not in the report, what to do.

    The parameters are those of `summary_lines`.
    """
    return _with_blank_lines(
        [
            _opening(summary),
            _problems_to_fix(summary, LARGEST_GROUPS),
            _report(summary, folder),
            _next(next_steps(summary, folder)) if summary.exit_code != 0 else (),
        ]
    )


def subject_line(summary: Summary) -> str:
    """The result in one line, such as for the subject of a mail: `importer: needs attention: a.csv: 9 rows, ...`."""
    if summary.stopped or not summary.finished:
        state = "stopped early"
    else:
        state = "needs attention" if summary.exit_code else "complete"
    return on_one_line(f"importer: {state}: {PurePath(summary.source.file).name}: {_counts(summary)}")


def _with_blank_lines(parts: Iterable[Iterable[str]]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        block = list(part)
        if block:
            lines += ["", *block] if lines else block
    return lines


def _opening(summary: Summary) -> Iterator[str]:
    yield from wrapped(headline(summary))
    if summary.stopped:
        yield from wrapped(summary.stopped.reason, "Why: ", " " * 5)
    if summary.sandbox:
        yield from wrapped(sandbox_note(summary))


def _outcomes(summary: Summary) -> Iterator[str]:
    if not summary.source.rows:
        return
    for kind in OutcomeKind:
        if summary.outcomes[kind]:
            words = outcome_text(kind, dry_run=summary.dry_run)
            yield f"{summary.outcomes[kind]:>{_COUNT_WIDTH},}  {words.label:<{_LABEL_WIDTH}}  {words.meaning}"
    yield f"{summary.source.rows:>{_COUNT_WIDTH},}  total"


def _is_note(group: ProblemGroup, summary: Summary) -> bool:
    """Whether the group is neither a problem to fix, a warning, the reason of a stop, nor a list of addresses."""
    in_reason = summary.stopped is not None and group.outcome is OutcomeKind.NOT_SENT
    is_shown = group.is_to_fix or group.is_warning or in_reason
    return not is_shown and group.code != CREATED_EMAILS


def _problems_to_fix(summary: Summary, most: int) -> Iterator[str]:
    return _problems("What to fix", [group for group in summary.problems if group.is_to_fix], most)


def _problems(title: str, groups: list[ProblemGroup], most: int) -> Iterator[str]:
    if groups:
        yield title
    whole = _shown_of(len(groups), most)
    for group in groups[:whole]:
        yield from group_lines(group)
    short = _shown_of(len(groups) - whole, _SHORT_GROUPS)
    for group in groups[whole : whole + short]:
        line = on_one_line(f"{_title(group)}, {group.places[0]}: {group.what}")
        room = WIDTH - len(_INDENT)
        yield f"{group.count:>{_COUNT_WIDTH},}  {line if len(line) <= room else line[: room - 1] + '…'}"
    if len(groups) > whole:
        more = len(groups) - whole - short
        yield f"... {f'and {more:,} more; ' if more else ''}details are in {PAGE_FILE} and {WORKBOOK_FILE}"


def _shown_of(count: int, most: int) -> int:
    return count if count <= most + _FEW_MORE else most


def group_lines(group: ProblemGroup) -> Iterator[str]:
    """The lines of a group of problems, at most 80 columns wide."""
    yield from wrapped(_title(group), f"{group.count:>{_COUNT_WIDTH},}  ", _INDENT)
    first, *others = group.places
    yield from wrapped(f"{first}: {group.what}", _INDENT, _INDENT)
    if group.hint:
        yield from wrapped(group.hint, f"{_INDENT}-> ", f"{_INDENT}   ")
    if others:
        yield from wrapped(_more_places(others, group.count), _INDENT, _INDENT)


def _title(group: ProblemGroup) -> str:
    if group.is_warning and group.column:  # which outcome its rows have does not matter
        return f"{group.column} [{group.code}]"
    label = outcome_text(group.outcome).label
    return f"{label}: {group.column} [{group.code}]" if group.column else f"{label} [{group.code}]"


def _more_places(others: list[str], count: int) -> str:
    rest = count - len(others) - 1
    listed = f"also {', '.join(others)}"
    return f"{listed} and {rest:,} more" if rest else listed


def warning_lines(groups: Sequence[ProblemGroup], of_file: Sequence[str]) -> Iterator[str]:
    """The lines of the warnings about rows, then of those about the file as a whole."""
    if groups or of_file:
        yield "Warnings"
    for group in groups[:MOST_WARNINGS]:
        yield from group_lines(group)
    for warning in of_file[:MOST_WARNINGS]:
        yield from wrapped(warning, "  - ", "    ")
    more = max(len(groups) - MOST_WARNINGS, 0) + max(len(of_file) - MOST_WARNINGS, 0)
    if more:
        yield f"... and {more:,} more in {WORKBOOK_FILE}"


def _requests(summary: Summary) -> Iterator[str]:
    sent, retried = summary.requests.sent, summary.requests.retried
    if sent:
        yield f"Requests: {sent:,} sent{f', {retried:,} of them retries' if retried else ''}"
    elif summary.source.rows is not None and not summary.dry_run:
        yield "Requests: none sent"


def _report(summary: Summary, folder: Path) -> Iterator[str]:
    for title, name in (("Report:", PAGE_FILE), ("       ", WORKBOOK_FILE)):
        if name in summary.files:
            yield f"{title} {on_one_line(str(folder / name))}"


def _next(steps: Iterable[Step]) -> Iterator[str]:
    yield "What to do next"
    for number, step in enumerate(steps, start=1):
        yield from wrapped(step.text, f"  {number}. ", "     ")
        for command in step.commands:
            yield f"     {on_one_line(command)}"
