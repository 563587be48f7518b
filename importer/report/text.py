"""The summary of a run as text: one sentence, one screen of a terminal, or everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from math import ceil
from pathlib import Path, PurePath
from typing import Final

from importer.models import IMPORTED_WITH_OTHER_DATA, IN_SERVICE, TO_FIX, OutcomeKind
from importer.report.next_steps import Step, next_steps
from importer.report.outcomes import PAGE_FILE, WORKBOOK_FILE
from importer.report.summary import ProblemGroup, Summary
from importer.text.dates import in_words
from importer.text.terminal import HEIGHT, WIDTH, clipped, on_one_line, wrapped

MARKED: Final = "marked 'please check'"  # in the warning of a mapping that nobody has reviewed

_LARGEST_GROUPS: Final = 3  # of a screen
_AGAIN: Final = (OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED)


def headline(summary: Summary) -> str:
    """`Finished: 281 of 300 rows imported, 19 to fix`."""
    return f"{_ending(summary)}: {_counts(summary)}"


def _ending(summary: Summary) -> str:
    if summary.dry_run and summary.finished and not summary.stopped:
        return f"Checked{' with the questions of the sandbox' if summary.sandbox else ''}, nothing sent"
    state = "Stopped early" if summary.stopped else "Finished" if summary.finished else "Not finished"
    return f"{state}{' in the sandbox' if summary.sandbox else ''}"


def _counts(summary: Summary) -> str:
    rows, count = summary.source.rows, summary.rows_of
    if rows is None:
        return "rows are not counted yet"
    main = count(OutcomeKind.NOT_SENT) if summary.dry_run else count(*IN_SERVICE)
    others = [
        (count(*TO_FIX), "to fix"),
        (count(*_AGAIN), "to send again"),
        (0 if summary.dry_run else count(OutcomeKind.NOT_SENT), "not sent"),
        (count(*IN_SERVICE) if summary.dry_run else 0, "already imported"),
        (count(OutcomeKind.FILTERED), "filtered"),
    ]
    first = f"{main:,} of {rows:,} row{'' if rows == 1 else 's'} {'ready' if summary.dry_run else 'imported'}"
    return ", ".join([first, *(f"{number:,} {words}" for number, words in others if number)])


def subject_line(summary: Summary) -> str:
    """The result in one line, such as for the subject of a mail: `importer: complete: a.csv: 9 of 9 rows imported`."""
    if summary.stopped or not summary.finished:
        state = "stopped early"
    else:
        state = "needs attention" if summary.exit_code else "complete"
    return on_one_line(f"importer: {state}: {PurePath(summary.source.file).name}: {_counts(summary)}")


def summary_lines(
    summary: Summary,
    folder: Path,
    *,
    title: str = "",
    steps: Sequence[Step] | None = None,
    is_verbose: bool = False,
    with_repeated: bool = True,
    all_in: str = "the report has all",
) -> list[str]:
    """The last screen of a run, 80 columns and 24 lines with the prompt; or everything.

    folder: the results folder as it is shown. title: what the summary is of. steps: what to do, if it is not of one
    run. with_repeated: show the command that was given too, where it is to be repeated. all_in: where all causes are.
    Control characters are escaped.
    """
    opening = [*(wrapped(title, others="  ") if title else []), *wrapped(headline(summary))]
    if summary.stopped:
        opening += clipped(summary.stopped.reason, "Why: ", " " * 5, most=3)
    report = [f"Report: {on_one_line(str(folder / PAGE_FILE))} (and {WORKBOOK_FILE})"]
    to_do = _next(steps or next_steps(summary, folder), with_repeated=with_repeated or is_verbose)
    first = _with_blank_lines([opening, _outcomes(summary)])
    last = [*(report if PAGE_FILE in summary.files else ()), *to_do]
    if is_verbose:
        return _with_blank_lines([first, *_everything(summary), last])
    # As many of the largest causes and of the warnings as there is room for.
    room = HEIGHT - _height(first) - _height(last) - 3  # the prompt, and two blank lines
    of_file = [text for text in summary.warnings if MARKED not in text]
    for_warnings = 1 if summary.warned or of_file else 0
    causes = problem_lines("What to fix", summary.to_fix, room=room - for_warnings, all_in=all_in)
    left, at_least = room - _height(causes), 0 if causes else 1
    warnings = problem_lines("Warnings", summary.warned, of_file, room=left, at_least=at_least, all_in=all_in)
    return _with_blank_lines([first, causes + warnings, last])


def _everything(summary: Summary) -> Iterator[Iterable[str]]:
    # The reason of a stop is shown above.
    is_shown = OutcomeKind.NOT_SENT if summary.stopped else None
    notes = [group for group in summary.notes if group.outcome is not is_shown]
    yield problem_lines("What to fix", summary.to_fix)
    yield problem_lines("Warnings", summary.warned, summary.warnings)
    yield problem_lines("Notes", notes)


def problem_lines(
    title: str,
    groups: Sequence[ProblemGroup],
    texts: Sequence[str] = (),
    *,
    room: int | None = None,
    at_least: int = 1,
    all_in: str = "the report has all",
) -> list[str]:
    """Groups of problems, then texts about the file as a whole, under a title that says how many there are.

    room: only the first three that fit into so many lines, each in four at most. at_least: how many, if none fits.
    all_in: where the others are.
    """
    broken = clipped if room is not None else wrapped
    blocks = [_block(group, is_whole=room is None) for group in groups]
    blocks += [broken(text, "  - ", "    ") for text in texts]
    shown, lines = 0, list[str]()
    for block in blocks if room is None else blocks[:_LARGEST_GROUPS]:
        if room is not None and 1 + _height([*lines, *block]) > room and shown >= at_least:
            break
        shown, lines = shown + 1, lines + block
    if not shown:
        return [f"{title}: {len(blocks)}; {all_in}"] if blocks else []
    noun = "" if texts else " causes"
    share = f" ({shown} of {len(blocks)}{noun}; {all_in})" if shown < len(blocks) else ""
    return [f"{title}{share}", *lines]


def _block(group: ProblemGroup, *, is_whole: bool) -> list[str]:
    """A group of problems: how many, one cell, the remedy; as a whole also more of its cells."""
    broken = wrapped if is_whole else clipped
    where = f"{group.column}, {group.places[0]}" if group.column else group.places[0]
    indent = " " * 8
    lines = broken(f"{where}: {group.what} [{group.code}]", f"{group.count:>6,}  ", indent)
    if group.hint:
        lines += broken(group.hint, f"{indent}-> ", f"{indent}   ")
    if is_whole and len(group.places) > 1:
        lines += wrapped(f"also {group.where.removeprefix(f'{group.places[0]}, ')}", indent, indent)
    return lines


def _height(lines: Iterable[str]) -> int:
    return sum(max(1, ceil(len(line) / WIDTH)) for line in lines)


def _with_blank_lines(parts: Iterable[Iterable[str]]) -> list[str]:
    blocks = (list(part) for part in parts)
    return [line for block in blocks if block for line in ("", *block)][1:]


def _outcomes(summary: Summary) -> Iterator[str]:
    """`     226 created                 5 already exists`, three in a line."""
    counts = [
        f"{count:>8,} {summary.words(kind).label:<17}" for kind in OutcomeKind if (count := summary.outcomes[kind])
    ]
    for first in range(0, len(counts), 3):
        yield "".join(counts[first : first + 3]).rstrip()
    if other := sum(group.count for group in summary.problems if group.code == IMPORTED_WITH_OTHER_DATA):
        rows = "1 of these rows was" if other == 1 else f"{other:,} of these rows were"
        yield from wrapped(f"{rows} imported earlier with other data, and not updated", " " * 5, " " * 5)
    for text in summary.warnings:
        if MARKED in text:  # in the sandbox a warning, but the real service gets nothing
            yield from clipped(text, " " * 5, " " * 5)


def _next(steps: Sequence[Step], *, with_repeated: bool) -> Iterator[str]:
    yield "What to do next"
    for number, step in enumerate(steps, start=1):
        first = f"  {number}. " if len(steps) > 1 else "  "
        yield from wrapped(step.text, first, " " * len(first))
        for command in step.commands if with_repeated or not step.repeats else ():
            yield f"     {on_one_line(command)}"


def title_of(summary: Summary) -> str:
    """`Import of a.csv into job post 4f2c9a`."""
    file, target = PurePath(summary.source.file).name, summary.target
    return f"Check of {file} for {target}" if summary.dry_run else f"Import of {file} into {target}"


def run_details(summary: Summary) -> dict[str, str]:
    """The known details by their labels, in order."""
    source, ended, requests = summary.source, summary.ended_at, summary.requests
    seconds = max(0, round((ended - summary.started_at).total_seconds(), 1)) if ended else 0
    facts = {
        "Run": summary.run,
        "Target": str(summary.target),
        "File": source.file,
        "Sheet": source.sheet or "",
        "Read as": source.reading,
        "Blank rows": f"{source.blank_rows:,} skipped" if source.blank_rows else "",
        "SHA-256": source.sha256,
        "Mapping": summary.mapping,
        "Requests": f"{requests.sent:,} sent, {requests.retried:,} of them retries" if requests.sent else "none sent",
        "Started": moment(summary.started_at),
        "Ended": moment(ended) if ended else "",
        "Duration": in_words(seconds) if ended else "",
    }
    return {label: text for label, text in facts.items() if text}


def moment(at: datetime) -> str:
    """`2026-03-15 14:30:00 UTC`."""
    return f"{at:%Y-%m-%d %H:%M:%S} {at.tzname() or ''}".rstrip()
