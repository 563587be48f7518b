"""Finalizes a run that has ended or was killed: records how it ended, and writes its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from importer.ledger import Ledger, RowState, State
from importer.models import CREATED_EARLIER, NEEDS_ATTENTION, Outcome, OutcomeKind, ReadyCandidate, Stop
from importer.problems import Problem, UnusableInput, UsageError
from importer.report.summary import Summary
from importer.runs.manifest import Ending, RunManifest, read_manifest, write_manifest
from importer.runs.presences import Presences
from importer.runs.run_report import refuse_missing, rewrite_report
from importer.runs.table import Classified, RunTable


def record_end(folder: Path, manifest: RunManifest, stop: Stop | None, signal: int | None) -> None:
    """Record in the manifest how a run ended. Does not write the report.

    Raises:
        StoppedEarly: the folder cannot be written.
        UnusableInput: the table is missing.
    """
    refuse_missing(folder)
    with RunTable(folder) as table:
        counts = table.counts()
    is_finished = stop is None and signal is None
    is_unusable = manifest.strict and manifest.dry_run and bool(manifest.warnings)  # a run would not have started
    code = UnusableInput.exit_code if is_unusable else exit_code(counts, stop, signal)
    write_manifest(folder, manifest.ended(Ending(datetime.now(UTC), is_finished, code, stop)))


KnownBefore = Callable[[list[ReadyCandidate]], dict[int, Outcome]]
"""The outcomes of those candidates, by row, that a run would not send by what became of them in earlier ones."""


def close(folder: Path, ledger: Ledger, known_before: KnownBefore) -> Summary:
    """Finalize a run that was killed at any point, or whose ledger was lost at its end, and return its summary.

    Call it under the lock of the run's target. If this function is killed too, calling it again completes the work:
    first the table gets the outcomes that only the ledger knows, and the ledger the answers that only the table has;
    then the manifest gets its ending, then the report is written, and last the run is ended in the ledger.

    Raises UsageError: the ledger does not know the run: it never started to send, or is just starting.
    """
    manifest = read_manifest(folder)
    if ledger.run(manifest.run) is None:
        raise UsageError(
            f"the ledger {ledger.name} does not know run {manifest.run}: it was killed before sending, has only "
            "just started, or uses another ledger"
        )
    _complete_table(folder, manifest.run, ledger, known_before)
    if manifest.ending is None:
        write_manifest(folder, manifest.ended(Ending(datetime.now(UTC), finished=False, exit_code=None)))
    Presences(folder.parent).forget(manifest.run)
    summary = rewrite_report(folder)
    ledger.end_run(manifest.run, summary.ended_at or summary.started_at)
    return summary


def exit_code(counts: dict[OutcomeKind, int], stop: Stop | None, signal: int | None) -> int:
    """The exit code of a run that has finished or was stopped."""
    if signal is not None:
        return 128 + signal
    if stop is not None:
        return 5
    return 4 if any(counts.get(kind, 0) for kind in NEEDS_ATTENTION) else 0


def resolve_row(folder: Path, ledger: Ledger, row: int, *, created: bool) -> None:
    """Record whether the candidate of an unconfirmed row was created, and write the report of its run again.

    Call it under the lock of the run's target. It can be repeated, also after it was killed.

    Raises UsageError: the run sent nothing for this row, or it is not unconfirmed.
    """
    manifest = read_manifest(folder)
    rows = next((rows for rows in manifest.groups if row in rows), (row,))  # the ledger only contains the first one
    kind = OutcomeKind.CREATED if created else OutcomeKind.FAILED
    with RunTable(folder) as table:
        if (known := table.outcome(rows[0])) is not None and not _can_be_resolved(known):
            outcome = known.kind.value.replace("_", " ")
            raise UsageError(
                f"row {row} of run {manifest.run} is {outcome}, not unconfirmed; there is nothing to resolve"
            )
        ledger.resolve(manifest.run, rows[0], created=created)
        resolved = _RESOLVED_CREATED if created else _RESOLVED_NOT_CREATED
        for one in rows:
            kept = table.outcome(one) or Outcome(one, kind)
            table.replace(
                replace(kept, kind=kind, status=None, problems=(resolved, *kept.problems[1:]))  # others: left out
            )
    rewrite_report(folder)


def _can_be_resolved(outcome: Outcome) -> bool:
    """Whether a user may decide the outcome: the row is unconfirmed, or was resolved by a user before."""
    is_resolved = any(
        problem.code in (_RESOLVED_CREATED.code, _RESOLVED_NOT_CREATED.code) for problem in outcome.problems
    )
    return outcome.kind is OutcomeKind.UNCONFIRMED or is_resolved


_RESOLVED_CREATED = Problem(
    "resolved", "the response was lost or inconclusive; a user confirmed that the candidate was created"
)
_RESOLVED_NOT_CREATED = Problem(
    "resolved",
    "the response was lost or inconclusive; a user confirmed that the candidate was not created",
    "run the same command again to send the row",
)


def _complete_table(folder: Path, run: str, ledger: Ledger, known_before: KnownBefore) -> None:
    """Record the outcome of each row that has none: the one in the ledger or of the check, or what is known of it from
    earlier runs, otherwise `not_sent`; and in the ledger the answers that only the table has.

    The ledger contains only the first row of a candidate; its outcome applies to the candidate's other rows too.
    """
    states = ledger.row_states(run)
    state = next(states, None)
    with RunTable(folder) as table:
        missing, answered = list[Outcome](), list[tuple[int, State, int | None, bytes]]()
        for (rows, result, warnings, _), before in _with_known(table.kept(), known_before):
            first = rows[0]
            while state is not None and state.row < first:
                state = next(states, None)
            known = state if state is not None and state.row == first else None
            outcome = table.outcome(first)
            if outcome is not None:
                is_lost = known is not None and known.state is State.UNCONFIRMED and outcome.kind in _STATE_OF
                if is_lost:
                    body = result.body if isinstance(result, ReadyCandidate) else b""
                    is_proof = outcome.kind is OutcomeKind.CREATED and body
                    digest = ledger.fingerprints.body_digest(body) if is_proof else b""
                    answered.append((first, _STATE_OF[outcome.kind], outcome.status, digest))
            elif known is not None:
                outcome = outcome_of_state(known)
                outcome = replace(outcome, problems=(*outcome.problems, *warnings)) if was_sent(outcome) else outcome
            elif isinstance(result, Outcome):
                outcome = result
            else:
                outcome = before or Outcome(first, OutcomeKind.NOT_SENT, problems=(_KILLED, *warnings))
            missing += (
                outcome if row == first else replace(outcome, row=row, attempts=0) for row in rows if row not in table
            )
            if len(missing) >= _AT_ONCE:
                table.record(missing)
                missing.clear()
        table.record(missing)
    ledger.settle(run, answered)


def _with_known(
    candidates: Iterator[Classified], known_before: KnownBefore
) -> Iterator[tuple[Classified, Outcome | None]]:
    while block := list(islice(candidates, _AT_ONCE)):
        found = known_before([one.result for one in block if isinstance(one.result, ReadyCandidate)])
        yield from ((one, found.get(one.rows[0])) for one in block)


_STATE_OF: Final = {
    OutcomeKind.CREATED: State.CREATED,
    OutcomeKind.ALREADY_EXISTS: State.ALREADY_EXISTS,
    OutcomeKind.REJECTED: State.REJECTED,
}
_AT_ONCE: Final = 500  # outcomes that are recorded


_KILLED = Problem(
    "run-killed", "the run was killed before this row was sent", "run the same command again; it continues here"
)
_REASON_LOST = Problem(
    "rejected-earlier",
    "the service rejected this row, but the run was killed and the reason was lost",
    "send it again: --resend-rejected",
)
_RESPONSE_LOST = Problem(
    "unconfirmed",
    "sent, but the run was killed before the response was recorded",
    "run the same command again to resend this row",
)
_OF_STATE: dict[State, tuple[OutcomeKind, tuple[Problem, ...]]] = {
    State.CREATED: (OutcomeKind.CREATED, ()),
    State.ALREADY_EXISTS: (OutcomeKind.ALREADY_EXISTS, ()),
    State.REJECTED: (OutcomeKind.REJECTED, (_REASON_LOST,)),
    State.FAILED: (OutcomeKind.FAILED, (_KILLED,)),
    State.PLANNED: (OutcomeKind.FAILED, (_KILLED,)),
    State.IN_FLIGHT: (OutcomeKind.UNCONFIRMED, (_RESPONSE_LOST,)),
    State.UNCONFIRMED: (OutcomeKind.UNCONFIRMED, (_RESPONSE_LOST,)),
}


def was_sent(outcome: Outcome) -> bool:
    """Whether the candidate in the service is from this import: warnings about what was sent concern it."""
    exists = (OutcomeKind.ALREADY_EXISTS, OutcomeKind.ALREADY_IMPORTED)
    return outcome.kind not in exists or any(one.code == CREATED_EARLIER.code for one in outcome.problems)


def outcome_of_state(state: RowState) -> Outcome:
    """The outcome of a row whose run was killed, by what the ledger knows."""
    kind, problems = _OF_STATE[state.state]
    if state.state is State.ALREADY_EXISTS and state.after_unconfirmed:
        problems = (CREATED_EARLIER,)
    return Outcome(state.row, kind, state.status, state.attempts, problems)
