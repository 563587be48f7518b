"""Progress on stderr: a bar on a terminal, a plain line now and then otherwise, nothing when asked to be quiet."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from importer.cli.messages import say
from importer.load import Waiting, in_words
from importer.models import UNRESOLVED, Outcome, OutcomeKind

Watch = Callable[[Outcome], None]
_EVERY = 15.0  # seconds between two plain lines


def tell_waiting(quiet: bool) -> Callable[[Waiting | None], None]:
    """Says what is waited for and how long, and that it is over."""

    def told(waiting: Waiting | None) -> None:
        if waiting is None:
            say("The run goes on.")
            return
        rows = "1 row waits" if waiting.rows == 1 else f"{waiting.rows} rows wait"
        say(
            f"Waiting {in_words(waiting.seconds)}: {waiting.reason}. {rows} to be sent again; "
            f"the run gives up in {in_words(waiting.gives_up_in)} if no row is settled."
        )

    return (lambda _: None) if quiet else told


@contextlib.contextmanager
def progress(total: int | None, quiet: bool) -> Iterator[Watch]:
    """A watch to call with each outcome, in the form that suits where stderr goes. `total` None: not known yet."""
    if quiet:
        yield lambda outcome: None
    elif sys.stderr.isatty():
        with _bar(total) as watch:
            yield watch
    else:
        yield _PlainLines(total)


@contextlib.contextmanager
def _bar(total: int | None) -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[counts]}"),
        TimeRemainingColumn(compact=True),
    )
    counts: Counter[OutcomeKind] = Counter()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Rows", total=total, counts="")

        def watch(outcome: Outcome) -> None:
            counts[outcome.kind] += 1
            bar.update(task, advance=1, counts=counts_in_words(counts))

        yield watch


class _PlainLines:
    """A line after each tenth of the rows, but none sooner than `_EVERY` seconds after the last."""

    def __init__(self, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
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
        (sum(counts[kind] for kind in UNRESOLVED), "need a look"),
    ]
    return ", ".join(f"{count} {words}" for count, words in parts if count)
