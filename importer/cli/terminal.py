"""The terminal during an order: progress, questions, and signals."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from importer.app import orders
from importer.app.event_lines import detail_of, notice_of
from importer.app.orders import RunControl, ending_signals
from importer.cli.messages import print_line, print_message
from importer.models import Outcome, OutcomeKind
from importer.report.outcomes import by_color
from importer.report.text import problem_lines
from importer.settings import Settings
from importer.settings.trust import confirm
from importer.text.terminal import wrapped

_PROGRESS_INTERVAL: Final = 30.0  # seconds between two progress lines
_RATE_INTERVAL: Final = 2.0  # seconds between two updates of the rate in the bar
_DOING: Final = {"read": "Reading", "checked": "Checking", "uploaded": "Uploading"}
_SHORT_CHECK: Final = 1.0  # seconds; its progress is not shown
_STOPPING = b"\nStopping: waiting for pending requests, then writing the report.\nPress Ctrl-C again to stop now.\n"
_STOPPED = b"\nStopped. Run the same command again to continue.\n"


class Terminal(contextlib.AbstractContextManager["Terminal"]):
    """Listens to events and shows them; with `quiet` only those that the user has to know.

    A context manager: at its end the progress bar is removed, also after an error.
    """

    def __init__(self, *, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._quiet = quiet
        self._clock = clock
        self._rows: _Progress | None = None
        self._doing, self._doing_since = "", 0.0
        self._total: int | None = None
        self._sends = False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._end_rows()

    def __call__(self, event: orders.Event) -> None:
        if isinstance(event, orders.RowEnded):
            is_left = self._sends and event.outcome.kind is OutcomeKind.NOT_SENT  # the run has stopped
            if not (self._quiet or is_left):
                self._progress()(event.outcome)
        elif isinstance(event, orders.RowsEnded):
            self._end_rows()
        elif isinstance(event, orders.Started):
            self._total = event.rows
        elif isinstance(event, orders.Preparing):
            self._preparing(event)
        elif isinstance(event, orders.Planned):
            self._end_rows()
            self._sends = not event.dry_run
            for planned_line in _planned(event):
                self._show_detail(planned_line)
        elif (line := notice_of(event)) is not None:
            print_message(line)
        elif (line := detail_of(event)) is not None:
            self._show_detail(line)
            if self._rows is not None:
                self._rows.pause(is_paused=isinstance(event, orders.Paused))

    def _show_detail(self, line: str) -> None:
        if not self._quiet:
            print_message(line)

    def _preparing(self, event: orders.Preparing) -> None:
        if self._quiet:
            return
        if self._doing != event.what:
            self._end_rows()
            self._doing, self._doing_since = event.what, self._clock()
        if self._rows is None and self._clock() - self._doing_since >= _SHORT_CHECK:
            self._rows = _Progress(event.total, self._clock, _DOING[event.what])
        if self._rows is not None:
            self._rows.preparing(event)

    def _progress(self) -> _Progress:
        if self._rows is None:
            self._rows = _Progress(self._total, self._clock)
        return self._rows

    def _end_rows(self) -> None:
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.end()


def _planned(planned: orders.Planned) -> Iterator[str]:
    """How the file was read; before rows are sent also how many will be sent or not, and how long that takes."""
    yield planned.reading
    if planned.dry_run:
        return
    found = planned.forecast
    others = [(found.held_back, "held back"), (found.filtered, "filtered"), (found.done, "already imported")]
    rows = f"{found.rows:,} row{'' if found.rows == 1 else 's'}"
    parts = [f"{found.ready:,} of {rows} will be sent to {planned.target}"]
    parts += [f"{count:,} {words}" for count, words in others if count]
    yield from wrapped(f"Plan: {', '.join(parts)}.", others="  ")


class _Progress:
    """Counts rows: in a bar on a terminal, else in a line at most every `_PROGRESS_INTERVAL` seconds."""

    def __init__(self, total: int | None, clock: Callable[[], float], does: str = "Rows") -> None:
        self._total = total
        self._clock = clock
        self._counts: Counter[OutcomeKind] = Counter()
        self._shown_at = clock()
        self._rows_shown = 0
        self._bar = _started_bar(total, does) if sys.stderr.isatty() else None

    def __call__(self, outcome: Outcome) -> None:
        self._counts[outcome.kind] += 1
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=1, counts=counts_in_words(self._counts))
            self._show_rate(self._bar)
        elif (now := self._clock()) - self._shown_at >= _PROGRESS_INTERVAL:
            self._shown_at = now
            done = f"{self._counts.total()}" if self._total is None else f"{self._counts.total()} of {self._total}"
            print_message(f"{done} rows: {counts_in_words(self._counts)}")

    def preparing(self, event: orders.Preparing) -> None:
        """Show how much is read, checked or uploaded; no row has been sent yet."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=event.count)
        elif (now := self._clock()) - self._shown_at >= _PROGRESS_INTERVAL:
            self._shown_at = now
            print_message(detail_of(event) or "")

    def pause(self, *, is_paused: bool) -> None:
        """Show whether sending pauses."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description="Waiting" if is_paused else "Rows", rate="")

    def _show_rate(self, bar: Progress) -> None:
        now, rows = self._clock(), self._counts.total()
        if now - self._shown_at >= _RATE_INTERVAL:
            rate = (rows - self._rows_shown) / (now - self._shown_at)
            bar.update(bar.task_ids[0], rate=f"{rate:,.{0 if rate >= 10 else 1}f}/s")
            self._shown_at, self._rows_shown = now, rows

    def end(self) -> None:
        if self._bar is not None:
            with contextlib.suppress(OSError):  # the terminal was closed
                self._bar.stop()


def _started_bar(total: int | None, does: str) -> Progress:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=6),  # the counts need the room of 80 columns
        MofNCompleteColumn(),
        TextColumn("{task.fields[counts]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    bar.add_task(does, total=total, counts="", rate="")
    return bar


def counts_in_words(counts: Counter[OutcomeKind]) -> str:
    """The progress so far, such as `120 created, 3 existing, 2 with problems`."""
    words = {"created": "created", "existing": "existing", "problems": "with problems"}
    return ", ".join(f"{count} {words[name]}" for name, count in by_color(counts).items() if count and name in words)


# --- questions: only asked at an interactive terminal, never in a scheduled run ---------------------


def is_interactive() -> bool:
    """Whether a user can see a question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


