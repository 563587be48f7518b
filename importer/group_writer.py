"""A thread that commits many small writes together; a caller waits only if it asks for that."""

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
"""Called once by the writer's thread: with None when the write is on disk, or with the error. It must not block."""

_MAX_GROUP: Final = 512  # writes
_MAX_QUEUED: Final = 10_000  # writes
_POLL_SECONDS: Final = 0.002


def _ignore(_: Exception | None) -> None:
    pass


@dataclass(slots=True)
class QueuedWrite(Generic[Write]):
    """A write in a group. `finish` is called once, with None when it is on disk, or with the error."""

    write: Write
    on_done: OnDone = _ignore
    is_finished: bool = False

    def finish(self, error: Exception | None = None) -> None:
        self.is_finished = True
        self.on_done(error)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A marker in the queue: all earlier writes are on disk when it is reached."""

    reached: threading.Event = field(default_factory=threading.Event)
    is_last: bool = False


class GroupWriter(Generic[Write]):
    """Passes groups of writes, in order, to `commit`, which finishes each of them.

    While one group is committed, the next one collects writes. A group is committed as soon as a flush is requested
    and the writer is idle, or after `linger` seconds. `commit` must finish every write and must not raise: an
    exception is a bug, which every later call raises.
    """

    def __init__(self, commit: Callable[[list[QueuedWrite[Write]]], None], *, linger: float, name: str) -> None:
        self._commit = commit
        self._linger = linger
        # Queues instead of an Event or Future for each write: they wait and wake in C, which is ten times as fast.
        self._queue: SimpleQueue[QueuedWrite[Write] | _Mark] = SimpleQueue()
        self._wakeup: SimpleQueue[None] = SimpleQueue()  # an item is a request to commit now
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, write: Write) -> None:
        """Queue a write. Waits while the queue is full, so that memory stays constant."""
        while self._queue.qsize() > _MAX_QUEUED and self._bug is None:
            time.sleep(_POLL_SECONDS)
        self._raise_bug()
        self._queue.put(QueuedWrite(write))

    def put_with_callback(self, write: Write, on_done: OnDone) -> None:
        """Queue a write and call `on_done` when it is finished. Never waits."""
        self._raise_bug()
        self._queue.put(QueuedWrite(write, on_done))

    def flush_soon(self) -> None:
        """Request a commit of all queued writes; returns at once."""
        self._wakeup.put(None)

    def flush(self) -> None:
        """Return when all queued writes are finished."""
        self._reach(_Mark())

    def close(self) -> None:
        """Finish all queued writes, then end the thread."""
        self._reach(_Mark(is_last=True))
        self._thread.join()

    def _reach(self, mark: _Mark) -> None:
        if self._thread.is_alive():
            self._queue.put(mark)
            self.flush_soon()
            mark.reached.wait()
        self._raise_bug()

    def _raise_bug(self) -> None:
        if self._bug is not None:
            raise RuntimeError("the writer thread failed") from self._bug

    def _work(self) -> None:
        marks: list[_Mark] = []
        while not any(mark.is_last for mark in marks):
            marks = []
            group = self._gather(marks)
            if group and self._bug is None:
                self._write(group)
            for queued in group:
                if not queued.is_finished:
                    queued.finish(RuntimeError("the writer thread did not finish a write"))
            for mark in marks:
                mark.reached.set()

    def _write(self, group: list[QueuedWrite[Write]]) -> None:
        try:
            self._commit(group)
        except BaseException as bug:  # noqa: BLE001 - kept, and raised to every later caller
            self._bug = bug

    def _gather(self, marks: list[_Mark]) -> list[QueuedWrite[Write]]:
        """The next group. The marks at its end are added to `marks`."""
        group: list[QueuedWrite[Write]] = []
        self._take(self._queue.get(), group, marks)
        closes_at = time.monotonic() + self._linger
        is_requested = False
        while True:
            # In this order, no write is missed: later ones wake this thread, earlier ones are in the queue.
            while not self._wakeup.empty():
                self._wakeup.get()
                is_requested = True
            while len(group) < _MAX_GROUP and not marks and not self._queue.empty():
                self._take(self._queue.get(), group, marks)
            left = closes_at - time.monotonic()
            if is_requested or marks or len(group) >= _MAX_GROUP or left <= 0:
                return group
            # A write alone does not wake this thread: waking costs more than writing one.
            with suppress(Empty):
                self._wakeup.get(timeout=left)
                is_requested = True

    @staticmethod
    def _take(item: QueuedWrite[Write] | _Mark, group: list[QueuedWrite[Write]], marks: list[_Mark]) -> None:
        if isinstance(item, _Mark):
            marks.append(item)
        else:
            group.append(item)
