"""Imports a file, or checks it: each of its targets under its lock, one after the other, and then the whole."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

from importer.app.classify_rows import expand_to_rows
from importer.app.connection import Connection, connect, patience_of_run, tell_other_addresses
from importer.app.events import (
    EarlierRunDamaged,
    EarlierRunEnded,
    LeftoversRemoved,
    Listener,
    Paused,
    Planned,
    ReportWritten,
    Resumed,
    RowEnded,
    RowsEnded,
    Stopped,
    TargetBlocked,
    ignore,
)
from importer.app.orders import Order, RunControl
from importer.app.planning import Plan, PlannedRun, discard, plan_run
from importer.errors import Busy, ImporterError, StoppedEarly, UnusableInput, UsageError
from importer.ledger import LedgerStore, Scope, open_existing_ledger, open_ledger, presences_in
from importer.load import Cancellation, DryLoader, Loader, LoadOptions, Stop, Waiting
from importer.mapping import read_mapping
from importer.models import FilePlace, Operation, Outcome, Problem, ReadyCandidate
from importer.report import Summary, read_summary
from importer.runs.cleanup import remove_abandoned
from importer.runs.finalize import Progress, close, end_whole, keep_end
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.manifest import Ending, RunManifest, manifests_in, read_manifest, write_manifest
from importer.runs.previous_results import EarlierOutcomes
from importer.runs.results_folder import make_results
from importer.runs.run_report import rewrite_report
from importer.runs.streaming_report import StreamingReport

Confirm = Callable[[Planned], bool]
"""Asked before the first request whether to send the rows that are ready."""

_REPORTED_ALONG_AFTER = 2_000  # outcomes; the report of fewer takes less time than a process takes to start
_SIGNALLED: Final = 128


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that has ended: its folder, and what its report says."""

    folder: Path
    summary: Summary


def import_file(
    order: Order, listen: Listener = ignore, control: RunControl | None = None, confirm: Confirm | None = None
) -> Finished | None:
    """Send the rows of a file; None where `confirm` says that they shall not be. Safe to be asked for again.

    Raises:
        UsageError, UnusableInput: nothing was sent; with everything that does not fit.
        Busy: another run for the same target is at work.
        StoppedEarly: the service does not give its questions, or what the run keeps cannot be written. What was sent
            is in the ledger: the same order goes on there.
    """
    if confirm is not None:  # who is asked is told how many rows are ready
        order = replace(order, check_first=True)
    with _connected(order, listen, dry_run=False) as connection:
        if not order.mapping.is_dir():  # said at once, and not after a large file was read
            _refuse_while_at_work(order, connection.name)
        planned = plan_run(order, connection.name, connection.questions, dry_run=False)
        listen(planned.as_event)
        if confirm is not None and not confirm(planned.as_event):
            planned.discard()
            return None
        sender = _Sender(order, connection, listen, control or RunControl())
        return _carry_out(planned, sender.send, listen)


def check_file(order: Order, listen: Listener = ignore) -> Finished:
    """Do everything that `import_file` does before its first request, and report the same. Sends nothing.

    Raises:
        UsageError, UnusableInput: with everything that does not fit.
        StoppedEarly: the service does not give its questions.
    """
    with _connected(order, listen, dry_run=True) as connection:
        planned = plan_run(order, connection.name, connection.questions, dry_run=True)
        listen(planned.as_event)
        return _carry_out(planned, lambda plan: _check(plan, order, listen), listen)


@contextmanager
def _connected(order: Order, listen: Listener, *, dry_run: bool) -> Iterator[Connection]:
    if order.selection.limit is not None and order.mapping.is_dir():
        raise UsageError("--limit does not say of which target; take a part of the rows with --rows")
    make_results(order.settings)
    patience = patience_of_run(order, listen, dry_run=dry_run)
    with connect(order.settings, order.sending.rehearsal, patience) as connection:
        if order.goes_on is not None and order.goes_on[1] != connection.name:
            raise UsageError(
                f"run {order.goes_on[0]} was for {order.goes_on[1]}, but IMPORTER_BASE_URL is {connection.name}; "
                "set it to the address of that run, or import the file anew with importer run"
            )
        tell_other_addresses(connection.name, order.settings, listen)
        yield connection


