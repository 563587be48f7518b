"""A run from its order to its report, in the order in which it happens:

1. what it needs is there: results folder, ledger, service (`_connected`);
2. the file is copied, read and checked against its mapping and the questions (`_Execution.plan`, by `planning`);
3. under the lock of its target, killed runs are ended and this one begins (`_Execution.send`); a check begins nothing;
4. its rows are sent or not, each outcome is recorded, then the end and the report (`row_processing`).

A folder of mappings is as many runs as it has mappings, one after the other: see `orders_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from importer.app.cleanup import remove_abandoned
from importer.app.connection import ServiceConnection, connect, first_patience, retry_policy_of_run, wait_for_ledger
from importer.app.documents import upload_documents
from importer.app.orders import (
    Event,
    Listener,
    Order,
    Paused,
    Planned,
    Preparing,
    Remark,
    Resumed,
    RunControl,
    ignore,
    reading_file,
)
from importer.app.plan import Plan
from importer.app.planning import Planner
from importer.app.row_processing import RowProcessing, end
from importer.app.run_log import RunLog
from importer.ledger import Ledger, LedgerUnwritable, Scope, open_existing_ledger, open_ledger
from importer.mapping import read_mapping, read_mappings
from importer.models import IMPORTED_WITH_OTHER_DATA, Operation, Route
from importer.problems import ImporterError, StoppedEarly, UnusableInput, UsageError
from importer.report.summary import Summary
from importer.runs.finalize import close
from importer.runs.manifest import Ending, manifests_in, read_manifest, write_manifest
from importer.runs.presences import Presences
from importer.runs.results_folder import make_results
from importer.runs.table import earlier_outcomes
from importer.sending import Earlier, Loader, known_before
from importer.settings.trust import without_secrets

Confirm = Callable[[Planned], bool]
"""Asked before the first request whether to send the rows that are ready."""

_OF_LEDGER: Final = ("ledger-", "not-writable")  # codes of its problems


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that has ended: its folder, and what its report says."""

    folder: Path
    summary: Summary

    @property
    def imported_with_other_data(self) -> int:
        """How many rows were imported earlier with different data than the file contains now."""
        return self.summary.count_of(IMPORTED_WITH_OTHER_DATA)


def import_file(
    order: Order, listen: Listener = ignore, control: RunControl | None = None, confirm: Confirm | None = None
) -> Finished | None:
    """Send the rows of a file; None if `confirm` declines. Safe to repeat.

    Raises:
        UsageError, UnusableInput: nothing was sent; with every problem found.
        Busy: another run for the same target is running.
        StoppedEarly: the service does not return its questions, or the results cannot be written. The ledger contains
            what was sent: the same order continues there.
    """
    order = order.of_part()
    with RunLog(listen) as log, _connected(order, log, dry_run=False) as connection:
        execution = _Execution(order, connection, log, control or RunControl())
        planned = execution.plan(dry_run=False)
        if confirm is not None and not _is_confirmed(planned, confirm):
            planned.discard()
            return None
        log(planned.started)
        return Finished(planned.folder, execution.send(planned))


def _is_confirmed(planned: Plan, confirm: Confirm) -> bool:
    try:
        return confirm(planned.as_event)
    except BaseException:  # also after Ctrl-C at the question
        planned.discard()
        raise


class CheckStopped(Exception):
    """A person stopped a check. Nothing of it is left."""


def check_file(order: Order, listen: Listener = ignore, control: RunControl | None = None) -> Finished:
    """Do everything that `import_file` does before its first request, and report the same. Sends nothing.

    Raises:
        UsageError, UnusableInput: with every problem found.
        StoppedEarly: the service does not return its questions.
        CheckStopped: `control` stopped it.
    """
    with RunLog(listen) as log, _connected(order, log, dry_run=True) as connection:
        planned = _Execution(order, connection, log, control or RunControl()).plan(dry_run=True)  # with its outcomes
        return Finished(planned.folder, end(planned, None, None, log))


@contextmanager
def planned_only(order: Order, listen: Listener = ignore) -> Iterator[Plan]:
    """What a check finds of a file, without its report. Nothing of it is left.

    Raises UsageError, UnusableInput, StoppedEarly: as `check_file`.
    """
    with RunLog(listen) as log, _connected(order, log, dry_run=True) as connection:
        planned = _Execution(order, connection, log, RunControl()).plan(dry_run=True)
        try:
            yield planned
        finally:
            planned.discard()


