"""The terminal of an order: what is shown and asked while it is carried out, and what Ctrl-C does to it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Final, Self

import typer

from importer.app import orders
from importer.app.orders import RunControl, in_words
from importer.cli.messages import say
from importer.models import NEEDS_ATTENTION, Outcome, OutcomeKind
from importer.settings import Settings
from importer.settings.trust import confirm

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_EVERY: Final = 15.0  # seconds between two plain lines
_SHORT_DELAY: Final = 1.5  # seconds that are not worth a line
_STOPPING = b"\nStopping: no new rows are sent; finishing those in flight, then the report. Once more to stop now.\n"
_STOPPED = b"\nStopped. The next run settles what was in flight: run the same command again.\n"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Terminal:
    """Listens to events and shows what counts: with `quiet` only what must be known.

    To be used in a `with`, so that the bar goes however the order ends.
    """

    def __init__(self, *, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._quiet = quiet
        self._clock = clock
        self._rows: _Progress | None = None
        self._total: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._end_rows()

    def __call__(self, event: orders.Event) -> None:
        if isinstance(event, orders.RowEnded):
            if not self._quiet:
                self._progress()(event.outcome)
        elif isinstance(event, orders.RowsEnded):
            self._end_rows()
        elif isinstance(event, orders.Begun):
            self._total = event.rows
            if event.is_part:
                self._say(f"{event.target}: {event.rows} row{'' if event.rows == 1 else 's'}")
        elif (line := _line(event)) is not None:
            say(line)
        elif (line := _detail(event)) is not None:
            self._say(line)

    def _say(self, line: str) -> None:
        if not self._quiet:
            say(line)

    def _progress(self) -> _Progress:
        if self._rows is None:
            self._rows = _Progress(self._total, self._clock)
        return self._rows

    def _end_rows(self) -> None:
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.end()


def _line(event: orders.Event) -> str | None:
    """What is shown even with `quiet`."""
    match event:
        case orders.EarlierRunEnded(run):
            return f"Run {run} was ended from outside; its report is written now, and this run goes on from there."
        case orders.EarlierRunDamaged(problem):
            return f"An earlier run cannot be reported any more: {problem}"
        case orders.LeftoversRemoved(run):
            return f"Run {run} was ended from outside before it sent anything; what it left is removed."
        case orders.TargetBlocked(_, _, reason):
            return f"importer: {reason}"
        case orders.OtherAddressesKnown(address, others):
            return (
                f"The ledger has runs for {' and '.join(others)}, and takes {address} for another service: whom it "
                "knows there is sent again. If they are one service, keep to one address in IMPORTER_BASE_URL."
            )
    return None


def _detail(event: orders.Event) -> str | None:
    match event:
        case orders.Planned(reading=reading, is_split=False):
            return reading
        case orders.QuestionsDelayed(seconds) if seconds >= _SHORT_DELAY:
            return f"The service does not list its questions at the moment; next try in {in_words(seconds)}."
        case orders.Paused(reason, seconds, rows, gives_up_in):
            wait = "1 row waits" if rows == 1 else f"{rows} rows wait"
            return (
                f"Waiting {in_words(seconds)}: {reason}. {wait} to be sent again; "
                f"the run gives up in {in_words(gives_up_in)} if no row is settled."
            )
        case orders.Resumed():
            return "The run goes on."
    return None


class _Progress:
    """Counts rows: in a bar on a terminal, else by a line after a row, but none sooner than `_EVERY` after the last."""

    def __init__(self, total: int | None, clock: Callable[[], float]) -> None:
        self._total = total
        self._clock = clock
        self._counts: Counter[OutcomeKind] = Counter()
        self._shown_at = clock()
        self._bar = _started_bar(total) if sys.stderr.isatty() else None

    def __call__(self, outcome: Outcome) -> None:
        self._counts[outcome.kind] += 1
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=1, counts=counts_in_words(self._counts))
        elif (now := self._clock()) - self._shown_at >= _EVERY:
            self._shown_at = now
            done = f"{self._counts.total()}" if self._total is None else f"{self._counts.total()} of {self._total}"
            say(f"{done} rows: {counts_in_words(self._counts)}")

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _started_bar(total: int | None) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[counts]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    bar.add_task("Rows", total=total, counts="")
    return bar


def counts_in_words(counts: Counter[OutcomeKind]) -> str:
    """`120 created, 3 already exists, 2 need a look`: what a person wants to see while it runs."""
    parts = [
        (counts[OutcomeKind.CREATED], "created"),
        (counts[OutcomeKind.ALREADY_EXISTS] + counts[OutcomeKind.ALREADY_IMPORTED], "there before"),
        (sum(counts[kind] for kind in NEEDS_ATTENTION), "need a look"),
    ]
    return ", ".join(f"{count} {words}" for count, words in parts if count)


# --- questions: asked only where a person can answer, never in a scheduled run ---------------------


def is_interactive() -> bool:
    """Whether a person can see the question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_to_send(planned: orders.Planned) -> bool:
    """Whether the rows that are ready shall be sent."""
    if planned.is_split:
        for one in planned.targets:
            say(f"{one.ready} of {one.rows} rows are ready for {one.target}")
        return typer.confirm("Send them?", err=True)
    (one,) = planned.targets
    ready = f"{one.ready} of {one.rows} rows are ready for {one.target} at {planned.service}"
    return typer.confirm(f"{ready}. Send them?", err=True)


def confirm_address(settings: Settings) -> None:
    """Ask the person at the terminal, if there is one, whether a token may go to an address that the folder names."""
    use = settings.unconfirmed_use()
    if use is None or not is_interactive():
        return
    say(f"{use.source} in {use.folder} names the address {use.address}, which would get {use.told_token}.")
    if typer.confirm("Is this the address of your recruiting service? (You are asked once.)", err=True):
        confirm(use)


# --- signals --------------------------------------------------------------------------------------


@contextlib.contextmanager
def stopped_by_signals(control: RunControl) -> Iterator[RunControl]:
    """While this is open, the first signal stops the run that is steered, the second ends the process.

    Where no rows are sent yet there is nothing to finish, and a signal does what it always does.
    """
    before = {int(number): signal.getsignal(number) for number in _SIGNALS}

    def catch(number: int, _frame: FrameType | None) -> None:
        if not control.is_sending:
            if before[number] is signal.SIG_IGN:
                return
            signal.signal(number, before[number])
            signal.raise_signal(number)
            signal.signal(number, catch)  # it has not ended the process
            return
        if control.signal is not None:
            # The ledger is written to be cut anywhere: what is in flight will be settled by the next run.
            _write_to_stderr(_STOPPED)
            os._exit(128 + number)
        control.stop(number)
        _write_to_stderr(_STOPPING)

    for number in _SIGNALS:
        signal.signal(number, catch)
    try:
        yield control
    finally:
        for number in _SIGNALS:
            signal.signal(number, before[number])


def _write_to_stderr(line: bytes) -> None:
    # Not through sys.stderr: the signal may have come in the middle of a line that is being printed there.
    with contextlib.suppress(OSError):
        os.write(2, line)