def _refuse_while_at_work(order: Order, service: str) -> None:
    ledger = open_existing_ledger(order.settings.ledger_address)
    if ledger is not None:
        with ledger, ledger.lock_target(Scope(service, read_mapping(order.mapping).target)):
            pass


def _carry_out(planned: PlannedRun, carry: Callable[[Plan], Summary], listen: Listener) -> Finished:
    """Take each target to its end, one after the other, and then the whole."""
    if not planned.manifest.is_split:
        (plan,) = planned.plans
        listen(plan.begun)
        return Finished(plan.folder, carry(plan))
    manifest, signal = planned.manifest, None
    for plan in planned.plans:
        if signal is not None:
            manifest = _block(planned.folder, manifest, plan, Busy("the batch was interrupted before its turn"))
            continue
        listen(plan.begun)
        try:
            code = carry(plan).exit_code or 0
        except (Busy, UnusableInput) as error:  # nothing was sent to this target, and others may have had their rows
            listen(TargetBlocked(plan.manifest.run, plan.mapping.target, str(error)))
            manifest = _block(planned.folder, manifest, plan, error)
            continue
        signal = code - _SIGNALLED if code > _SIGNALLED else None
    summary = end_whole(planned.folder, manifest, signal)
    listen(ReportWritten(planned.folder, summary))
    return Finished(planned.folder, summary)


def _block(folder: Path, manifest: RunManifest, plan: Plan, error: ImporterError) -> RunManifest:
    """The manifest of the whole without a target that could not be begun; what was planned of it is taken back."""
    discard(plan)
    targets = tuple(
        replace(target, blocked=str(error)) if target.run == plan.manifest.run else target
        for target in manifest.targets
    )
    manifest = replace(manifest, targets=targets)
    write_manifest(folder, manifest)
    return manifest


# --- one target ---------------------------------------------------------------------------------


def _check(plan: Plan, order: Order, listen: Listener) -> Summary:
    out = order.settings.out
    ledger = open_existing_ledger(order.settings.ledger_address)
    with ledger or nullcontext():
        loader = DryLoader(ledger, plan.scope)
        _remove_leftovers(order, ledger, listen)
        if ledger is not None:
            _recall(plan, out, ledger)
        return _end(plan, _process_rows(plan, loader, listen), None, None, listen)


@dataclass(frozen=True, slots=True)
class _Sender:
    order: Order
    connection: Connection
    listen: Listener
    control: RunControl

    def send(self, plan: Plan) -> Summary:
        """Send the rows of one target, under its lock, and write its report."""
        out = self.order.settings.out
        with (
            _ledger_of(plan, self.order.settings.ledger_address) as ledger,
            EarlierOutcomes(out) as earlier,
            self.control.sending() as cancellation,
        ):
            try:
                _begin(plan, out, ledger, self.listen)
            except ImporterError:
                if ledger.run(plan.manifest.run) is None:  # it has not begun: what was copied for it only takes room
                    discard(plan)
                raise
            _remove_leftovers(self.order, ledger, self.listen)
            loader = self._loader(plan, ledger, earlier, cancellation)
            try:
                done = _process_rows(plan, loader, self.listen)
                stop = loader.stop or self.control.stopped
                summary = _end(plan, done, stop, self.control.signal, self.listen)
            except StoppedEarly:  # its words rest on the ledger
                if ledger.is_in_place():
                    raise
                raise StoppedEarly(
                    f"{ledger.name}: the ledger was moved or deleted while the run was at work, and the run has no "
                    "report. Which rows were sent only the service knows: put the ledger back if you can, then run the "
                    "same command again, and the service tells whom it has already"
                ) from None
            ledger.end_run(plan.manifest.run, summary.ended_at or summary.started_at, summary.exit_code)
        return summary

    def _loader(self, plan: Plan, ledger: LedgerStore, earlier: EarlierOutcomes, cancellation: Cancellation) -> Loader:
        settings, sending, connection = self.order.settings, self.order.sending, self.connection
        asks = plan.mapping.target.operation is Operation.APPLY
        return Loader(
            connection.service,
            ledger,
            plan.ledger_run,
            options=LoadOptions(
                in_flight=settings.in_flight,
                rate=settings.rate,
                max_errors=sending.max_errors,
                settle=sending.resend_unconfirmed,
                settle_after=connection.settle_after,
                attempts=settings.attempts,
                give_up_after=settings.give_up_minutes * 60,
                again=sending.resend_rejected,
            ),
            probe=connection.is_well,
            has_answered=asks or ledger.has_answered(connection.name),
            on_waiting=self._tell_waiting,
            earlier=earlier.of,
            cancellation=cancellation,
        )

    def _tell_waiting(self, waiting: Waiting | None) -> None:
        self.listen(Resumed() if waiting is None else Paused(*waiting))


