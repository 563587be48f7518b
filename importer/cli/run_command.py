"""`importer run`, `check`, `resume`, `retry` and `resolve`: what sends rows, or settles them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from importer.app import earlier_runs
from importer.app.connection import SANDBOX
from importer.app.earlier_runs import ONLY_REHEARSED, EarlierRun, NothingToRetry, parse_outcomes
from importer.app.import_file import Confirm, Finished, check_file, import_file
from importer.app.orders import ErrorLimit, Order, Rehearsal, RunControl, Sending, parse_minutes
from importer.cli import options
from importer.cli.messages import in_folder, say, tell
from importer.cli.runs_commands import present
from importer.cli.terminal import Terminal, ask_to_send, confirm_address, is_interactive, stopped_by_signals
from importer.problems import UsageError
from importer.runs.row_selection import ALL_ROWS, Selection, parse_rows
from importer.settings import Settings, load_settings

Only = Annotated[
    str, typer.Option("--only", help="The rows that were rejected, failed or unconfirmed, or only some of these.")
]


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
    concurrency: options.Concurrency = None,
    max_errors: options.MaxErrors = None,
    resend_unconfirmed: options.Resend = "end",
    give_up_after: options.GiveUpAfter = None,
    resend_rejected: Annotated[
        bool, typer.Option("--resend-rejected", help="Send rows again that were refused and did not change.")
    ] = False,
    check_first: Annotated[
        bool,
        typer.Option(
            "--check-first", help="Check every row before the first is sent, also of a large file. [asked: always]"
        ),
    ] = False,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Import the rows of a spreadsheet. Safe to run again: rows that are done are not sent a second time."""
    selection = _selection(rows, limit)
    settings = _settings(out, rate, concurrency, give_up_after)
    rehearsal = _rehearsal(sandbox, questions, faults)
    sending = Sending(
        ErrorLimit.parse(max_errors) if max_errors else None, resend_unconfirmed, resend_rejected, rehearsal
    )
    order = Order(file, mapping, settings, selection, sending, check_first)
    if dry_run:
        _check(order, as_json=as_json, quiet=quiet)
    if not sandbox:
        confirm_address(settings)
    front = _Front(settings, asks=not (yes or sandbox), as_json=as_json, quiet=quiet)
    front.send(lambda *steering: import_file(order, *steering))


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
    sending = Sending(rehearsal=_rehearsal(sandbox, questions, None))
    _check(Order(file, mapping, load_settings(out=out), _selection(rows, limit), sending), as_json=as_json, quiet=quiet)


