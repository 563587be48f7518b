"""Rows that wait: for their turn, where their intent is on disk, or for the time at which they are sent again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Final

from importer.load.attempts import Job, PriorAttempt
from importer.load.next_step import TINY, Next

_MOST_BYTES: Final = 32 * 1024 * 1024  # of bodies that wait in memory to be sent again


class ReadyRows:
    """Rows whose intent is on disk. Those that were sent before go first. For one thread at a time, but for `len`."""

    def __init__(self) -> None:
        self._sent_before: deque[Job] = deque()
        self._new: deque[Job] = deque()

    def __len__(self) -> int:
        return len(self._sent_before) + len(self._new)

    def add(self, job: Job) -> None:
        (self._sent_before if job.attempts else self._new).append(job)

    def take(self) -> Job:
        return (self._sent_before or self._new).popleft()

    def take_unconfirmed(self) -> Job | None:
        """The first whose earlier request may have been accepted."""
        for job in self._sent_before:
            if job.prior is not PriorAttempt.NONE:
                self._sent_before.remove(job)
                return job
        return None

    def take_new_first(self) -> Job | None:
        ready = self._new or self._sent_before
        return ready.popleft() if ready else None

    def has_unconfirmed(self) -> bool:
        return any(job.prior is not PriorAttempt.NONE for job in self._sent_before)

    def take_all(self) -> list[Job]:
        jobs = [*self._new, *self._sent_before]
        self._new.clear()
        self._sent_before.clear()
        return jobs


class WaitingRows:
    """Rows that are sent again, by what comes next for them: when they are due, or in a last pass over those that were
    refused too often. For one thread at a time, but for `len` and `is_full`. Times in seconds on the run's clock.
    """

    def __init__(self) -> None:
        self._heaps: dict[Next, list[tuple[float, int, Job]]] = {Next.RETRY: [], Next.RESEND: []}
        self._last_pass: deque[Job] = deque()
        self._order = count()
        self._bytes = 0

    def __len__(self) -> int:
        return sum(map(len, self._heaps.values())) + len(self._last_pass)

    @property
    def is_full(self) -> bool:
        """Whether no more bodies should wait in memory."""
        return self._bytes >= _MOST_BYTES

    def add(self, job: Job, next_: Next, due: float) -> None:
        if next_ is Next.LAST_PASS:
            self._last_pass.append(job)
        else:
            heappush(self._heaps[next_], (due, next(self._order), job))
        self._bytes += len(job.body)

    def has(self, kind: Next) -> bool:
        return bool(self._last_pass if kind is Next.LAST_PASS else self._heaps[kind])

    def due_times(self, kinds: Sequence[Next]) -> list[float]:
        """When the first row of each kind is due."""
        return [self._heaps[kind][0][0] for kind in kinds if self._heaps[kind]]

    def take_due(self, kinds: Sequence[Next], now: float) -> Job | None:
        """The first that is due by now, of the first kind that has one."""
        for kind in kinds:
            heap = self._heaps[kind]
            if heap and heap[0][0] <= now + TINY:
                job = heappop(heap)[2]
                self._bytes -= len(job.body)
                return job
        return None

    def begin_last_pass(self, now: float) -> None:
        """What was refused too often has another try now."""
        for job in self._last_pass:
            heappush(self._heaps[Next.RETRY], (now, next(self._order), job))
        self._last_pass.clear()

    def take_all(self) -> list[Job]:
        jobs = [job for heap in self._heaps.values() for *_, job in heap] + [*self._last_pass]
        for heap in self._heaps.values():
            heap.clear()
        self._last_pass.clear()
        self._bytes = 0
        return jobs
