"""`importer run` and `importer check`: one path; check takes a loader that sends nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from importer.cli import options
from importer.cli.messages import say
from importer.startup import load_meanwhile

if TYPE_CHECKING:
    from importer.app.planning import Order, Plan
    from importer.cli.connection import Connection
    from importer.ledger import Ledger
    from importer.load import ErrorLimit
    from importer.report import Summary
    from importer.runs.row_selection import Selection
    from importer.service import Patience
    from importer.settings import Settings


@dataclass(frozen=True, slots=True)
class RunFlags:
    """How a run shall go, as it was typed."""

    dry_run: bool = False
    sandbox: bool = False
    sandbox_questions: Path | None = None
    sandbox_faults: Path | None = None
    max_errors: str | None = None
    settle: options.Settling = "later"
    again: bool = False
    yes: bool = False
    as_json: bool = False
    quiet: bool = False
    check_first: bool = False


def run(
    file: options.File,
    mapping: options.MappingFile,
    out: options.Out = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, send nothing. The same as check.")
    ] = False,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    faults: options.SandboxFaults = None,
    limit: options.Limit = None,
    rows: options.Rows = None,
    rate: options.Rate = None,
    in_flight: options.InFlight = None,
    max_errors: options.MaxErrors = None,
    settle: options.Settle = "later",
    give_up_after: options.GiveUpAfter = None,
    again: Annotated[
        bool, typer.Option("--again", help="Send rows again that were refused and did not change.")
    ] = False,
    check_first: Annotated[
        bool,
        typer.Option(
            "--check-first", help="Check every row before the first is sent, also of a large file. \\[asked: always]"
        ),
    ] = False,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Import the rows of a spreadsheet. Safe to run again: rows that are done are not sent a second time."""
    flags = RunFlags(dry_run, sandbox, questions, faults, max_errors, settle, again, yes, as_json, quiet, check_first)
    _import_file(
        file,
        mapping,
        _selection(rows, limit),
        flags,
        run_settings(out=out, rate=rate, in_flight=in_flight, give_up_after=give_up_after),
    )