def orders_of(order: Order) -> tuple[Order, ...]:
    """The order itself; or one for each mapping of its folder, each of which is a run of its own. A fixed report is of
    one of these.

    Rows that no mapping selects are told in the report of the first one. The command that each report proposes is for
    the folder: after that of one mapping, the rows of the others could be forgotten.

    Raises:
        UsageError: the order is for a part of the file.
        UnusableInput: with every error of every mapping of the folder.
    """
    if order.continues is not None or not order.mapping.is_dir():
        return (order,)
    if order.selection.part is not None:
        raise UsageError("--part cannot be used with a folder of mappings; import the whole file with the folder")
    mappings = read_mappings(order.mapping, order.settings.mapping_folders)
    words = tuple(str(word) for mapping in mappings if mapping.route for word in mapping.route.words)
    of_folder = replace(order, flags={**order.flags, "--mapping": str(order.mapping)})
    return tuple(
        replace(of_folder, mapping=mapping.path, route=Route(words, mapping is mappings[0])) for mapping in mappings
    )


# --- 1. what a run needs ---

_LARGE_FILE: Final = 20_000_000  # bytes; the first line about a smaller file comes within half a second


@contextmanager
def _connected(order: Order, listen: Listener, *, dry_run: bool) -> Iterator[ServiceConnection]:
    if order.mapping.is_dir():
        how = "name one of its mapping files, or import it with importer run"
        how = "leave out --mapping: the report is of one of its mappings" if order.continues else how
        raise UsageError(f"{order.mapping} is a folder: {how}")
    with suppress(OSError):  # reported when it is read
        if (size := order.file.stat().st_size) >= _LARGE_FILE:
            listen(reading_file(order.shown_as, size))
    make_results(order.settings)
    if not dry_run:
        wait_for_ledger(order, listen)
    proxy = order.settings.proxy_for(order.settings.base_url)
    if proxy and order.sending.sandbox_setup is None:
        used = f"Requests go through the proxy {without_secrets(proxy)} (IMPORTER_PROXY)."
        listen(Remark(used, is_detail=True))
    retry_policy = retry_policy_of_run(order, listen, dry_run=dry_run)
    with connect(order.settings, order.sending.sandbox_setup, retry_policy) as connection:
        before = order.continues
        if before is not None and before.service != connection.name:
            raise UsageError(
                f"run {before.run} was for {before.service}, but IMPORTER_BASE_URL is {connection.name}; set it to the "
                "address of that run, or start a new import with importer run"
            )
        yield connection


# --- 2. the plan, 3. its target ---


