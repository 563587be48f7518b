"""Who sends rows, for a caller who hands out jobs and collects findings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Protocol, Self

from importer.load.job import Finding, Job

_LONGEST_REST = 0.05  # seconds: what ended meanwhile is told no later

Live = Callable[[Job, Finding | None], Finding]
"""Lives a row's life to its finding, waiting as long as it takes; from where the second says, if it has begun."""

Report = Callable[[Finding | BaseException], None]


class Senders(Protocol):
    """Take jobs, and report what became of each."""

    def expect(self, busy: int) -> None:
        """One more job is about to come; so many have been taken, or are about to come, before it."""
        ...

    def take(self, job: Job) -> None:
        """Have a job sent. From any thread."""
        ...

    def waiting(self) -> int:
        """How many jobs were taken and not begun."""
        ...

    def close(self) -> None:
        """Let what is in flight finish."""
        ...


class Crew:
    """The desk between a caller and those who send. `busy` is the number of jobs whose finding was not collected.

    A job is expected first, by the caller's thread; then, from any thread, it is either handed over or held back.
    `at_once` says how many may be sent at the same time now. `dismiss` is called at the end, and returns when no
    expected job is still to be handed over.

    The caller is woken for a few findings at once, and not for each: a thread that wakes costs more than what it does
    for a row. `hurry` is called before it rests while few jobs are left: what is expected is wanted soon.
    """

    def __init__(
        self,
        senders: Callable[[Report], Senders],
        at_once: Callable[[], int],
        *,
        hurry: Callable[[], None],
        dismiss: Callable[[], None],
    ) -> None:
        self.busy = 0
        self._at_once = at_once
        self._hurry = hurry
        self._dismiss = dismiss
        self._coming = 0  # jobs that are expected, and neither handed over nor held back so far
        self._counting = threading.Lock()
        self._rests = False
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._findings: SimpleQueue[Finding | BaseException] = SimpleQueue()
        self._senders = senders(self._report)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Let what is in flight finish."""
        try:
            self._dismiss()
        finally:
            self._senders.close()

    def expect(self) -> None:
        """A job is about to come."""
        self._senders.expect(self.busy)
        self.busy += 1
        with self._counting:
            self._coming += 1

    def hand_over(self, job: Job) -> None:
        """Have the expected job sent."""
        self._has_come()
        self._senders.take(job)

    def hold_back(self, finding: Finding | BaseException) -> None:
        """The expected job is not sent, and this is what became of it."""
        self._has_come()
        self._report(finding)

    def _has_come(self) -> None:
        with self._counting:
            self._coming -= 1

    def _report(self, finding: Finding | BaseException) -> None:
        self._findings.put(finding)
        if self._rests and self._is_worth_waking():
            self._bell.put(None)  # one too many only ends the next rest early

    def has_finding(self) -> bool:
        """Whether `next` would give one at once."""
        return not self._findings.empty()

    def next(self) -> Finding:
        """The next finding, waiting for it. Raises what broke a sender: a bug of ours."""
        while not self.has_finding():
            self._rest()
        finding = self._findings.get()
        self.busy -= 1
        if isinstance(finding, BaseException):
            raise finding
        return finding

    def _is_worth_waking(self) -> bool:
        """Whether a caller who rests has something to do: a few have ended, or nothing is left to be begun."""
        ended = self._findings.qsize()
        return ended >= self._a_few() or (ended > 0 and not self._coming and not self._senders.waiting())

    def _a_few(self) -> int:
        """As many as are worth a thread's waking, while the other half of those made ready are being sent."""
        return (self._at_once() + 1) // 2

    def _rest(self) -> None:
        if self._senders.waiting() <= self._at_once() // 4:
            self._hurry()
        self._rests = True
        if not self._is_worth_waking():
            with suppress(Empty):
                self._bell.get(timeout=_LONGEST_REST)
        self._rests = False


class SenderThreads:
    """Up to `size` threads, begun as they are needed, each of which sends one row at a time. See `Senders`."""

    def __init__(self, live: Live, size: int, report: Report) -> None:
        self._live = live
        self._size = size
        self._report = report
        self._threads: list[threading.Thread] = []
        self._jobs: SimpleQueue[tuple[Job, Finding | None] | None] = SimpleQueue()

    def expect(self, busy: int) -> None:
        if busy == len(self._threads) < self._size:
            thread = threading.Thread(target=self._work, name=f"sender {busy + 1}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def take(self, job: Job, so_far: Finding | None = None) -> None:
        """`so_far`: what is known of it already, where it goes on from there."""
        self._jobs.put((job, so_far))

    def waiting(self) -> int:
        return self._jobs.qsize()

    def close(self) -> None:
        for _thread in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (taken := self._jobs.get()) is not None:
            try:
                self._report(self._live(*taken))
            except BaseException as bug:  # noqa: BLE001 - raised again where the findings are collected
                self._report(bug)