@contextmanager
def _ledger_of(plan: Plan, address: str) -> Iterator[LedgerStore]:
    """The ledger, under the lock of the plan's target; a plan that cannot have them leaves nothing behind."""
    with ExitStack() as held:
        try:
            ledger = held.enter_context(open_ledger(address))
            held.enter_context(ledger.lock_target(plan.scope))
        except ImporterError:
            discard(plan)
            raise
        yield ledger


def _begin(plan: Plan, out: Path, ledger: LedgerStore, listen: Listener) -> None:
    """Note the run in the ledger, after the ends of earlier ones for the same target that were killed.

    To be called under the lock of the target, so that none of these is still at work.
    """
    unfinished = {record.run for record in ledger.unfinished_runs(plan.scope)}
    left_open = [
        folder
        for folder, manifest in manifests_in(out)
        if manifest.scope == plan.scope
        # Of a run that the ledger does not know nothing was sent, and it may just be waiting for the lock.
        and manifest.run in unfinished
    ]
    ended: list[str] = []
    problems: list[Problem] = []
    for folder in left_open:
        try:
            ended.append(close(folder, ledger).run)
        except UnusableInput as damaged:
            # What counts is in the ledger: a folder that somebody has cleared holds up no import.
            problems += damaged.problems
            now = datetime.now(UTC)
            ledger.end_run(folder.name, now, None)
            write_manifest(folder, read_manifest(folder).ended(Ending(now, finished=False, exit_code=None)))
    ledger.begin_run(plan.ledger_run)
    _recall(plan, out, ledger)
    for run in ended:
        listen(EarlierRunEnded(run))
    for problem in problems:
        listen(EarlierRunDamaged(problem))


def _recall(plan: Plan, out: Path, ledger: LedgerStore) -> None:
    """Remember what an earlier run of the same file said, so that only the rest of its rows is worked on."""
    with suppress(UnusableInput, StoppedEarly):  # what cannot be remembered is worked out again
        plan.previous.recall(plan.manifest, out, ledger)


def _remove_leftovers(order: Order, ledger: LedgerStore | None, listen: Listener) -> None:
    out = order.settings.out
    for run in remove_abandoned(out, ledger, presences_in(out, order.settings.ledger_address)):
        listen(LeftoversRemoved(run))


class _Loads(Protocol):
    """What sends rows: the real loader, or the one that sends nothing."""

    @property
    def stop(self) -> Stop | None: ...

    @property
    def learned_rate(self) -> float | None: ...

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]: ...


@dataclass(slots=True)
class _Processed:
    """How far a plan was done out, and the report that was begun meanwhile, if one was."""

    progress: Progress = field(default_factory=Progress)
    outcomes: int = 0
    learned_rate: float | None = None
    report: StreamingReport | None = None

    def begin_report(self, plan: Plan) -> None:
        """Have the report written along, where the run is long and its source is one that can be read a second time
        at little cost.
        """
        if self.outcomes == _REPORTED_ALONG_AFTER and plan.sheet.origin.sheet is None:
            with suppress(OSError):  # no room for one more process: then the report is written at the end
                self.report = StreamingReport(plan.folder)

    def give_up_report(self) -> None:
        if self.report is not None:
            self.report.give_up()


