"""What to do until every row is complete: the steps, and the commands for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from importer.models import OutcomeKind
from importer.problems import UnusableInput
from importer.report.outcomes import EDITS_FILE, csv_file
from importer.report.summary import Summary
from importer.text.terminal import command_line

FIXED_BY_A_PERSON: Final = (OutcomeKind.INVALID, OutcomeKind.REJECTED)
_FIXED_BY_RUNNING_AGAIN: Final = (OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED, OutcomeKind.NOT_SENT)
_NEARLY_ALL: Final = 0.8  # of the rows of a file
_FEW_CELLS: Final = 3  # are corrected one by one
_MANY_CELLS: Final = 10  # more than a person corrects one by one, or
_MANY: Final = 0.1  # of the rows of a file
_PROPOSED_FOR: Final = ("date-invalid", "not-an-option", "value-unknown", "yes-no-invalid")  # see suggest/mapping_edits
_DEFAULT_OUT: Final = Path("results")
_PIPED: Final = "standard input"  # the name of such a source; no file that can be imported has it
# Flags that fit only the file that was run, and those that resume does not need: its copies have them.
_OF_SOME_ROWS: Final = ("--rows", "--limit", "--resend-rejected")
_OF_THE_WHOLE_FILE: Final = ("--sheet", "--corrections", *_OF_SOME_ROWS)
_OF_RUN_ONLY: Final = (
    *_OF_THE_WHOLE_FILE,
    *("--sandbox", "--questions", "--faults", "--check-first", "--strict", "--no-personal-data"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """What to do, and the commands for it."""

    text: str
    commands: tuple[str, ...] = ()


def next_steps(summary: Summary, folder: Path) -> tuple[Step, ...]:
    """What to do until every row is complete, in order; `folder`: the results folder of the run."""
    steps = tuple(_steps(summary, folder))
    return steps or (Step("no action needed: every row is complete"),)


def _steps(summary: Summary, folder: Path) -> Iterator[Step]:
    again = _again(summary, folder)
    if summary.stopped:
        # The hint of a stop says how to continue.
        yield Step(summary.stopped.hint, again)
    elif not summary.finished:
        if summary.dry_run:
            yield Step("run the check again", (_of_file("check", summary.source.file, summary, folder),))
        else:
            text = "if it is no longer running, it was killed: continue it; completed rows are skipped"
            yield Step(text, (_resume(summary, folder),))
        return
    yield from _steps_in_mapping(summary, folder)
    to_fix = [kind for kind in FIXED_BY_A_PERSON if summary.outcomes[kind]]
    if to_fix:
        files = [csv_file(kind) for kind in to_fix]
        commands = tuple(_of_file("run", folder / name, summary, folder, without=_OF_THE_WHOLE_FILE) for name in files)
        what = "it" if len(files) == 1 else "them"
        beside = [name for name in summary.files if name.count(".") > 1 and name.endswith(".csv")]
        entries = f" (their entries are in {' and '.join(beside)})" if beside else ""
        yield Step(f"fix the rows in {' and '.join(files)}{entries}, then import {what}", commands)
    # The cells that are named are in the source: who fixes them there needs the command for it, not for a results file.
    taken = summary.source.taken
    source = (taken.file if taken else summary.source.file) if to_fix and _repeats_file(summary) else ""
    if summary.dry_run:
        if summary.exit_code == UnusableInput.exit_code:
            yield Step("correct what the warnings name: with --strict, nothing is sent before that")
        elif summary.outcomes[OutcomeKind.NOT_SENT]:
            sends = "send (to the sandbox)" if summary.sandbox else "send"
            fixed = f", and those that you fix in {source}" if source else ""
            yield Step(f"{sends} the rows that are ready{fixed}; invalid rows are skipped", again)
        elif source:
            yield Step(f"or fix the rows in {source}, then import it", again)
    elif not summary.stopped:
        if summary.rows_of(*_FIXED_BY_RUNNING_AGAIN):
            fixed = f", also after fixing rows in {source}" if source else ""
            yield Step(f"run the same command again{fixed}; completed rows are skipped", again)
        elif source:
            yield Step(f"or fix the rows in {source}, then import it again; completed rows are skipped", again)
    if any(group.is_warning and group.outcome is OutcomeKind.CREATED for group in summary.problems):
        yield Step(f"check the rows with a warning in {csv_file(OutcomeKind.CREATED)}")
    if summary.sandbox:
        yield Step("this run used the sandbox; to import the file, run it without --sandbox")


def _steps_in_mapping(summary: Summary, folder: Path) -> Iterator[Step]:
    """What to change in the mapping first: the changes that are proposed, if they concern many rows; or the one line,
    if nearly all rows have one problem that a change there would solve.
    """
    file = folder / "source.csv" if summary.source.file == _PIPED else summary.source.file
    again = _of_source("check" if summary.dry_run else "run", file, summary, folder)
    unread = sum(group.count for group in summary.problems if group.is_to_fix and group.code in _PROPOSED_FOR)
    if EDITS_FILE in summary.files and unread >= max(_FEW_CELLS, min(_MANY_CELLS, _MANY * (summary.source.rows or 0))):
        text = f"make the changes of {folder / EDITS_FILE} in {summary.mapping}, then run this again"
        yield Step(text, again)
        return
    for group in summary.problems:
        line = re.search(rf"{re.escape(summary.mapping)}:\d+", group.hint)
        if line and group.is_to_fix and group.count >= _NEARLY_ALL * (summary.source.rows or 0):
            cells = f"{group.count:,} {f'cells of {group.column}' if group.column else 'rows'}"
            text = f"correct {line[0]} first: {cells} have one problem [{group.code}]; then run this again"
            yield Step(text, again)
            return


def _again(summary: Summary, folder: Path) -> tuple[str, ...]:
    """The commands that continue a run, or send what was checked. A file that was piped in exists only as a copy."""
    if _repeats_file(summary):
        return _of_source("run", summary.source.file, summary, folder)
    return (_of_file("run", folder / "source.csv", summary, folder) if summary.dry_run else _resume(summary, folder),)


def _of_source(command: str, file: str | Path, summary: Summary, folder: Path) -> tuple[str, ...]:
    """The commands for the whole source. An inbox imports what it has moved: then it knows how the file ended."""
    taken = summary.source.taken
    return taken.commands if taken is not None else (_of_file(command, file, summary, folder),)


def _repeats_file(summary: Summary) -> bool:
    """Whether the run is continued by importing its file again, so that what was fixed in it since is read."""
    is_part = "." in summary.run
    return summary.source.file != _PIPED and (summary.dry_run or not (is_part or summary.continues))


def _resume(summary: Summary, folder: Path) -> str:
    return command_line("resume", summary.run, flags=_flags(summary, folder, without=_OF_RUN_ONLY))


def _of_file(command: str, file: str | Path, summary: Summary, folder: Path, without: Collection[str] = ()) -> str:
    flags = _flags(summary, folder, without=without)
    return command_line(command, Path(file), "--mapping", Path(summary.mapping), flags=flags)


def _flags(summary: Summary, folder: Path, *, without: Collection[str]) -> dict[str, str]:
    """The flags of the run's command, and its results folder: another one has another ledger."""
    flags = {**({"--sandbox": ""} if summary.sandbox else {}), **summary.flags}
    if "--out" in flags or folder.parent != _DEFAULT_OUT:
        flags = {"--out": str(folder.parent), **{flag: value for flag, value in flags.items() if flag != "--out"}}
    return {flag: value for flag, value in flags.items() if flag not in without}