def check(
    file: options.File,
    mapping: options.MappingFile,
    out: options.Out = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    limit: options.Limit = None,
    rows: options.Rows = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Check a spreadsheet against its mapping and the live questions. Sends nothing; the report is that of a run."""
    from importer.settings import load_settings

    flags = RunFlags(dry_run=True, sandbox=sandbox, sandbox_questions=questions, as_json=as_json, quiet=quiet)
    _import_file(file, mapping, _selection(rows, limit), flags, load_settings(out=out))


def run_settings(give_up_after: str | None, **flags: object) -> Settings:
    """The settings of a run that sends."""
    from importer.load import parse_minutes
    from importer.settings import load_settings

    return load_settings(give_up_minutes=parse_minutes(give_up_after) if give_up_after else None, **flags)


def _selection(rows: str | None, limit: int | None) -> Selection:
    from importer.runs.row_selection import Selection, parse_rows

    return replace(parse_rows(rows) if rows else Selection(), limit=limit)


def _import_file(file: Path, mapping: Path, selection: Selection, flags: RunFlags, settings: Settings) -> None:
    from importer.app.planning import Order
    from importer.errors import UsageError

    if selection.limit is not None and mapping.is_dir():
        raise UsageError("--limit does not say of which target; take a part of the rows with --rows")

    def order(service: str) -> Order:
        return Order(
            file,
            mapping,
            settings.out,
            selection,
            service,
            settings.wire,
            flags.dry_run,
        )

    carry_out_order(order, flags, settings)


def carry_out_order(order_for: Callable[[str], Order], flags: RunFlags, settings: Settings) -> None:
    """Plan, ask, send, report; ends with the run's exit code. `order_for` gets the name of the service."""
    from importer.cli.batch_command import import_batch
    from importer.cli.runs_commands import present
    from importer.load import DONE_WITH_OTHER_CONTENT, ErrorLimit
    from importer.runs.results_folder import make_results

    limit = ErrorLimit.parse(flags.max_errors) if flags.max_errors else None
    make_results(settings)
    with _connection(flags, settings) as connection:

        def carry(plan: Plan) -> Summary:
            if flags.dry_run:
                return _check(plan, settings, flags.quiet)
            return _send(plan, flags, settings, connection, limit)

        # Whoever is asked whether to send the rows is told how many of them are ready.
        order = replace(order_for(connection.name), check_first=flags.check_first or _may_ask(flags))
        _tell_of_other_addresses(connection.name, settings)
        if order.mapping.is_dir():
            folder, summary = import_batch(order, connection, carry, ask=_may_ask(flags), quiet=flags.quiet)
        else:
            _refuse_a_second_run(order, flags, settings)
            plan = _plan(order, flags, connection)
            folder, summary = plan.folder, carry(plan)
    if not flags.quiet or flags.as_json:
        present(folder, summary, flags.as_json)
    elif summary.exit_code:
        say(f"importer: exit code {summary.exit_code}; see: importer show {summary.run} --out {settings.out}")
    elif others := sum(group.count for group in summary.problems if group.code == DONE_WITH_OTHER_CONTENT):
        rows = "1 row is" if others == 1 else f"{others} rows are"
        say(f"importer: {rows} done with other content; see: importer show {summary.run} --out {settings.out}")
    raise typer.Exit(summary.exit_code or 0)


def _connection(flags: RunFlags, settings: Settings) -> AbstractContextManager[Connection]:
    from importer.cli.connection import connect, rehearse
    from importer.errors import UsageError

    if flags.sandbox:
        return rehearse(settings, flags.sandbox_questions, flags.sandbox_faults)
    if flags.sandbox_questions or flags.sandbox_faults:
        raise UsageError("--questions and --faults are for the sandbox; add --sandbox, or leave them out")
    return connect(settings, lambda base_url: _patience(flags, settings, base_url))


def _patience(flags: RunFlags, settings: Settings, base_url: str) -> Patience:
    """A run waits for a service that it knows to be there as long before its first row as between two of them."""
    from importer.ledger import Ledger
    from importer.load import in_words
    from importer.service import Patience

    def goes_on_for() -> float:
        if flags.dry_run:
            return 0.0
        with ExitStack() as held:
            ledger = Ledger.open_existing(settings.ledger_path())
            if ledger is None or not held.enter_context(ledger).has_answered(base_url):
                return 0.0
        return settings.give_up_minutes * 60

    def told(seconds: float) -> None:
        if seconds >= 1.5 and not flags.quiet:
            say(f"The service does not list its questions at the moment; next try in {in_words(seconds)}.")

    return Patience(goes_on_for=goes_on_for, told=told)


def _tell_of_other_addresses(base: str, settings: Settings) -> None:
    """The ledger knows rows by the address as it is written: who changes that is told, before anything is sent."""
    from importer.cli.connection import SANDBOX, is_alike
    from importer.ledger import Ledger

    ledger = Ledger.open_existing(settings.ledger_path()) if base != SANDBOX else None
    if ledger is None:
        return
    with ledger:
        known = ledger.bases()
    others = [other for other in known if other not in (base, SANDBOX) and (base not in known or is_alike(base, other))]
    if others:
        say(
            f"The ledger has runs for {' and '.join(others)}, and takes {base} for another service: whom it knows "
            "there is sent again. If they are one service, keep to one address in IMPORTER_BASE_URL."
        )


def _refuse_a_second_run(order: Order, flags: RunFlags, settings: Settings) -> None:
    """Say at once that another run is at work, and not after a large file was read."""
    if flags.dry_run:
        return
    from importer.ledger import Scope, refuse_while_locked
    from importer.mapping import read_mapping

    refuse_while_locked(settings.ledger_path(), Scope(order.service, read_mapping(order.mapping).target))


def _plan(order: Order, flags: RunFlags, connection: Connection) -> Plan:
    from importer.app.planning import make_plan

    load_meanwhile("importer.transform.email_library", "importer.load", "importer.app.pipeline")
    plan = make_plan(order, connection.questions)
    if not flags.quiet:
        say(plan.sheet.reading)
    if _may_ask(flags):
        _agree(plan)
    return plan


def _may_ask(flags: RunFlags) -> bool:
    """Whether to ask before the first request: there is somebody to ask. A scheduled run is not held up."""
    unasked = flags.dry_run or flags.yes or flags.sandbox or flags.quiet or flags.as_json
    return not unasked and sys.stdin.isatty() and sys.stderr.isatty()


def _agree(plan: Plan) -> None:
    from importer.app.planning import discard

    manifest = plan.manifest
    assert plan.forecast is not None  # all was checked, since somebody is asked
    ready = f"{plan.forecast.ready} of {manifest.rows} rows are ready for {manifest.target} at {manifest.service}"
    if not typer.confirm(f"{ready}. Send them?", err=True):
        discard(plan)
        say("Nothing was sent.")
        raise typer.Exit(0)


def _check(plan: Plan, settings: Settings, quiet: bool) -> Summary:
    from importer.app.pipeline import carry_out, end, recall
    from importer.cli.progress import progress
    from importer.ledger import Ledger
    from importer.load import DryLoader

    ledger = Ledger.open_existing(settings.ledger_path())
    try:
        loader = DryLoader(ledger, plan.manifest.scope)
        _tell_of_abandoned(settings, ledger)
        if ledger is not None:
            recall(plan, settings.out, ledger)
        with progress(plan.manifest.rows, quiet) as watch:
            done = carry_out(plan, loader, watch)
        return end(plan, done, None, None)
    finally:
        if ledger is not None:
            ledger.close()


def _tell_of_abandoned(settings: Settings, ledger: Ledger | None) -> None:
    from importer.runs.cleanup import remove_abandoned

    for run in remove_abandoned(settings.out, ledger):
        say(f"Run {run} was ended from outside before it sent anything; what it left is removed.")


@contextmanager
def _ledger_of(plan: Plan, path: Path) -> Iterator[Ledger]:
    """The ledger, under the lock of the plan's target; a plan that cannot have them leaves nothing behind."""
    from importer.app.planning import discard
    from importer.errors import ImporterError
    from importer.ledger import Ledger, target_lock

    with ExitStack() as held:
        try:
            held.enter_context(target_lock(path, plan.manifest.scope))
            ledger = held.enter_context(Ledger.open(path))
        except ImporterError:
            discard(plan)
            raise
        yield ledger


def _send(plan: Plan, flags: RunFlags, settings: Settings, connection: Connection, limit: ErrorLimit | None) -> Summary:
    from importer.app.pipeline import begin, carry_out, end
    from importer.app.planning import discard
    from importer.cli.progress import progress, tell_waiting
    from importer.cli.signals import interruption
    from importer.errors import ImporterError, StoppedEarly
    from importer.ledger import EarlierOutcomes
    from importer.load import Halt, Loader, LoadOptions
    from importer.models import Operation

    halt = Halt()
    with (
        _ledger_of(plan, settings.ledger_path()) as ledger,
        EarlierOutcomes(settings.out) as earlier,
        interruption(halt.set) as interrupted,
    ):
        try:
            earlier_runs = begin(plan, settings.out, ledger)
        except ImporterError:
            if ledger.run(plan.manifest.run) is None:  # it has not begun: what was copied for it only takes room
                discard(plan)
            raise
        for killed in earlier_runs.summaries:
            say(f"Run {killed.run} was ended from outside; its report is written now, and this run goes on from there.")
        for problem in earlier_runs.problems:
            say(f"An earlier run cannot be reported any more: {problem}")
        _tell_of_abandoned(settings, ledger)
        scope = plan.manifest.scope
        loader = Loader(
            connection.service,
            ledger,
            plan.ledger_run,
            submit_then=connection.service.submit_then,
            options=LoadOptions(
                in_flight=settings.in_flight,
                rate=settings.rate,
                max_errors=limit,
                settle=flags.settle,
                settle_after=connection.settle_after,
                attempts=settings.attempts,
                give_up_after=settings.give_up_minutes * 60,
                again=flags.again,
            ),
            probe=connection.is_well,
            has_answered=scope.target.operation is Operation.APPLY or ledger.has_answered(scope.base),
            told=tell_waiting(flags.quiet),
            earlier=earlier.of,
            halt=halt,
        )
        try:
            with progress(plan.manifest.rows, flags.quiet) as watch:
                done = carry_out(plan, loader, watch)
            summary = end(plan, done, loader.stop, interrupted.signal)
        except StoppedEarly:  # its words rest on the ledger
            if ledger.is_in_place():
                raise
            raise StoppedEarly(
                f"{ledger.path}: the ledger was moved or deleted while the run was at work, and the run has no report. "
                "Which rows were sent only the service knows: put the ledger back if you can, then run the same "
                "command again, and the service tells whom it has already"
            ) from None
        ledger.end_run(plan.manifest.run, summary.ended_at or summary.started_at, summary.exit_code)
    return summary
