"""A thread that writes in groups: many small writes share one commit, and only those wait who must."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Write = TypeVar("Write")

_MOST_IN_A_GROUP = 512
_MOST_WAITING = 10_000
_A_MOMENT = 0.002  # seconds


def _nobody_waits(_: Exception | None) -> None:
    pass


@dataclass(slots=True)
class Waiting(Generic[Write]):
    """A write in a group. `settle` tells, once, that it is on disk (None), or what kept it off."""

    write: Write
    then: Callable[[Exception | None], None] = _nobody_waits
    is_settled: bool = False

    def settle(self, error: Exception | None = None) -> None:
        self.is_settled = True
        self.then(error)


@dataclass(frozen=True, slots=True)
class _Mark:
    """Everything that was put before it has been handled once it is reached."""

    reached: threading.Event = field(default_factory=threading.Event)
    last: bool = False


class GroupWriter(Generic[Write]):
    """Hands groups of writes, in the order in which they were put, to `commit`, which settles each of them.

    A group is closed as soon as somebody wants it and the writer is free: while one commit is on its way to disk the
    next group gathers. Writes that nobody waits for linger for up to `linger` seconds, to share a commit with others.
    `commit` must settle every write and raise nothing; what it raises is a bug, which the next caller meets.
    """

    def __init__(
        self,
        commit: Callable[[list[Waiting[Write]]], None],
        *,
        linger: float,
        name: str,
        most_waiting: int = _MOST_WAITING,
    ) -> None:
        self._commit = commit
        self._most_waiting = most_waiting
        self._linger = linger
        self._queue: SimpleQueue[Waiting[Write] | _Mark] = SimpleQueue()
        self._bell: SimpleQueue[None] = SimpleQueue()  # rung after something was put that is wanted now
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, write: Write) -> None:
        """Have it written soon; waits where far too much is waiting already, so that memory stays what it is."""
        while self._queue.qsize() > self._most_waiting and self._bug is None:
            time.sleep(_A_MOMENT)
        self._refuse_after_a_bug()
        self._queue.put(Waiting(write))

    def put_then(self, write: Write, then: Callable[[Exception | None], None]) -> None:
        """Have it written soon; the writer's thread calls `then` when it is on disk, or with what kept it off."""
        self._refuse_after_a_bug()
        self._queue.put(Waiting(write, then))

    def hurry(self) -> None:
        """Have written now what was put; returns at once."""
        self._bell.put(None)

    def put_and_wait(self, write: Write) -> None:
        """Have it written at once, and return when it is on disk; raises what kept it off."""
        # A queue waits and wakes in C; an Event or a Future costs ten times as much, for each row.
        settled: SimpleQueue[Exception | None] = SimpleQueue()
        self.put_then(write, settled.put)
        self.hurry()
        error = settled.get()
        if error is not None:
            raise error

    def flush(self) -> None:
        """Return when everything that was put before has been handled."""
        self._reach(_Mark())

    def close(self) -> None:
        """Handle what was put, then end the thread."""
        self._reach(_Mark(last=True))
        self._thread.join()

    def _reach(self, mark: _Mark) -> None:
        if self._thread.is_alive():
            self._queue.put(mark)
            self.hurry()
            mark.reached.wait()
        self._refuse_after_a_bug()

    def _refuse_after_a_bug(self) -> None:
        if self._bug is not None:
            raise RuntimeError("the writer thread broke off") from self._bug

    def _work(self) -> None:
        marks: list[_Mark] = []
        while not any(mark.last for mark in marks):
            marks = []
            group = self._gather(marks)
            if group and self._bug is None:
                self._write(group)
            for waiting in group:
                if not waiting.is_settled:
                    waiting.settle(RuntimeError("the writer thread left a write unsettled"))
            for mark in marks:
                mark.reached.set()

    def _write(self, group: list[Waiting[Write]]) -> None:
        try:
            self._commit(group)
        except BaseException as bug:  # noqa: BLE001 - kept, and raised to every later caller
            self._bug = bug

    def _gather(self, marks: list[_Mark]) -> list[Waiting[Write]]:
        """The next group; adds to `marks` those that it runs up to."""
        group: list[Waiting[Write]] = []
        self._take(self._queue.get(), group, marks)
        closes_at = time.monotonic() + self._linger
        is_wanted = False
        while True:
            # In this order: what is put from here on rings, and what was put before is found.
            while not self._bell.empty():
                self._bell.get()
                is_wanted = True
            while len(group) < _MOST_IN_A_GROUP and not marks and not self._queue.empty():
                self._take(self._queue.get(), group, marks)
            left = closes_at - time.monotonic()
            if is_wanted or marks or len(group) >= _MOST_IN_A_GROUP or left <= 0:
                return group
            # Not for the next write: a thread that wakes costs more than what it does for one.
            with suppress(Empty):
                self._bell.get(timeout=left)
                is_wanted = True

    @staticmethod
    def _take(item: Waiting[Write] | _Mark, group: list[Waiting[Write]], marks: list[_Mark]) -> None:
        if isinstance(item, _Mark):
            marks.append(item)
        else:
            group.append(item)