def _process_rows(plan: Plan, loader: _Loads, listen: Listener) -> _Processed:
    """Take each row of the plan to its outcome, and keep it in the run's journal as it becomes final.

    Raises:
        StoppedEarly: the journal cannot be written; the ledger still knows what was sent.
    """
    rows_of: dict[int, tuple[int, ...]] = {}  # of candidates under way that have several rows
    done = _Processed()
    try:
        with closing(plan.candidates), RunJournal(plan.folder) as journal:

            def keep(outcome: Outcome) -> None:
                journal.record(outcome)
                done.outcomes += 1
                done.begin_report(plan)
                listen(RowEnded(outcome))

            # Closed at once when an outcome cannot be kept: what is in flight finishes while the ledger is still open.
            with closing(loader.load(_to_send(plan, keep, rows_of, done.progress))) as outcomes:
                for outcome in outcomes:
                    for one in expand_to_rows(outcome, rows_of.pop(outcome.row, (outcome.row,))):
                        keep(one)
            done.learned_rate = loader.learned_rate
    except BaseException as error:
        done.give_up_report()
        if not isinstance(error, UnusableInput):
            raise
        # Its own words end in "nothing is sent", which is true of the next request only.
        raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None
    return done


def _to_send(
    plan: Plan, keep: Callable[[Outcome], None], rows_of: dict[int, tuple[int, ...]], progress: Progress
) -> Iterator[ReadyCandidate]:
    """Those that are to be sent in row order; rows that are not for sending get their outcome on the way."""
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
            for outcome in expand_to_rows(one.result, one.rows):
                keep(outcome)
            continue
        if len(one.rows) > 1:
            rows_of[one.rows[0]] = one.rows
        yield one.result


def _end(plan: Plan, done: _Processed, stop: Stop | None, signal: int | None, listen: Listener) -> Summary:
    """Keep how a run ended, and write its report.

    Raises:
        StoppedEarly: the folder cannot be written, or what the run kept in it is gone; what was sent is in the ledger.
        UnusableInput: the latter, where nothing was to be sent.
    """
    listen(RowsEnded(plan.manifest.run))
    if stop is not None:
        listen(Stopped(plan.manifest.run, stop.reason, stop.hint))
    try:
        if not (plan.folder / JOURNAL).is_file():  # not made again: an empty one would tell of nobody
            raise UnusableInput(
                Problem("journal-missing", "the outcomes of the run are gone", _GONE, FilePlace(str(plan.folder)))
            )
        summary = _keep_end_and_report(plan, done, stop, signal)
    except UnusableInput as error:
        if plan.manifest.dry_run:
            raise
        gone = "; ".join(problem.message for problem in error.problems)
        raise StoppedEarly(
            f"{plan.folder}: the run has no report, because somebody changed its folder while it was at work: {gone}. "
            "What was sent is known to the ledger: run the same command again, and nobody is sent a second time"
        ) from None
    listen(ReportWritten(plan.folder, summary))
    return summary


_GONE = "leave the folder of a run alone while it is at work, and run the same command again"


def _keep_end_and_report(plan: Plan, done: _Processed, stop: Stop | None, signal: int | None) -> Summary:
    progress = done.progress
    manifest = plan.manifest if plan.forecast is not None else plan.manifest.read_to(progress.rows, progress.last_row)
    if done.learned_rate is not None:
        manifest = replace(manifest, warnings=(*manifest.warnings, _kept_to(done.learned_rate)))
    try:
        keep_end(plan.folder, manifest, progress, stop, signal)
    except BaseException:
        done.give_up_report()
        raise
    plan.presence.end()
    if done.report is not None and done.report.finish():
        return read_summary(plan.folder)
    return rewrite_report(plan.folder)


def _kept_to(rate: float) -> str:
    return (
        f"the service refused requests faster than about {_in_digits(rate)} a second (429), and the run kept to that; "
        f"with --rate {_in_digits(rate * 0.95)} (or IMPORTER_RATE) the next run does so from its start"
    )


def _in_digits(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
