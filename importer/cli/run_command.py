"""`importer run`, `check`, `resume` and `resolve`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from importer.app import earlier_runs, shown_runs
from importer.app.earlier_runs import EarlierRun, NothingToSend
from importer.app.import_file import Confirm, Finished, check_file, import_file, orders_of
from importer.app.orders import Order, RunControl
from importer.cli import options
from importer.cli.app import all_given_flags, given_flags, load_command, next_command
from importer.cli.messages import print_line, print_lines, print_message, print_next, print_result, show_error
from importer.cli.runs_commands import present, show_edited
from importer.cli.terminal import Terminal, ask_to_send, confirm_address, is_interactive, stopped_by_signals
from importer.notices import Notifier
from importer.notices.notifier import Report
from importer.problems import ImporterError, UnusableInput, UsageError, worst
from importer.report.problem_codes import GeneralTexts
from importer.report.summary import Summary, read_summary
from importer.report.text import headline, subject_line, summary_lines
from importer.runs.manifest import is_run
from importer.settings import Settings, load_settings
from importer.text.terminal import command_line

_Send = Callable[[Terminal, RunControl, Confirm | None], Finished | None]
_Execute = Callable[[Order], Finished | None]
_SIGNALLED: Final = 128
_STOPPED_EARLY: Final = 5


def run(
    context: typer.Context,
    file: options.File,
    mapping: options.MappingOfFile = None,
    out: options.Out = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    faults: options.SandboxFaults = None,
    sheet: options.Sheet = None,
    limit: options.Limit = None,
    rows: options.Rows = None,
    part: options.Part = None,
    rate: options.Rate = None,
    concurrency: options.Concurrency = None,
    max_errors: options.MaxErrors = None,
    resend_unconfirmed: options.Resend = "end",
    give_up_after: options.GiveUpAfter = None,
    until: options.Until = None,
    max_runtime: options.MaxRuntime = None,
    job: options.Job = None,
    resend_rejected: Annotated[
        bool, typer.Option("--resend-rejected", help="Send rejected rows again even if they have not changed.")
    ] = False,
    strict: options.Strict = False,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Import the rows of a file. Safe to repeat: imported rows are not sent again."""
    order = _order(context, file, mapping)
    session = _Session(context, order.settings, asks=not (yes or sandbox), as_json=as_json, quiet=quiet, job=job)
    session.end(order, lambda one: session.send(partial(import_file, one)))


