"""What a person is told while an order is carried out: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from importer.app import orders
from importer.app.orders import in_words
from importer.cli.messages import say
from importer.models import NOT_GOOD, Outcome, OutcomeKind

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_EVERY: Final = 15.0  # seconds between two plain lines
_SHORT_DELAY: Final = 1.5  # seconds that nobody needs to be told of


class Terminal:
    """Listens to events and tells a person what counts: with `quiet` only what somebody must know.

    To be used in a `with`, so that the bar goes however the order ends.
    """

    def __init__(self, *, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._quiet = quiet
        self._clock = clock
        self._rows: _Bar | _PlainLines | None = None
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

    def _progress(self) -> _Bar | _PlainLines:
        if self._rows is None:
            self._rows = _Bar(self._total) if sys.stderr.isatty() else _PlainLines(self._total, self._clock)
        return self._rows

    def _end_rows(self) -> None:
        rows, self._rows = self._rows, None
        if isinstance(rows, _Bar):
            rows.end()


def _line(event: orders.Event) -> str | None:
    """What is told also where somebody asked for quiet."""
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


class _Bar:
    def __init__(self, total: int | None) -> None:
        self._counts: Counter[OutcomeKind] = Counter()
        self._bar, self._task = _started_bar(total)

    def __call__(self, outcome: Outcome) -> None:
        self._counts[outcome.kind] += 1
        self._bar.update(self._task, advance=1, counts=counts_in_words(self._counts))

    def end(self) -> None:
        self._bar.stop()


def _started_bar(total: int | None) -> tuple[Progress, TaskID]:
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
    return bar, bar.add_task("Rows", total=total, counts="")


class _PlainLines:
    """A line after a row, but none sooner than `_EVERY` seconds after the last."""

    def __init__(self, total: int | None, clock: Callable[[], float]) -> None:
        self._total = total
        self._clock = clock
        self._counts: Counter[OutcomeKind] = Counter()
        self._said_at = clock()

    def __call__(self, outcome: Outcome) -> None:
        self._counts[outcome.kind] += 1
        now = self._clock()
        if now - self._said_at >= _EVERY:
            self._said_at = now
            done = f"{self._counts.total()}" if self._total is None else f"{self._counts.total()} of {self._total}"
            say(f"{done} rows: {counts_in_words(self._counts)}")


def counts_in_words(counts: Counter[OutcomeKind]) -> str:
    """`120 created, 3 already there, 2 need a look`: what a person wants to see while it runs."""
    parts = [
        (counts[OutcomeKind.CREATED], "created"),
        (counts[OutcomeKind.ALREADY_THERE] + counts[OutcomeKind.DONE_BEFORE], "there before"),
        (sum(counts[kind] for kind in NOT_GOOD), "need a look"),
    ]
    return ", ".join(f"{count} {words}" for count, words in parts if count)
