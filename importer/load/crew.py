"""Threads that send rows, for a caller who hands out jobs and collects findings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from importer.load.job import Finding, Job

_LONGEST_REST = 0.05  # seconds: what ended meanwhile is told no later


class Crew:
    """Up to `size` threads, begun as they are needed. `busy` is the number of jobs whose finding was not collected.

    A job is expected first, by the caller's thread; then, from any thread, it is either handed over or reported on.
    `at_once` says how many may be sent at the same time now. `dismiss` is called at the end, and returns when no
    expected job is still to be handed over.

    The caller is woken for a few findings at once, and not for each: a thread that wakes costs more than what it does
    for a row. `hurry` is called before it rests while few jobs are left: what is expected is wanted soon.
    """

    def __init__(
        self,
        send: Callable[[Job], Finding],
        size: int,
        at_once: Callable[[], int],
        *,
        hurry: Callable[[], None],
        dismiss: Callable[[], None],
    ) -> None:
        self.busy = 0
        self._send = send
        self._size = size
        self._at_once = at_once
        self._hurry = hurry
        self._dismiss = dismiss
        self._rests = False
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._findings: SimpleQueue[Finding | BaseException] = SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Let what is in flight finish, and end the threads."""
        try:
            self._dismiss()
        finally:
            for _thread in self._threads:
                self._jobs.put(None)
            for thread in self._threads:
                thread.join()

    def expect(self) -> None:
        """A job is about to come."""
        if self.busy == len(self._threads) < self._size:
            thread = threading.Thread(target=self._work, name=f"sender {self.busy + 1}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self.busy += 1

    def hand_over(self, job: Job) -> None:
        """Have the expected job sent."""
        self._jobs.put(job)

    def report(self, finding: Finding | BaseException) -> None:
        """The expected job will not come: this is what became of it."""
        self._put(finding)

    def _is_worth_waking(self) -> bool:
        """Whether a caller who rests has something to do: a few have ended, or nothing is left to be taken."""
        ended = self._findings.qsize()
        return ended >= self._a_few() or (ended > 0 and self._jobs.empty())

    def _a_few(self) -> int:
        """As many as are worth a thread's waking: more at once keep the senders from their turns for too long."""
        at_once = self._at_once()
        return max(at_once // 4, min(4, (at_once + 1) // 2))

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

    def _rest(self) -> None:
        if self._jobs.qsize() <= self._a_few():
            self._hurry()
        self._rests = True
        if not self._is_worth_waking():
            with suppress(Empty):
                self._bell.get(timeout=_LONGEST_REST)
        self._rests = False

    def _put(self, finding: Finding | BaseException) -> None:
        self._findings.put(finding)
        if self._rests and self._is_worth_waking():
            self._bell.put(None)  # one too many only ends the next rest early

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                finding: Finding | BaseException = self._send(job)
            except BaseException as bug:  # noqa: BLE001 - raised again where the findings are collected
                finding = bug
            self._put(finding)
