"""The order of work: extract -> transform -> load -> report. First the plan, checked to its last row, then the act."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Protocol

from importer.child_tables import Source, open_children
from importer.errors import StoppedEarly, UnusableInput, UsageError
from importer.extract import Sheet, SourceCopy, copy_source, open_sheet, share_copy
from importer.ledger import Ledger, Presence, RowState, RunJournal, State, forget_presence
from importer.ledger import RunRecord as LedgerRun
from importer.load import OWN_EARLIER_ATTEMPT, Stop
from importer.mapping import Mapping, ResolvedMapping, read_mapping, resolve
from importer.models import FilePlace, Operation, Outcome, OutcomeKind, Problem, Question, Row, Submission, WireFormat
from importer.report import RunFacts, Summary, write_report, write_unfinished_summary
from importer.run_folder import (
    Ending,
    RunManifest,
    Selection,
    be_present,
    keep_mapping,
    make_private_folder,
    manifests_in,
    new_run_id,
    read_manifest,
    refuse_altered,
    write_manifest,
)
from importer.sorting import Forecast, Sorted, SortingAhead, look_ahead, needs_whole_look, sort_rows, spread
from importer.transform import join_warnings

Watch = Callable[[Outcome], None]

_CHECKED_FIRST = 2_000  # candidates that are checked before the first request: some tenths of a second
_NOT_GOOD = (OutcomeKind.REJECTED, OutcomeKind.INVALID, OutcomeKind.FAILED, OutcomeKind.UNCLEAR)


class Loads(Protocol):
    """What the pipeline needs of a loader: the real one, or the one that sends nothing."""

    @property
    def stop(self) -> Stop | None: ...

    def load(self, submissions: Iterable[Submission]) -> Generator[Outcome, None, None]: ...


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asked for. `service` is the base URL, or `sandbox` for a rehearsal.

    file_shown_as, mapping_shown_as: the names that reports give file and mapping, where these are private copies.
    Of a run that is part of a batch, `run` is its id, and `copied` the private copy of the source that all share.
    check_first: check every row before the first is sent, however long that takes; else the first few thousand.
    """

    file: Path
    mapping: Path
    out: Path
    selection: Selection
    service: str
    wire: WireFormat
    dry_run: bool
    file_shown_as: str | None = None
    mapping_shown_as: str | None = None
    run: str | None = None
    copied: SourceCopy | None = None
    check_first: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A file, a mapping and a target that fit each other, with the private copy that all rows are read from.

    candidates: what each candidate of the source comes to, given once; forecast: None where the source was not read
    to its end yet.
    """

    folder: Path
    manifest: RunManifest
    sheet: Sheet
    mapping: ResolvedMapping
    candidates: Iterable[Sorted]
    forecast: Forecast | None
    presence: Presence

    @property
    def ledger_run(self) -> LedgerRun:
        """This run as the ledger notes it: no more of the source than its name."""
        manifest = self.manifest
        return LedgerRun(
            run=manifest.run,
            scope=manifest.scope,
            source=Path(manifest.file).name,
            sha256=manifest.sha256,
            mapping=manifest.mapping,
            folder=str(self.folder),
            started_at=manifest.started_at,
        )


def make_plan(order: Order, questions_of: Callable[[str], tuple[Question, ...]]) -> Plan:
    """Do everything that can fail before the first request, and tell all of it at once.

    questions_of: gives the live questions of a job post; not called for a talent pool, which has none.

    Raises:
        UnusableInput: mapping, file, header or questions do not fit; nothing is left behind.
        StoppedEarly: the service does not give its questions.
    """
    mapping = read_mapping(order.mapping)
    shown_as = order.file_shown_as or str(order.file)
    started_at = datetime.now(UTC)
    run = order.run or new_run_id(started_at)
    presence = be_present(order.out, run)
    folder = make_private_folder(order.out, run)
    try:
        copy = share_copy(order.copied, folder) if order.copied else copy_source(order.file, folder)
        mapping_copy = keep_mapping(order.mapping, folder)
        sheet = open_sheet(copy.path, mapping.source, shown_as=shown_as)
        children = open_children(mapping, Source(order.file, copy.path), folder)
        asks = mapping.target.operation is Operation.APPLY
        questions = questions_of(mapping.target.id) if asks else ()
        resolved = resolve(mapping, sheet.columns, questions, order.wire, children.tables)
        whole = order.selection == Selection()
        _refuse_torn_candidates(mapping, order.selection)

        def read() -> Iterator[Row]:
            return order.selection.of(sheet.rows())

        candidates: Iterable[Sorted]
        forecast: Forecast | None
        if order.check_first or needs_whole_look(resolved):
            forecast = look_ahead(read, resolved)
            candidates = sort_rows(read, resolved, forecast.repeated)
        else:
            candidates = SortingAhead(read, resolved, _CHECKED_FIRST)
            forecast = candidates.forecast
        grouped = mapping.group_by is not None
        leftovers = join_warnings(resolved.joins, read(), grouped=grouped) if resolved.joins and whole else ()
        if forecast is not None and not forecast.rows and not whole:
            raise UsageError(f"{order.selection}: the file has no such row; its header is in row {sheet.header_row}")
        manifest = RunManifest(
            run=folder.name,
            file=shown_as,
            source=copy.path.name,
            sha256=copy.sha256,
            options=mapping.source,
            selection=order.selection,
            mapping=order.mapping_shown_as or str(order.mapping),
            mapping_copy=mapping_copy,
            target=mapping.target,
            service=order.service,
            dry_run=order.dry_run,
            header_row=sheet.header_row,
            warnings=tuple(str(warning) for warning in (*_warnings(sheet, mapping), *resolved.warnings, *leftovers)),
            started_at=started_at,
            children=children.copies,
            groups=forecast.groups if forecast is not None else (),
        )
        if forecast is not None:
            manifest = manifest.read_to(forecast.rows, forecast.last_row)
        # The manifest last: with it the folder is a run, and every run has a summary.
        write_unfinished_summary(folder, _facts(manifest, sheet))
        write_manifest(folder, manifest)
    except OSError as error:
        _take_back(folder, presence)
        raise _no_room_for_plan(error, folder) from None
    except BaseException:
        # Nothing was begun: a folder without a report would only puzzle.
        _take_back(folder, presence)
        raise
    return Plan(folder, manifest, sheet, resolved, candidates, forecast, presence)


def _take_back(folder: Path, presence: Presence) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    presence.end()


def _no_room_for_plan(error: OSError, folder: Path) -> UnusableInput:
    return UnusableInput(
        Problem(
            "results-folder-unusable",
            f"the copies of file and mapping cannot be written: {error.strerror or error}",
            "make room, or name another folder with --out or IMPORTER_OUT",
            FilePlace(str(folder.parent)),
        )
    )


def _warnings(sheet: Sheet, mapping: Mapping) -> tuple[Problem, ...]:
    """Those of reading; that other sheets are not read would be untrue where entries are taken from them."""
    takes_sheets = any(child.file is None for child in mapping.child_sources)
    return tuple(warning for warning in sheet.warnings if not (takes_sheets and warning.code == "other-sheets"))


def _refuse_torn_candidates(mapping: Mapping, selection: Selection) -> None:
    """A part of the rows could hold a part of a candidate's entries, and that would be sent as all of them."""
    if mapping.group_by is not None and selection.partial:
        message = "group_by makes several rows one candidate, and a selection of rows could take one apart"
        hint = "leave --rows and --limit out"
        raise UnusableInput(Problem("selection-tears", message, hint, mapping.group_by.place))