_ROOM: Final = 10  # lines for each list before a question
_ALL_IN: Final = "a check reports all"


def ask_to_send(planned: orders.Planned) -> bool:
    """Show the warnings and why rows are held back, and ask whether to send the others; if there are none, do not."""
    for line in problem_lines("Warnings", planned.forecast.warned, planned.warnings, room=_ROOM, all_in=_ALL_IN):
        print_line(line)
    for line in problem_lines("Held back", planned.forecast.reasons, room=_ROOM, all_in=_ALL_IN):
        print_line(line)
    if not (ready := planned.forecast.ready):
        return True
    rows = "1 row" if ready == 1 else f"{ready:,} rows"
    return ask(f"Send {rows} to {planned.target} at {planned.service}?", "Nothing was sent.")


def ask(question: str, nothing: str) -> bool:
    """The answer at an interactive terminal. nothing: what is shown where it is interrupted, which ends with 130."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        print_message(f"\n{nothing}")
        raise typer.Exit(128 + signal.SIGINT) from None


def confirm_address(settings: Settings) -> None:
    """At an interactive terminal, ask whether the token may be sent to an address that the folder sets."""
    use = settings.unconfirmed_use()
    if use is None or not is_interactive():
        return
    print_message(f"{use.source} in {use.folder} would send {use.token} to {use.value}.")
    if ask("Is this the address of your recruiting service? (You are only asked once.)", "Nothing was sent there."):
        confirm(use)


# --- signals --------------------------------------------------------------------------------------


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[RunControl]:
    """Within this context, the first signal stops the run, the second ends the process.

    Before any row is sent there is nothing to finish: a signal has its usual effect. A closed terminal sends SIGHUP,
    often twice; it stops a run as SIGTERM does.
    """
    control, before = RunControl(), {int(number): signal.getsignal(number) for number in ending_signals()}

    def catch(number: int, _frame: FrameType | None) -> None:
        if not control.is_sending:
            if before[number] is signal.SIG_IGN:
                return
            signal.signal(number, before[number])
            signal.raise_signal(number)
            signal.signal(number, catch)  # the process survived it
            return
        is_hangup = number not in (signal.SIGINT, signal.SIGTERM)
        if control.signal is not None and not is_hangup:
            # The ledger is consistent at any moment: the next run resolves the requests without a response.
            _write_to_stderr(_STOPPED)
            os._exit(128 + number)
        control.stop(signal.SIGTERM if is_hangup else number)
        _write_to_stderr(_STOPPING)

    for number in before:
        signal.signal(number, catch)
    try:
        yield control
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _write_to_stderr(line: bytes) -> None:
    # Not through sys.stderr: the signal may have interrupted a print there.
    with contextlib.suppress(OSError):
        os.write(2, line)
