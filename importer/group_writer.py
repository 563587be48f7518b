"""A thread that writes in groups: many small writes share one commit, and only those wait who must."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeVar

Write = TypeVar("Write")
OnDone = Callable[[Exception | None], None]
"""Called once by the writer's thread: with None when the write is on disk, or with what kept it off. Must not wait."""

_MOST_IN_A_GROUP: Final = 512
_MOST_WAITING: Final = 10_000
_A_MOMENT: Final = 0.002  # seconds


def _nobody_waits(_: Exception | None) -> None:
    pass


@dataclass(slots=True)
class QueuedWrite(Generic[Write]):
    """A write in a group. `settle` says, once, that it is on disk (None), or what kept it off."""

    write: Write
    on_done: OnDone = _nobody_waits
    is_finished: bool = False

    def finish(self, error: Exception | None = None) -> None:
        self.is_finished = True
        self.on_done(error)


@dataclass(frozen=True, slots=True)
class _Mark:
    """Everything that was put before it has been written once it is reached."""

    reached: threading.Event = field(default_factory=threading.Event)
    is_last: bool = False


class GroupWriter(Generic[Write]):
    """Gives groups of writes, in the order in which they were put, to `commit`, which settles each of them.

    A group is closed as soon as somebody wants it and the writer is free: while one commit is on its way to disk the
    next group gathers. Writes that nobody waits for linger for up to `linger` seconds, to share a commit with others.
    `commit` must settle every write and raise nothing; what it raises is a bug, which the next caller meets.
    """

    def __init__(self, commit: Callable[[list[QueuedWrite[Write]]], None], *, linger: float, name: str) -> None:
        self._commit = commit
        self._linger = linger
        # Queues, and no Event or Future for each write: these wait and wake in C, ten times as fast.
        self._queue: SimpleQueue[QueuedWrite[Write] | _Mark] = SimpleQueue()
        self._wakeup: SimpleQueue[None] = SimpleQueue()  # put after something was put that is wanted now
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, write: Write) -> None:
        """Have it written soon; waits where far too much is waiting already, so that memory stays what it is."""
        while self._queue.qsize() > _MOST_WAITING and self._bug is None:
            time.sleep(_A_MOMENT)
        self._refuse_after_a_bug()
        self._queue.put(QueuedWrite(write))

    def put_with_callback(self, write: Write, on_done: OnDone) -> None:
        """Have it written soon, and `on_done` called."""
        self._refuse_after_a_bug()
        self._queue.put(QueuedWrite(write, on_done))

    def flush_soon(self) -> None:
        """Have written now what was put; returns at once."""
        self._wakeup.put(None)

    def flush(self) -> None:
        """Return when everything that was put before has been written."""
        self._reach(_Mark())

    def close(self) -> None:
        """Write what was put, then end the thread."""
        self._reach(_Mark(is_last=True))
        self._thread.join()

    def _reach(self, mark: _Mark) -> None:
        if self._thread.is_alive():
            self._queue.put(mark)
            self.flush_soon()
            mark.reached.wait()
        self._refuse_after_a_bug()

    def _refuse_after_a_bug(self) -> None:
        if self._bug is not None:
            raise RuntimeError("the writer thread broke off") from self._bug

    def _work(self) -> None:
        marks: list[_Mark] = []
        while not any(mark.is_last for mark in marks):
            marks = []
            group = self._gather(marks)
            if group and self._bug is None:
                self._write(group)
            for queued in group:
                if not queued.is_finished:
                    queued.finish(RuntimeError("the writer thread left a write unsettled"))
            for mark in marks:
                mark.reached.set()

    def _write(self, group: list[QueuedWrite[Write]]) -> None:
        try:
            self._commit(group)
        except BaseException as bug:  # noqa: BLE001 - kept, and raised to every later caller
            self._bug = bug

    def _gather(self, marks: list[_Mark]) -> list[QueuedWrite[Write]]:
        """The next group; adds to `marks` those that it runs up to."""
        group: list[QueuedWrite[Write]] = []
        self._take(self._queue.get(), group, marks)
        closes_at = time.monotonic() + self._linger
        is_wanted = False
        while True:
            # In this order: what is put from here on wakes us, and what was put before is found.
            while not self._wakeup.empty():
                self._wakeup.get()
                is_wanted = True
            while len(group) < _MOST_IN_A_GROUP and not marks and not self._queue.empty():
                self._take(self._queue.get(), group, marks)
            left = closes_at - time.monotonic()
            if is_wanted or marks or len(group) >= _MOST_IN_A_GROUP or left <= 0:
                return group
            # Not for the next write: waking a thread costs more than what it does for one.
            with suppress(Empty):
                self._wakeup.get(timeout=left)
                is_wanted = True

    @staticmethod
    def _take(item: QueuedWrite[Write] | _Mark, group: list[QueuedWrite[Write]], marks: list[_Mark]) -> None:
        if isinstance(item, _Mark):
            marks.append(item)
        else:
            group.append(item)