def discard(plan: Plan) -> None:
    """Take back a plan that nobody wants carried out."""
    _take_back(plan.folder, plan.presence)


@dataclass(frozen=True, slots=True)
class Closed:
    """Earlier runs that were killed: those whose reports are written now, and what keeps others from theirs."""

    summaries: tuple[Summary, ...]
    problems: tuple[Problem, ...]


def begin(plan: Plan, out: Path, ledger: Ledger) -> Closed:
    """Open the books of a run; first close those of earlier runs for the same target that were killed.

    To be called under the lock of the target, so that none of these is still at work.
    """
    unfinished = {record.run for record in ledger.unfinished_runs(plan.manifest.scope)}
    left_open = [
        folder
        for folder, manifest in manifests_in(out)
        if manifest.scope == plan.manifest.scope
        # Of a run that the ledger does not know nothing was sent, and it may just be waiting for the lock.
        and manifest.run in unfinished
    ]
    summaries: list[Summary] = []
    problems: list[Problem] = []
    for folder in left_open:
        try:
            summaries.append(close(folder, ledger))
        except UnusableInput as damaged:
            # What counts is in the ledger: a folder that somebody has cleared holds up no import.
            problems += damaged.problems
            now = datetime.now(UTC)
            ledger.end_run(folder.name, now, None)
            write_manifest(folder, read_manifest(folder).ended(Ending(now, finished=False, exit_code=None)))
    ledger.begin_run(plan.ledger_run)
    return Closed(tuple(summaries), tuple(problems))


@dataclass(slots=True)
class Progress:
    """How far into the source a run has come; `unreadable`: what keeps its rest from being read."""

    rows: int = 0
    last_row: int = 0
    unreadable: Problem | None = None


