"""The end of a run, whether it came to it or was killed: how it ended is kept, and its report is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from importer.extract import ReadingLimits
from importer.ledger import LedgerStore, RowState, State, presences_in
from importer.load import CREATED_EARLIER, Stop
from importer.models import NOT_GOOD, Outcome, OutcomeKind, Row
from importer.problems import FilePlace, Problem, UnusableInput, UsageError
from importer.report import Summary
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.manifest import Ending, RunManifest, part_folders, read_manifest, write_manifest
from importer.runs.private_copies import sheet_of
from importer.runs.run_report import GO_ON, report_of_whole, rewrite_report, rows_of


@dataclass(slots=True)
class Progress:
    """How far into its source a run has come: rows, and the number of the last one.

    unreadable: what keeps the rest of the source from being read.
    """

    rows: int = 0
    last_row: int = 0
    unreadable: Problem | None = None


def keep_end(folder: Path, manifest: RunManifest, progress: Progress, stop: Stop | None, signal: int | None) -> None:
    """Keep how a run ended, in its manifest; its report is still to be written.

    Raises:
        StoppedEarly: the folder cannot be written.
        UnusableInput: somebody removed the outcomes from it.
    """
    if not (folder / JOURNAL).is_file():  # a new one would hold no outcomes
        hint = "do not change the folder of a run while it is running; run the same command again"
        raise UnusableInput(
            Problem("journal-missing", "the file with the run's outcomes is missing", hint, FilePlace(str(folder)))
        )
    with RunJournal(folder) as journal:
        counts = journal.counts()
    stop = stop or _unreadable_from(progress)
    is_finished = stop is None and signal is None
    write_manifest(folder, manifest.ended(_ending(stop, exit_code(counts, stop, signal), is_finished=is_finished)))


def _ending(stop: Stop | None, code: int | None, *, is_finished: bool) -> Ending:
    return Ending(datetime.now(UTC), is_finished, code, stop.reason if stop else None, stop.hint if stop else None)


def _unreadable_from(progress: Progress) -> Stop | None:
    """Why a run ends that met a part of its source that cannot be read, when rows above it were sent."""
    problem = progress.unreadable
    if problem is None:
        return None
    where = f"{problem.place}: " if problem.place else ""
    return Stop(
        "source-unreadable",
        f"the file cannot be read after row {progress.last_row} ({where}{problem.message})",
        f"{problem.hint}; then run the same command again; completed rows are skipped",
    )


def close(folder: Path, ledger: LedgerStore, limits: ReadingLimits) -> Summary:
    """Keep the end of a run that was killed, wherever in its life, and give its summary.

    To be called under the lock of its target. The steps follow each other so that a kill between any two of them is
    mended by doing all of them again: the journal gets what only the ledger knows, then the manifest its ending, then
    the report is written; and only then the ledger calls the run ended.

    Raises:
        UsageError: the ledger knows no such run: it never began to send, another process may be about to.
    """
    manifest = read_manifest(folder)
    if ledger.run(manifest.run) is None:
        raise UsageError(
            f"the ledger {ledger.name} does not know run {manifest.run}: it was killed before sending, has only "
            "just started, or uses another ledger"
        )
    if manifest.ending is None:
        progress = _complete_journal(folder, manifest, ledger, limits)
        manifest = manifest.read_to(progress.rows, progress.last_row)
        write_manifest(folder, manifest.ended(_ending(_unreadable_from(progress), None, is_finished=False)))
    presences_in(folder.parent, ledger.address).forget(manifest.run)
    summary = rewrite_report(folder, limits)
    ledger.end_run(manifest.run, summary.ended_at or summary.started_at, summary.exit_code)
    return summary


def exit_code(counts: dict[OutcomeKind, int], stop: Stop | None, signal: int | None) -> int:
    """The exit code of design section 4 for a run that came to its end or was stopped."""
    if signal is not None:
        return 128 + signal
    if stop is not None:
        return 5
    return 4 if any(counts.get(kind, 0) for kind in NOT_GOOD) else 0


def resolve_row(folder: Path, ledger: LedgerStore, limits: ReadingLimits, row: int, *, created: bool) -> None:
    """Settle an unconfirmed row as a person found it, and write the report of its run again.

    To be called under the lock of the run's target. May be said again, also after a kill in the middle.

    Raises:
        UsageError: the run sent nothing for this row, or it is not unconfirmed.
    """
    manifest = read_manifest(folder)
    rows = next((rows for rows in manifest.groups if row in rows), (row,))  # the ledger knows the first of them
    kind = OutcomeKind.CREATED if created else OutcomeKind.FAILED
    with RunJournal(folder) as journal:
        if (known := journal.outcome(rows[0])) is not None and not _needs_a_person(known):
            raise UsageError(
                f"row {row} of run {manifest.run} is {known.kind.value}, not unconfirmed; there is nothing to resolve"
            )
        ledger.resolve(manifest.run, rows[0], created=created)
        for one in rows:
            kept = journal.outcome(one) or Outcome(one, kind)
            journal.replace(replace(kept, kind=kind, problems=(_FOUND if created else _NOT_FOUND,)))
    rewrite_report(folder, limits)


def _needs_a_person(outcome: Outcome) -> bool:
    """Whether nobody knows what became of the row but a person, who may have said so before."""
    by_hand = any(problem.code in (_FOUND.code, _NOT_FOUND.code) for problem in outcome.problems)
    return outcome.kind is OutcomeKind.UNCONFIRMED or by_hand


_FOUND = Problem(
    "resolved-created", "the response was lost or inconclusive; a user confirmed that the candidate was created"
)
_NOT_FOUND = Problem(
    "resolved-not-created",
    "the response was lost or inconclusive; a user confirmed that the candidate was not created",
    "run the same command again to send the row",
)


def _complete_journal(folder: Path, manifest: RunManifest, ledger: LedgerStore, limits: ReadingLimits) -> Progress:
    """Give each row without an outcome the one that the ledger knows, else that it had no turn.

    The ledger knows a candidate by its first row; what became of that holds for the other rows of the candidate.
    """
    first_of = {row: rows[0] for rows in manifest.groups for row in rows[1:]}
    states = ledger.row_states(manifest.run)
    state = next(states, None)
    progress = Progress()
    rows = rows_of(manifest, sheet_of(folder, manifest, limits))
    with RunJournal(folder) as journal:
        while (row := _next_row(rows, progress)) is not None:
            while state is not None and state.row < row.number:
                state = next(states, None)
            if row.number in journal:
                continue
            if state is not None and state.row == row.number:
                journal.record(_outcome_of_state(state))
            elif (first := journal.outcome(first_of[row.number]) if row.number in first_of else None) is not None:
                journal.record(replace(first, row=row.number, attempts=0))
            else:
                journal.record(Outcome(row.number, OutcomeKind.NOT_SENT, problems=(_KILLED,)))
    return progress


def _next_row(rows: Iterator[Row], progress: Progress) -> Row | None:
    try:
        row = next(rows, None)
    except UnusableInput as error:
        progress.unreadable = error.problems[0]
        return None
    if row is not None:
        progress.rows += 1
        progress.last_row = row.number
    return row


_KILLED = Problem(
    "run-killed", "the run was killed before this row was sent", "run the same command again; it continues here"
)
_MESSAGE_LOST = Problem(
    "rejection-reason-lost",
    "the service rejected this row, but the run was killed and the reason was lost",
    "send it again: --resend-rejected",
)
_IN_DOUBT = Problem(
    "response-lost",
    "sent, but the run was killed before the response was recorded",
    "run the same command again to resend this row",
)
_OF_STATE: dict[State, tuple[OutcomeKind, tuple[Problem, ...]]] = {
    State.CREATED: (OutcomeKind.CREATED, ()),
    State.ALREADY_EXISTS: (OutcomeKind.ALREADY_EXISTS, ()),
    State.REJECTED: (OutcomeKind.REJECTED, (_MESSAGE_LOST,)),
    State.FAILED: (OutcomeKind.FAILED, (_KILLED,)),
    State.PLANNED: (OutcomeKind.FAILED, (_KILLED,)),
    State.IN_FLIGHT: (OutcomeKind.UNCONFIRMED, (_IN_DOUBT,)),
    State.UNCONFIRMED: (OutcomeKind.UNCONFIRMED, (_IN_DOUBT,)),
}


def _outcome_of_state(state: RowState) -> Outcome:
    kind, problems = _OF_STATE[state.state]
    if state.state is State.ALREADY_EXISTS and state.after_unconfirmed:
        problems = (CREATED_EARLIER,)
    return Outcome(state.row, kind, state.status, state.attempts, problems)


# --- a run with several targets -----------------------------------------------------------------


def end_whole(folder: Path, manifest: RunManifest, limits: ReadingLimits, signal: int | None) -> Summary:
    """Keep how a run with several targets ended, after the runs of these have, and write the report of the whole."""
    endings = [ending for part in part_folders(folder, manifest) if (ending := read_manifest(part).ending)]
    blocked = next((target.blocked for target in manifest.targets if target.blocked), None)
    stopped = next((ending for ending in endings if ending.stop_reason), None)
    ending = Ending(
        at=datetime.now(UTC),
        finished=signal is None and not blocked and all(ending.finished for ending in endings),
        exit_code=128 + signal if signal is not None else 5 if blocked or stopped else 0,
        stop_reason=blocked or (stopped.stop_reason if stopped else None),
        stop_hint=GO_ON if blocked else stopped.stop_hint if stopped else None,
    )
    write_manifest(folder, manifest.ended(ending))
    summary = report_of_whole(folder, manifest.ended(ending), limits)
    if ending.exit_code or not (code := exit_code(dict(summary.outcomes), None, None)):
        return summary
    manifest = manifest.ended(replace(ending, exit_code=code))  # rows without a target are counted by the report only
    write_manifest(folder, manifest)
    return report_of_whole(folder, manifest, limits)
