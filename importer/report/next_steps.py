"""What to do until every row is complete: the steps, at the terminal and on the page of `importer web`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from importer.models import (
    IMPORTED_WITH_OTHER_DATA,
    NEEDS_ATTENTION,
    ROUTE_UNKNOWN,
    SENT_AGAIN,
    TO_FIX,
    UNCONFIRMED_ELSEWHERE,
    OutcomeKind,
)
from importer.problems import UnusableInput
from importer.report.outcomes import WORKBOOK_FILE, csv_file
from importer.report.summary import ProblemGroup, Summary
from importer.text.terminal import command_line

_NEARLY_ALL: Final = 0.8  # of the rows of a file
_DEFAULT_OUT: Final = Path("results")
FROM_PYTHON: Final = "DataFrame"  # the name of a source that is no file
# Flags that fit only the file that was run, and those that resume does not need: its copies have them.
_OF_SOME_ROWS: Final = ("--rows", "--limit", "--resend-rejected")
_OF_RUN_ONLY: Final = (
    *("--mapping", "--sheet", "--part", *_OF_SOME_ROWS),
    *("--sandbox", "--questions", "--faults", "--strict"),
)

_OF_FILES: Final = ("document-missing", "document-unusable", "document-refused", "document-shared")
_OF_ROUTES: Final = {ROUTE_UNKNOWN, "group-incomplete"}  # what is right for them may be for another mapping
# The cells of such rows may be those of other columns; one of two rows of a person goes.
_FIXED_IN_FILE: Final = _OF_ROUTES | {"too-many-cells", "too-few-cells", "row-cut", "email-duplicate"}
_OF_DOCUMENTS: Final = ("--out", "--sandbox", "--questions", "--sheet")


@dataclass(frozen=True, slots=True)
class Step:
    """What to do: a sentence without its full stop, the commands for it, and where to click in `importer web`.

    repeats: the command is the one that was given, which a person at the terminal can recall.
    """

    text: str
    commands: tuple[str, ...] = ()
    click: str = ""
    repeats: bool = False


_NO_ACTION: Final = Step("No action needed: every row is complete")
_NO_ROWS: Final = Step("Check that this is the right file, and that its export is complete: it has no rows")


def next_steps(summary: Summary, folder: Path) -> tuple[Step, ...]:
    """What to do until every row is complete, in order; `folder`: the results folder of the run."""
    return tuple(_steps(summary, folder, (folder,))) or (_NO_ROWS if summary.source.rows == 0 else _NO_ACTION,)


def _steps(summary: Summary, folder: Path, reports: Sequence[Path], *, is_corrected: bool = False) -> Iterator[Step]:
    """`reports`: the folders of those with rows to fix; is_corrected: other rows were fixed in one before, so that the
    file of a person is not the one to fix.
    """
    is_corrected = is_corrected or any(group.code == "imported-corrected" for group in summary.problems)
    again, can_repeat = _again(summary, folder), _repeats_file(summary)
    if summary.stopped:  # the hint of a stop says how to continue
        hint = summary.stopped.hint
        yield Step(hint[:1].upper() + hint[1:], again, "Send rows again", can_repeat and not summary.dry_run)
    elif not summary.finished and summary.dry_run:
        yield Step("Run the check again", (_of_file("check", summary.source.file, summary, folder),), "Check", True)
        return
    elif not summary.finished:
        text = "If it is no longer running, it was killed: continue it; completed rows are skipped"
        is_of_folder = "--mapping" in summary.flags
        yield Step(text, again if is_of_folder else (_resume(summary, folder),), "Continue this run")
        return
    yield from _steps_in_mapping(summary, folder)
    yield from _steps_of_documents(summary, folder, again)
    to_fix = [kind for kind in TO_FIX if summary.outcomes[kind]]
    causes = {group.code for group in summary.to_fix}
    others = {group: name for group in summary.to_fix if (name := other_table(group))}
    if others:  # its rows are not in the report
        tables, own = " and ".join(dict.fromkeys(others.values())), can_repeat or summary.dry_run
        whole = again if own else (_of_file("run", summary.source.file, summary, folder),)
        yield Step(f"Fix {tables}, then run the same command again", whole, "Send rows again", own)
        causes = {group.code for group in summary.to_fix if group not in others}
        to_fix = to_fix if causes else []
    is_fixed_in_file = bool(causes) and causes <= _FIXED_IN_FILE
    # A run whose copies were removed has nothing that its report could be imported with.
    is_own = not reports or any(group.code == "forgotten" for group in summary.problems)
    if to_fix and is_fixed_in_file:
        if summary.continues or is_corrected:  # of one mapping; those of the other rows are not known here
            how = "and import it with its folder of mappings again" if causes & _OF_ROUTES else ""
            too = "repeat there what you corrected before, and import it"  # else it is sent as another row
            yield Step(f"Fix the rows in {summary.source.file}, {how or too}")
    elif to_fix and (not causes or causes - {*_OF_FILES, "document-without-id"}):
        if not is_own:
            yield _fix(reports)
        elif is_corrected or not can_repeat:
            before = " after you have corrected there what was corrected before" if is_corrected else ""
            yield Step(f"Fix the rows in your own file, and import it{before}: {summary.source.file}")
    # The cells that are named are in the source: who fixes them there imports it again.
    taken = summary.source.taken
    can_fix_source = to_fix and can_repeat and not is_corrected
    source = (taken.file if taken else summary.source.file) if can_fix_source else ""
    fix_them = "Fix the rows" if is_fixed_in_file or is_own else "Or fix them"
    if summary.dry_run:
        yield from _steps_after_check(summary, again, source, fix_them, is_told=bool(to_fix and summary.continues))
    elif not summary.stopped:
        yield from _steps_after_run(summary, again, source, fix_them)
    if any(group.is_warning and group.outcome is OutcomeKind.CREATED for group in summary.problems):
        yield Step(f"Check the rows with a warning in {csv_file(OutcomeKind.CREATED)}")
    if summary.count_of(IMPORTED_WITH_OTHER_DATA):
        listed = csv_file(OutcomeKind.ALREADY_IMPORTED)
        yield Step(f"See the rows with other data in {listed}: if they are right, change them in the service")
    if summary.sandbox and not summary.rows_of(*NEEDS_ATTENTION, *(() if summary.dry_run else (OutcomeKind.NOT_SENT,))):
        text = "This run used the sandbox; for the real service, run your own file without --sandbox"
        yield Step(text, click="Check with the real service")


def _steps_after_check(
    summary: Summary, again: tuple[str, ...], source: str, fix_them: str, *, is_told: bool
) -> Iterator[Step]:
    """source: the file in which rows can be fixed, if there is one; is_told: a step before has the command."""
    if summary.exit_code == UnusableInput.exit_code:
        yield Step("Correct what the warnings name: with --strict, nothing is sent before that")
    elif summary.outcomes[OutcomeKind.NOT_SENT]:
        sends = "Send (to the sandbox)" if summary.sandbox else "Send"
        other = " by importer.run" if summary.source.file == FROM_PYTHON else ""
        fixed = f", and those that you fix in {source}" if source else other
        how = " by that command" if is_told else fixed
        yield Step(f"{sends} the rows that are ready{how}", () if is_told else again, "Send")
    elif source:
        yield Step(f"{fix_them} in {source}, then import it", again)


_SETTLES: Final = re.compile(r"importer (?:resume|resolve) [^;]+")
_MOST_COMMANDS: Final = 3


def _steps_after_run(summary: Summary, again: tuple[str, ...], source: str, fix_them: str) -> Iterator[Step]:
    taken = summary.source.taken
    elsewhere = [group for group in summary.to_fix if group.code == UNCONFIRMED_ELSEWHERE]
    if elsewhere:
        commands = dict.fromkeys(found[0] for group in elsewhere if (found := _SETTLES.search(group.hint)))
        text = "Settle the rows that another run left unconfirmed, then run the same command again"
        yield Step(text, tuple(commands)[:_MOST_COMMANDS])
    if summary.rows_of(*SENT_AGAIN) > sum(group.count for group in elsewhere):
        fixed = f", also after fixing rows in {source}" if source else ""
        how = "without --resend-unconfirmed never" if _never_sends(summary) else "again"
        text = f"Run the same command {how}{fixed}; completed rows are skipped"
        yield Step(text, again, "Send rows again", how == "again")
    elif source:
        how = ", then import it again" if taken else " and run the same command again"
        yield Step(f"{fix_them} in {source}{how}", again, repeats=not taken)


def other_table(group: ProblemGroup) -> str:
    """The file, and its sheet, that a problem is in; "" if that is the source."""
    place = group.places[0] if group.places else ""
    return re.split(r", row \d|!", place)[0] if ", " in place else ""


def _fix(folders: Iterable[Path]) -> Step:
    """Fix rows in report.xlsx, where no program changes other cells, and import it."""
    commands = tuple(command_line("run", folder / WORKBOOK_FILE) for folder in folders)
    them = "it" if len(commands) == 1 else "them"
    return Step(f"Fix the rows in {WORKBOOK_FILE}, then import {them}", commands, "Correct rows here")


def _steps_in_mapping(summary: Summary, folder: Path) -> Iterator[Step]:
    """The line of the mapping to correct first, if nearly all rows have one problem that a change there would solve."""
    for group in summary.problems:
        line = re.search(rf"{re.escape(summary.mapping)}:\d+", group.hint)
        if line and group.is_to_fix and group.count >= _NEARLY_ALL * (summary.source.rows or 0):
            cells = f"{group.count:,} {f'cells of {group.column}' if group.column else 'rows'}"
            text = f"Correct {line[0]} first: {cells} have one problem [{group.code}]; then run this again"
            again = _of_source("check" if summary.dry_run else "run", summary, folder)
            yield Step(text, again, "Match", True)
            return


def _steps_of_documents(summary: Summary, folder: Path, again: tuple[str, ...]) -> Iterator[Step]:
    causes, can_repeat = {group.code for group in summary.to_fix}, _repeats_file(summary)
    file, mapping = Path(summary.source.file), Path(summary.flags.get("--mapping", summary.mapping))
    if "document-without-id" in causes and can_repeat:
        flags = {flag: text for flag, text in _flags(summary, folder).items() if flag in _OF_DOCUMENTS}
        listed = command_line("documents", "list", file, "--mapping", mapping, flags=flags)
        yield Step("Upload the documents that this lists, and fill in their IDs", (listed,))
    if causes & {*_OF_FILES} and summary.source.file != FROM_PYTHON:
        if summary.continues:  # what was fixed before is only in its report
            again = (command_line("run", folder / WORKBOOK_FILE),)
        elif not can_repeat:
            again = (_of_file("run", file, summary, folder),)
        elif summary.dry_run:
            again = _of_source("check", summary, folder)
        yield Step("Put the right documents in place, then run this again", again, "Documents", can_repeat)


def _again(summary: Summary, folder: Path) -> tuple[str, ...]:
    """The commands that continue a run, or send what was checked; what was fixed in a report is only in its folder."""
    if summary.dry_run and summary.continues:
        return (command_line("run", folder / WORKBOOK_FILE),)
    if _repeats_file(summary) or summary.dry_run:
        return _of_source("run", summary, folder)
    return (_resume(summary, folder),)


def _of_source(command: str, summary: Summary, folder: Path) -> tuple[str, ...]:
    """The commands for the whole source. An inbox imports what it has moved: then it knows how the file ended."""
    file, taken = summary.source.file, summary.source.taken
    if file == FROM_PYTHON:
        return ()
    return taken.commands if taken is not None else (_of_file(command, file, summary, folder),)


def _repeats_file(summary: Summary) -> bool:
    """Whether the run is continued by importing its file again, so that what was fixed in it since is read."""
    is_joined = summary.run.endswith("parts")  # of several parts, which are not one command
    return summary.source.file != FROM_PYTHON and not summary.continues and (summary.dry_run or not is_joined)


def _resume(summary: Summary, folder: Path) -> str:
    return command_line("resume", summary.run, flags=_flags(summary, folder, without=_OF_RUN_ONLY))


def _of_file(command: str, file: str | Path, summary: Summary, folder: Path, without: Collection[str] = ()) -> str:
    flags = _flags(summary, folder, without=without)
    mapping = Path(flags.pop("--mapping", summary.mapping))  # of one mapping of a folder, the folder
    return command_line(command, Path(file), "--mapping", mapping, flags=flags)


def _flags(summary: Summary, folder: Path, *, without: Collection[str] = ()) -> dict[str, str]:
    """The flags of the run's command, and its results folder: another one has another ledger."""
    flags = {**({"--sandbox": ""} if summary.sandbox else {}), **summary.flags}
    if _never_sends(summary):
        without = {*without, "--resend-unconfirmed"}
    if "--out" in flags or folder.parent != _DEFAULT_OUT:
        flags = {"--out": str(folder.parent), **{flag: value for flag, value in flags.items() if flag != "--out"}}
    return {flag: value for flag, value in flags.items() if flag not in without}


def steps_of_source(summary: Summary, folder: Path, reports: Sequence[Path], *, is_corrected: bool) -> tuple[Step, ...]:
    """What to do until every row of a source is complete, over all its runs. folder: of its last run; the others: as in
    `_steps`.
    """
    flags = {flag: text for flag, text in summary.flags.items() if flag not in ("--part", *_OF_SOME_ROWS)}
    return tuple(_steps(replace(summary, flags=flags), folder, reports, is_corrected=is_corrected)) or (_NO_ACTION,)


def _never_sends(summary: Summary) -> bool:
    """Whether the same command would never settle unconfirmed rows."""
    return summary.flags.get("--resend-unconfirmed") == "never" and summary.outcomes[OutcomeKind.UNCONFIRMED] > 0


def import_again(summary: Summary, folder: Path, file: Path) -> str:
    """The command that imports all rows of a file as a run of it did. folder: of the run."""
    return _of_file("run", file, summary, folder, without=_OF_SOME_ROWS)