def carry_out(plan: Plan, loader: Loads, watch: Watch) -> Progress:
    """Take each row of the plan to its outcome, and keep it in the run's journal as it becomes final.

    Raises:
        StoppedEarly: the journal cannot be written; the ledger still knows what was sent.
    """
    rows_of: dict[int, tuple[int, ...]] = {}  # of candidates under way that have several rows
    progress = Progress()
    try:
        with RunJournal(plan.folder) as journal:

            def keep(outcome: Outcome) -> None:
                journal.record(outcome)
                watch(outcome)

            # Closed at once when an outcome cannot be kept: what is in flight finishes while the ledger is still open.
            with closing(loader.load(_to_send(plan, keep, rows_of, progress))) as outcomes:
                for outcome in outcomes:
                    for one in spread(outcome, rows_of.pop(outcome.row, (outcome.row,))):
                        keep(one)
    except UnusableInput as error:
        # Its own words end in "nothing is sent", which is true of the next request only.
        raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None
    return progress


def _to_send(plan: Plan, keep: Watch, rows_of: dict[int, tuple[int, ...]], progress: Progress) -> Iterator[Submission]:
    """The submissions of the plan in row order; rows that are not for sending get their outcome on the way."""
    candidates = iter(plan.candidates)
    while True:
        try:
            one = next(candidates, None)
        except UnusableInput as error:
            progress.unreadable = error.problems[0]
            return
        if one is None:
            return
        progress.rows += len(one.rows)
        progress.last_row = max(progress.last_row, one.rows[-1])
        if isinstance(one.result, Outcome):
            for outcome in spread(one.result, one.rows):
                keep(outcome)
            continue
        if len(one.rows) > 1:
            rows_of[one.rows[0]] = one.rows
        yield one.result


# --- the end of a run ---------------------------------------------------------------------------


def end(plan: Plan, progress: Progress, stop: Stop | None, signal: int | None) -> Summary:
    """Close the books of a run: how it ended is kept, and its report is written."""
    with RunJournal(plan.folder) as journal:
        counts = journal.counts()
    if progress.unreadable is not None:
        stop = stop or _unreadable_from(progress)
    ending = Ending(
        at=datetime.now(UTC),
        finished=stop is None and signal is None,
        exit_code=exit_code(counts, stop, signal),
        stop_reason=stop.reason if stop else None,
        stop_hint=stop.hint if stop else None,
    )
    manifest = plan.manifest if plan.forecast is not None else plan.manifest.read_to(progress.rows, progress.last_row)
    _keep_ending(plan.folder, manifest.ended(ending))
    plan.presence.end()
    return rewrite_report(plan.folder)


def _unreadable_from(progress: Progress) -> Stop:
    """Why a run ends that met a part of its source that cannot be read, when rows above it were sent."""
    problem = progress.unreadable
    assert problem is not None
    where = f"{problem.place}: " if problem.place else ""
    return Stop(
        "source-unreadable",
        f"the file cannot be read below row {progress.last_row} ({where}{problem.message})",
        f"{problem.hint}; then run the same command again: rows that are done are skipped",
    )


def _keep_ending(folder: Path, manifest: RunManifest) -> None:
    try:
        write_manifest(folder, manifest)
    except OSError as error:
        raise StoppedEarly(
            f"{folder}: how the run ended cannot be written: {error.strerror or error}; what was sent is known to the"
            " ledger, so make room, then run the same command again"
        ) from None


def close(folder: Path, ledger: Ledger) -> Summary:
    """Close the books of a run that was killed, wherever in its life, and give its summary.

    To be called under the lock of its target. The steps follow each other so that a kill between any two of them is
    mended by doing all of them again: the journal gets what only the ledger knows, then the manifest its ending, then
    the report is written; and only then the ledger calls the run ended.

    Raises:
        UsageError: the run never began to send; another process may be about to.
    """
    manifest = read_manifest(folder)
    if ledger.run(manifest.run) is None:
        raise UsageError(f"run {manifest.run} has sent nothing: it was ended before it began, or begins just now")
    if manifest.ending is None:
        progress = _complete_journal(folder, manifest, ledger)
        stop = _unreadable_from(progress) if progress.unreadable is not None else None
        reason, hint = (stop.reason, stop.hint) if stop else (None, None)
        manifest = manifest.read_to(progress.rows, progress.last_row)
        manifest = manifest.ended(
            Ending(datetime.now(UTC), finished=False, exit_code=None, stop_reason=reason, stop_hint=hint)
        )
        _keep_ending(folder, manifest)
    forget_presence(folder.parent, manifest.run)
    summary = rewrite_report(folder)
    ledger.end_run(manifest.run, summary.ended_at or summary.started_at, summary.exit_code)
    return summary


def exit_code(counts: dict[OutcomeKind, int], stop: Stop | None, signal: int | None) -> int:
    """The exit code of design section 4 for a run that came to its end or was stopped."""
    if signal is not None:
        return 128 + signal
    if stop is not None:
        return 5
    return 4 if any(counts.get(kind, 0) for kind in _NOT_GOOD) else 0