@dataclass(frozen=True, slots=True)
class _Execution:
    """The execution of an order: it is planned, then its rows are processed."""

    order: Order
    connection: ServiceConnection
    listen: RunLog
    control: RunControl

    def plan(self, *, dry_run: bool) -> Plan:
        order, connection = self.order, self.connection
        planner = Planner(
            order, connection.name, connection.questions, self._until_stopped if dry_run else self.listen, dry_run
        )
        mapping = read_mapping(order.mapping, order.settings.mapping_folders)
        with open_existing_ledger(order.settings.ledger_address) or nullcontext() as ledger:
            self._remove_leftovers(ledger)
            if ledger is not None and not dry_run:  # at once, and not only after a large file was read
                with ledger.lock_target(Scope(connection.name, mapping.target), order.selection.part):
                    pass
        planned = planner.plan(mapping.for_source(order.sheet, order.reading))
        self.listen(planned.as_event)
        return planned

    def _until_stopped(self, event: Event) -> None:
        self.listen(event)
        if self.control.is_stopped and isinstance(event, Preparing):  # its report, once begun, is completed
            raise CheckStopped

    def send(self, plan: Plan) -> Summary:
        """Send the rows, under the lock of their target, and write the report."""
        with self._begun(plan) as ledger, earlier_outcomes(self.order.settings.out) as earlier, self.control.sending():
            ledger.watch(self._report_server)
            self._remove_leftovers(ledger)
            uploads = upload_documents(plan, ledger, self.order, self.connection, self.control, self.listen)
            plan = uploads.noted_in(plan)
            rows = RowProcessing(plan, ledger, self.listen, uploads.outcome_of)
            loader = self._loader(plan, ledger, earlier)
            try:
                rows.run(loader.load)
                stop = loader.stop or rows.stop or self.control.stopped or uploads.stop
                summary = end(plan, stop, self.control.signal, self.listen)
            except StoppedEarly:  # its message refers to the ledger
                if ledger.is_in_place():
                    raise
                raise StoppedEarly(
                    f"{ledger.name}: the ledger was moved or deleted during the run, and the run has no "
                    "report. Only the service knows which rows were sent: restore the ledger if you can, then run the "
                    "same command again; the service reports which candidates it already has"
                ) from None
            with suppress(LedgerUnwritable):  # the next run of the target does it
                ledger.end_run(plan.manifest.run, summary.ended_at or summary.started_at)
        return summary

    @contextmanager
    def _begun(self, plan: Plan) -> Iterator[Ledger]:
        """The ledger, under the lock of the plan's target, with the run begun in it. Otherwise the plan is discarded.

        Under the lock, no other run of this target is running, unless both are parts: those that were killed are ended.
        """
        with ExitStack() as held:
            try:
                ledger = held.enter_context(open_ledger(self.order.settings.ledger_address))
                held.enter_context(ledger.lock_target(plan.manifest.scope, plan.manifest.selection.part))
                events = [*self._unknown_to(ledger, plan), *self._end_killed(plan, ledger)]
                ledger.begin_run(plan.ledger_run)
            except ImporterError:
                plan.discard()
                raise
            for event in events:
                self.listen(event)
            yield ledger

    def _loader(self, plan: Plan, ledger: Ledger, earlier: Earlier) -> Loader:
        settings, sending, connection = self.order.settings, self.order.sending, self.connection
        options = replace(
            sending,
            concurrency=settings.concurrency,
            rate=settings.rate,
            resend_delay=connection.resend_delay,
            max_attempts=settings.max_attempts,
            give_up_after=settings.give_up_minutes * 60,
            first_patience=first_patience(self.order),
            pool_exists=(settings.pool_exists or "").strip(),
        )
        return Loader(
            connection.service,
            ledger,
            plan.ledger_run,
            options=options,
            probe=connection.service.is_healthy,
            # Of a job post the questions were requested.
            has_answered=plan.mapping.target.operation is Operation.APPLY or ledger.has_answered(connection.name),
            on_waiting=self._report_waiting,
            on_answer=self.listen.answered,
            earlier=earlier,
            cancellation=self.control,
        )

    def _report_server(self, seconds: float | None) -> None:
        reason = "the server of the ledger does not respond"
        self.listen(Resumed() if seconds is None else Paused(reason, seconds, 0, seconds))

    def _report_waiting(self, paused: Paused | None) -> None:
        self.listen(paused or Resumed())

    def _unknown_to(self, ledger: Ledger, plan: Plan) -> Iterator[Event]:
        """Say that a ledger is new, if rows were sent before: what was imported then is sent again."""
        manifest, every = plan.manifest, (one for _, one in manifests_in(self.order.settings.out))
        if not ledger.runs() and any(one.scope == manifest.scope and not one.dry_run and one.ending for one in every):
            again = "rows that they imported are sent again, and the service says which candidates it has (409)"
            yield Remark(f"The ledger {ledger.name} is new, but {manifest.target} has earlier runs: {again}.")

    def _end_killed(self, plan: Plan, ledger: Ledger) -> Iterator[Event]:
        """Complete the runs for a target that were killed; as a part, those of the same part: others may be running."""
        # A run that the ledger does not know has sent nothing, and may just be waiting for the lock.
        unfinished = {record.run for record in ledger.unfinished_runs(plan.manifest.scope)}
        for folder, manifest in manifests_in(self.order.settings.out) if unfinished else ():
            if manifest.scope != plan.manifest.scope or manifest.run not in unfinished:
                continue
            own, other = plan.manifest.selection.part, manifest.selection.part
            if own is not None and other != own:
                if other is not None and other.total == own.total:  # another part, which may be running
                    continue
                raise UsageError(
                    f"run {manifest.run} of this target was killed, and a part cannot tell what it sent: run importer "
                    f"report {manifest.run}, then the same command again"
                )
            try:
                run = close(folder, ledger, known_before(ledger, manifest.scope, self.order.sending.out)).run
                if manifest.ending is None:
                    done = "Its report is now complete, and this run continues from there."
                    yield Remark(f"Run {run} was killed. {done}")
            except UnusableInput as damaged:
                if damaged.problems[0].code.startswith(_OF_LEDGER):  # then the next run completes it
                    raise
                # The ledger has what matters: a damaged folder must not block the import.
                for problem in damaged.problems:
                    yield Remark(f"The report of an earlier run cannot be written: {problem}")
                now = datetime.now(UTC)
                ledger.end_run(folder.name, now)
                write_manifest(folder, read_manifest(folder).ended(Ending(now, finished=False, exit_code=None)))

    def _remove_leftovers(self, ledger: Ledger | None) -> None:
        out = self.order.settings.out
        for run in remove_abandoned(out, ledger, Presences(out)):
            self.listen(Remark(f"Run {run} was killed before it sent anything; its files were removed."))