def check(
    context: typer.Context,
    file: options.File,
    mapping: options.MappingOfFile = None,
    out: options.Out = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    sheet: options.Sheet = None,
    limit: options.Limit = None,
    rows: options.Rows = None,
    strict: options.Strict = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Check a file against its mapping and the current questions. Writes a report, sends nothing."""
    order = _order(context, file, mapping)
    session = _Session(context, order.settings, asks=False, as_json=as_json, quiet=quiet)
    session.end(order, session.check)


def resume(
    context: typer.Context,
    run: options.Run = "last",
    out: options.Out = None,
    questions: options.SandboxQuestions = None,
    faults: options.SandboxFaults = None,
    rate: options.Rate = None,
    concurrency: options.Concurrency = None,
    max_errors: options.MaxErrors = None,
    resend_unconfirmed: options.Resend = "end",
    give_up_after: options.GiveUpAfter = None,
    until: options.Until = None,
    max_runtime: options.MaxRuntime = None,
    job: options.Job = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Continue a run that was stopped or killed, from its copies of the file and the mapping."""
    given = options.given(context, sandbox=bool(questions or faults))
    settings, sending = given.settings(out), given.sending()
    earlier = EarlierRun(run, settings, given_flags(context, "run"))
    session = _Session(context, settings, asks=not yes, as_json=as_json, quiet=quiet, job=job)
    session.send_again(earlier, partial(earlier_runs.resume, earlier, sending))


def resolve(
    context: typer.Context,
    run: options.Run,
    row: Annotated[int, typer.Argument(help="The row number, as in import_row.", show_default=False)],
    created: Annotated[bool, typer.Option("--created", help="The candidate exists in the service.")] = False,
    not_created: Annotated[
        bool, typer.Option("--not-created", help="The candidate does not exist in the service.")
    ] = False,
    out: options.Out = None,
) -> None:
    """Record whether the candidate of an unconfirmed row exists in the service."""
    if created == not_created:
        raise UsageError("use --created if the candidate exists in the service, or --not-created if not")
    settings = load_settings(out=out)
    settled = earlier_runs.resolve(EarlierRun(run, settings), row, created=created)
    if created:
        print_result(f"Row {row} of run {settled} is recorded as created and will not be sent again.")
        print_result(f"Next: {command_line('show', settled, flags={'--out': str(out)} if out else {})}")
    else:
        print_result(f"Row {row} of run {settled} is recorded as not created.")
        print_result("Next: run the command again that named this row; it sends the row.")
    show_edited(settings.out / settled)


# --- flags --------------------------------------------------------------------------------------


def _order(context: typer.Context, file: Path, mapping: Path | None) -> Order:
    """The order that `run` or `check` was given."""
    if mapping is None:
        _as_in_its_run(context, file)
    given, flags = options.given(context), given_flags(context, "run")
    settings, selection = given.settings(given.out), given.selection()
    order = Order(file, mapping, settings, selection, given.sending(), flags=flags, sheet=given.sheet)
    return earlier_runs.fixed_order(order)


def _as_in_its_run(context: typer.Context, file: Path) -> NoReturn:
    """Import a results file with the mapping and the flags of its run; flags that are given now come after them.

    Raises UsageError: it is not the results file of a run.
    """
    given = [word for flag in all_given_flags(context) for word in flag if word is not None]
    out = context.params.get("out") or (file.absolute().parent.parent if is_run(file.absolute().parent) else None)
    flags = earlier_runs.flags_of_results_file(file, load_settings(out=out))
    command = load_command(context.info_name or "run")
    known = {flag for parameter in command.params for flag in parameter.opts}
    kept = [part for flag in flags.items() if flag[0] in known for part in flag if part]
    words = [*kept, *given, "--", str(file)]
    raise typer.Exit(command.main(words, prog_name=context.command_path, standalone_mode=False) or 0)


# --- an order at the terminal ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Session:
    """An order, run or checked at the terminal. asks: whether an interactive user is asked before the first request."""

    context: typer.Context
    settings: Settings
    asks: bool
    as_json: bool
    quiet: bool
    job: str | None = None

    def send_again(self, earlier: EarlierRun, execute: _Send) -> None:
        """Run an order that sends rows of an earlier run, if any are left."""
        folder, manifest = earlier.find()
        if not manifest.sandbox:
            confirm_address(self.settings)
        with self._reporting(manifest.file) as report:
            try:
                finished = replace(self, asks=self.asks and not manifest.sandbox).send(execute)
            except NothingToSend:  # what became of that run counts
                report(read_summary(folder), folder)
                show = next_command(self.context, "show", manifest.run)
                print_next(f"Run {manifest.run} has finished, and no row is left to be sent. Next", show)
                return
            if finished is not None:
                report(finished.summary, finished.folder)
        self._end_one(finished)

    def send(self, execute: _Send) -> Finished | None:
        """Run an order; None if a person declined."""
        with self._hiding_cells(), Terminal(quiet=self.quiet) as terminal, stopped_by_signals() as control:
            asks = self.asks and not self.quiet and not self.as_json and is_interactive()
            return execute(terminal, control, ask_to_send if asks else None)

    def end(self, order: Order, execute: _Execute) -> NoReturn:
        """Execute an order, present what became of it, and exit with its exit code; of a folder of mappings, those of
        an order for each, and the worst exit code.
        """
        if order.sending.sandbox_setup is None:
            confirm_address(self.settings)
        with self._reporting(order.shown_as) as report:
            orders = orders_of(order)
            if orders[0] is not order:
                self._end_folder(orders, execute, report)
            finished = execute(order)
            if finished is not None:
                report(finished.summary, finished.folder)
        self._end_one(finished)

    def _end_folder(self, orders: Sequence[Order], execute: _Execute, report: Report) -> NoReturn:
        """A run for each mapping. One that cannot begin does not keep the next from it; a signal does."""
        ended, waiting, code = list[Finished](), list(orders), 0
        try:
            while waiting and code <= _SIGNALLED:
                order = waiting.pop(0)
                if not self.quiet:
                    print_line(f"{order.mapping}:")
                what: Summary | ImporterError
                try:
                    finished = execute(order)
                except ImporterError as error:
                    print_line(f"{order.mapping}: not used")
                    show_error(error, " with it")
                    what, folder = error, None
                else:
                    if finished is None:
                        continue
                    ended.append(finished)
                    what, folder = finished.summary, finished.folder
                ends_with = what.exit_code or 0
                if worst((code, ends_with)) == ends_with:
                    report(what, folder)
                    code = ends_with
        finally:  # also after Ctrl-C at a question
            self._present_folder(ended, waiting)
        raise typer.Exit(_STOPPED_EARLY if ended and code in (2, 3, 75) else code)

    def _present_folder(self, ended: Sequence[Finished], waiting: Sequence[Order]) -> None:
        if self.as_json:
            found = [finished.summary.to_json() for finished in ended]
            print_result(json.dumps(found, ensure_ascii=False))
        for finished in () if self.as_json else ended:
            if self.quiet:
                if finished.summary.exit_code:
                    print_line(f"{finished.summary.target}:")
                self._present(finished)
            else:
                print_lines(f"{finished.summary.target}: {headline(finished.summary)}")
                print_result(f"  {next_command(self.context, 'show', finished.summary.run)}")
        if waiting:
            names = ", ".join(str(order.mapping) for order in waiting)
            print_message(f"Not begun: {names}. Run the same command again; completed rows are skipped.")
        elif not ended:
            print_message("Nothing was sent.")

    def _end_one(self, finished: Finished | None) -> NoReturn:
        if finished is None:
            print_message("Nothing was sent.")
            raise typer.Exit(0)
        self._present(finished)
        self._exit(finished.summary)

    @contextmanager
    def _reporting(self, file: str) -> Iterator[Report]:
        """Report a scheduled job to people and monitors."""
        if self.job is None:
            yield lambda _summary, _folder: None
            return
        notifier = Notifier(self.settings, lambda failure: print_line(f"importer: {failure}"))
        with notifier.reporting(self.job, file) as report:
            yield report

    @contextmanager
    def _hiding_cells(self) -> Iterator[None]:
        """What a job prints may be mailed: no error quotes a cell then."""
        try:
            yield
        except UnusableInput as error:
            if not (self.quiet and self.job):
                raise
            raise type(error)([*map(GeneralTexts().problem, error.problems)]) from None

    def check(self, order: Order) -> Finished:
        """Check an order."""
        with self._hiding_cells(), Terminal(quiet=self.quiet) as terminal:
            return check_file(order, terminal)

    def _present(self, finished: Finished) -> None:
        """Print the summary; with --quiet only what needs a person."""
        summary = finished.summary
        if not self.quiet or self.as_json:
            is_verbose = bool(self.context.params.get("verbose"))
            present(self.context, finished.folder, summary, self.as_json, is_verbose=is_verbose, with_repeated=False)
        elif summary.exit_code:
            if self.job:
                summary = GeneralTexts().summary(summary, with_stop=True)
            for line in summary_lines(summary, finished.folder):
                print_line(line)
        elif summary.source.rows == 0:  # perhaps its export is broken
            print_line(f"importer: {summary.source.file} has no rows")
        elif shown_runs.has_new_other_data(summary, self.settings):  # not again each night
            others = finished.imported_with_other_data
            rows = "1 row was" if others == 1 else f"{others} rows were"
            show = next_command(self.context, "show", summary.run)
            print_next(f"importer: {rows} already imported with different data; see", show)

    def _exit(self, summary: Summary) -> NoReturn:
        """Exit with the exit code of the run; in a log, or a mail, after a last line that says how it ended."""
        if not self.as_json and not sys.stdout.isatty() and (summary.exit_code or not self.quiet):
            show_line = print_line if self.quiet else print_result
            show_line("")
            show_line(subject_line(summary))
        raise typer.Exit(summary.exit_code or 0)