def settle_by_hand(folder: Path, ledger: Ledger, row: int, *, created: bool) -> None:
    """Settle an unclear row as a person found it, and write the report of its run again.

    To be called under the lock of the run's target. May be said again, also after a kill in the middle.

    Raises:
        UsageError: the run sent nothing for this row, or it is not unclear.
    """
    manifest = read_manifest(folder)
    rows = next((rows for rows in manifest.groups if row in rows), (row,))  # the ledger knows the first of them
    ledger.resolve(manifest.run, rows[0], created=created)
    kind = OutcomeKind.CREATED if created else OutcomeKind.FAILED
    with RunJournal(folder) as journal:
        for one in rows:
            kept = journal.outcome(one) or Outcome(one, kind)
            journal.replace(replace(kept, kind=kind, problems=(_FOUND if created else _NOT_FOUND,)))
    rewrite_report(folder)


_FOUND = Problem("found-by-hand", "no clear answer came, and a person found the candidate there")
_NOT_FOUND = Problem(
    "absent-by-hand",
    "no clear answer came, and a person found that the candidate is not there",
    "run the same command again to send the row",
)


def rewrite_report(folder: Path) -> Summary:
    """Write the report of a run from what is kept of it: the copy of its source, its journal and its manifest.

    Raises:
        UnusableInput: the copy or the journal is not what the run left; the report that is there stays.
    """
    manifest = read_manifest(folder)
    refuse_altered(folder, manifest)
    sheet = _sheet(folder, manifest)
    with RunJournal(folder) as journal:
        return write_report(folder, _facts(manifest, sheet), _rows(manifest, sheet), journal.outcomes())


def _sheet(folder: Path, manifest: RunManifest) -> Sheet:
    return open_sheet(folder / manifest.source, manifest.options, shown_as=manifest.file)


def _rows(manifest: RunManifest, sheet: Sheet) -> Iterator[Row]:
    """The rows of a run as far as they could be read."""
    return islice(manifest.selection.of(sheet.rows()), manifest.rows)


def _complete_journal(folder: Path, manifest: RunManifest, ledger: Ledger) -> Progress:
    """Give each row without an outcome the one that the ledger knows, else that it had no turn.

    The ledger knows a candidate by its first row; what became of that holds for the other rows of the candidate.
    """
    first_of = {row: rows[0] for rows in manifest.groups for row in rows[1:]}
    states = ledger.row_states(manifest.run)
    state = next(states, None)
    progress = Progress()
    rows = _rows(manifest, _sheet(folder, manifest))
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
    "run-killed", "the run was ended from outside before this row's turn", "run the same command again: it goes on here"
)
_MESSAGE_LOST = Problem(
    "message-lost", "the run was ended from outside, and what the service said was lost", "send the row again: --again"
)
_IN_DOUBT = Problem(
    "answer-lost",
    "a request was sent, and the run was ended from outside before its answer was kept",
    "run the same command again: it settles this row",
)
_OF_STATE: dict[State, tuple[OutcomeKind, tuple[Problem, ...]]] = {
    State.CREATED: (OutcomeKind.CREATED, ()),
    State.ALREADY_THERE: (OutcomeKind.ALREADY_THERE, ()),
    State.REJECTED: (OutcomeKind.REJECTED, (_MESSAGE_LOST,)),
    State.FAILED: (OutcomeKind.FAILED, (_KILLED,)),
    State.PLANNED: (OutcomeKind.FAILED, (_KILLED,)),
    State.IN_FLIGHT: (OutcomeKind.UNCLEAR, (_IN_DOUBT,)),
    State.UNCLEAR: (OutcomeKind.UNCLEAR, (_IN_DOUBT,)),
}


def _outcome_of_state(state: RowState) -> Outcome:
    kind, problems = _OF_STATE[state.state]
    if state.state is State.ALREADY_THERE and state.after_doubt:
        problems = (OWN_EARLIER_ATTEMPT,)
    return Outcome(state.row, kind, state.status, state.attempts, problems)


def _facts(manifest: RunManifest, sheet: Sheet) -> RunFacts:
    ending = manifest.ending
    return RunFacts(
        run=manifest.run,
        target=manifest.target,
        mapping=manifest.mapping,
        origin=sheet.origin,
        sha256=manifest.sha256,
        reading=sheet.reading,
        columns=sheet.columns,
        delimiter=sheet.delimiter,
        started_at=manifest.started_at,
        ended_at=ending.at if ending else None,
        finished=ending.finished if ending else False,
        exit_code=ending.exit_code if ending else None,
        stop_reason=ending.stop_reason if ending else None,
        stop_hint=ending.stop_hint if ending else None,
        sandbox=manifest.sandbox,
        dry_run=manifest.dry_run,
        warnings=manifest.warnings,
        blank_rows=manifest.blank_rows,
    )