def import_command(file: Path, summary: Summary, folder: Path, *, is_copy: bool = False, sheet: str = "") -> str:
    """The command that imports another file as the run of this summary did; `folder`: the results folder of the run.

    is_copy: the file is a copy of the source, with its sheets and its corrections; otherwise a results file. sheet:
    which one of it.
    """
    if sheet:
        summary = replace(summary, flags={**summary.flags, "--sheet": sheet})
    without = (*_OF_SOME_ROWS, "--corrections") if is_copy or sheet else _OF_THE_WHOLE_FILE
    return _of_file("run", file, summary, folder, without=without)


# --- a source over all its runs ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Copy:
    """Another file with rows of a source, and how a run imported it: its mapping and flags."""

    file: Path
    mapping: str
    flags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OpenRows:
    """Where the rows of a source are that are still to be done: copies and in_source: the files whose cells the
    problems name; results: the results files; runs: those of corrected rows that are to be continued.
    """

    copies: tuple[Copy, ...]
    in_source: bool
    results: tuple[Path, ...]
    runs: tuple[str, ...]


def steps_of_source(summary: Summary, folder: Path, file: Path, rows: OpenRows) -> list[Step]:
    """What to do until every row of a source is complete, over all its runs. folder: of its last run."""
    steps = []
    if rows.runs:
        flags = _flags(summary, folder, without=_OF_RUN_ONLY)
        continued = tuple(command_line("resume", run, flags=flags) for run in rows.runs)
        steps.append(Step("continue the import of corrected rows; completed rows are skipped", continued))
    again = _of_file("run", file, summary, folder, without=_OF_SOME_ROWS)
    if rows.copies or rows.in_source:
        commands = [
            _of_file("run", one.file, replace(summary, mapping=one.mapping, flags=one.flags), folder, _OF_SOME_ROWS)
            for one in rows.copies
        ]
        commands += [again] if rows.in_source else []
        them = "it" if len(commands) == 1 else "those that you changed"
        text = f"fix the cells that are named above, each in its file; then import {them}: completed rows are skipped"
        steps.append(Step(text, tuple(commands)))
    if rows.results:
        commands = [_of_file("run", each, summary, folder, without=_OF_THE_WHOLE_FILE) for each in rows.results]
        instead = "or " if steps else ""
        them = "it" if len(commands) == 1 else "them"
        names = " and ".join(dict.fromkeys(each.name for each in rows.results))
        steps.append(Step(f"{instead}fix the rows in {names}, then import {them}", tuple(commands)))
    if not rows.in_source and (rows.results or summary.rows_of(*_FIXED_BY_RUNNING_AGAIN)):
        steps.append(Step(f"import {file} again; completed rows are skipped", (again,)))
    return steps or [Step("no action needed: every row is complete")]