def resume(
    run: options.Run = "last",
    out: options.Out = None,
    questions: options.SandboxQuestions = None,
    faults: options.SandboxFaults = None,
    rate: options.Rate = None,
    concurrency: options.Concurrency = None,
    max_errors: options.MaxErrors = None,
    resend_unconfirmed: options.Resend = "end",
    give_up_after: options.GiveUpAfter = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a run that was stopped or killed, from its own copies of file and mapping. Done rows are not sent."""
    settings = _settings(out, rate, concurrency, give_up_after)
    sending = _sending_again(questions, faults, max_errors, resend_unconfirmed)
    earlier, is_rehearsal = _earlier(run, settings)
    front = _Front(settings, asks=not (yes or is_rehearsal), as_json=as_json, quiet=quiet)
    front.send(lambda *steering: earlier_runs.resume(earlier, sending, *steering))


def retry(
    run: options.Run = "last",
    only: Only = "rejected,failed,unconfirmed",
    out: options.Out = None,
    questions: options.SandboxQuestions = None,
    faults: options.SandboxFaults = None,
    rate: options.Rate = None,
    concurrency: options.Concurrency = None,
    max_errors: options.MaxErrors = None,
    resend_unconfirmed: options.Resend = "end",
    give_up_after: options.GiveUpAfter = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Send the rows of a run again that were rejected, failed or unconfirmed, as they were, and no others."""
    kinds = parse_outcomes(only)
    settings = _settings(out, rate, concurrency, give_up_after)
    sending = _sending_again(questions, faults, max_errors, resend_unconfirmed)
    earlier, is_rehearsal = _earlier(run, settings)
    front = _Front(settings, asks=not (yes or is_rehearsal), as_json=as_json, quiet=quiet)
    try:
        front.send(lambda *steering: earlier_runs.retry(earlier, kinds, sending, *steering))
    except NothingToRetry as nothing:
        show = f"importer show {nothing}{in_folder(settings.out)}"
        say(f"No row of run {nothing} was {' or '.join(kinds)}. Next: {show}")


def resolve(
    run: options.Run,
    row: Annotated[int, typer.Argument(help="The row, as import_row names it.", show_default=False)],
    created: Annotated[bool, typer.Option("--created", help="The candidate is there.")] = False,
    not_created: Annotated[bool, typer.Option("--not-created", help="The candidate is not there.")] = False,
    out: options.Out = None,
) -> None:
    """Settle an unconfirmed row as you found it in the service: the candidate is there, or is not."""
    if created == not_created:
        raise UsageError("say what you found in the service: --created if the candidate is there, or --not-created")
    settings = load_settings(out=out)
    settled = earlier_runs.resolve(EarlierRun(run, settings), row, created=created)
    if created:
        tell(f"Row {row} of run {settled} is known as created; it will not be sent again.")
    else:
        again = f"importer retry {settled} --only failed{in_folder(settings.out)}"
        tell(f"Row {row} of run {settled} is recorded as not created. Next: {again}")


# --- flags --------------------------------------------------------------------------------------


def _settings(out: Path | None, rate: float | None, concurrency: int | None, give_up_after: str | None) -> Settings:
    minutes = parse_minutes(give_up_after) if give_up_after else None
    return load_settings(out=out, rate=rate, concurrency=concurrency, give_up_minutes=minutes)


def _selection(rows: str | None, limit: int | None) -> Selection:
    return replace(parse_rows(rows) if rows else ALL_ROWS, limit=limit)


def _rehearsal(sandbox: bool, questions: Path | None, faults: Path | None) -> Rehearsal | None:
    if not sandbox and (questions or faults):
        raise UsageError(ONLY_REHEARSED)
    return Rehearsal(questions, faults) if sandbox else None


def _earlier(run: str, settings: Settings) -> tuple[EarlierRun, bool]:
    """A run to go on with, and whether it was a rehearsal; else a person may have to confirm the address first."""
    earlier = EarlierRun(run, settings)
    is_rehearsal = earlier_runs.service_of(earlier) == SANDBOX
    if not is_rehearsal:
        confirm_address(settings)
    return earlier, is_rehearsal


def _sending_again(
    questions: Path | None, faults: Path | None, max_errors: str | None, resend_unconfirmed: options.Resend
) -> Sending:
    limit = ErrorLimit.parse(max_errors) if max_errors else None
    return Sending(limit, resend_unconfirmed, rehearsal=Rehearsal(questions, faults) if questions or faults else None)


# --- what an order looks like from here ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Front:
    """The terminal of an order that sends. asks: whether a person who is there is asked before the first request."""

    settings: Settings
    asks: bool
    as_json: bool
    quiet: bool

    def send(self, carry_out: Callable[[Terminal, RunControl, Confirm | None], Finished | None]) -> None:
        """Have an order carried out, and end with its exit code."""
        with Terminal(quiet=self.quiet) as terminal, stopped_by_signals(RunControl()) as control:
            asks = self.asks and not self.quiet and not self.as_json and is_interactive()
            finished = carry_out(terminal, control, ask_to_send if asks else None)
        if finished is None:
            say("Nothing was sent.")
            raise typer.Exit(0)
        _tell_end(finished, self.settings, as_json=self.as_json, quiet=self.quiet)


def _check(order: Order, *, as_json: bool, quiet: bool) -> None:
    if order.sending.rehearsal is None:
        confirm_address(order.settings)
    with Terminal(quiet=quiet) as terminal:
        finished = check_file(order, terminal)
    _tell_end(finished, order.settings, as_json=as_json, quiet=quiet)


def _tell_end(finished: Finished, settings: Settings, *, as_json: bool, quiet: bool) -> None:
    summary = finished.summary
    if not quiet or as_json:
        present(finished.folder, summary, as_json)
    elif summary.exit_code:
        say(f"importer: exit code {summary.exit_code}; see: importer show {summary.run} --out {settings.out}")
    elif others := finished.done_otherwise:
        rows = "1 row is" if others == 1 else f"{others} rows are"
        say(f"importer: {rows} done with other content; see: importer show {summary.run} --out {settings.out}")
    raise typer.Exit(summary.exit_code or 0)
