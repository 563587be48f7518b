"""A row to be sent, and the queues in which rows wait to be sent or sent again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from importer.ledger import Known, State
from importer.service import NoReply, Reply

TINY: Final = 1e-6  # seconds: times are sums of fractions
_MOST_BYTES: Final = 32 * 1024 * 1024  # of bodies in memory that wait to be sent again


class PriorAttempt(StrEnum):
    """Whether an earlier request for the same identity may have been accepted."""

    NONE = "none"
    SAME_BYTES = "same_bytes"  # yes, with the same body as now
    OTHER_BYTES = "other_bytes"  # yes, but the row has changed since


class Job(NamedTuple):
    """One row to be sent.

    attempts: requests sent for it in this run. tries: inconclusive responses that count as its own, not the run's.
    refusals: refusals (429) that count as its own. odd: responses as if token, target or address were wrong, though
    others were accepted, since the last one of these (accepted_then: how many). last: the last response in this run.
    earlier: the ledger's record from before this run. is_probe: the request tests whether the service works again.
    """

    row: int
    identity: bytes
    body: bytes
    body_digest: bytes
    prior: PriorAttempt = PriorAttempt.NONE
    attempts: int = 0
    tries: int = 0
    refusals: int = 0
    odd: int = 0
    accepted_then: int = 0
    last: Reply | NoReply | None = None
    earlier: Known | None = None
    is_probe: bool = False

    @property
    def status(self) -> int | None:
        """The status of the last response, if there was one."""
        return self.last.status if isinstance(self.last, Reply) else None

    @property
    def retry_after(self) -> float | None:
        """The seconds that the last response asks to wait."""
        return self.last.retry_after if isinstance(self.last, Reply) else None

    @property
    def state_if_not_sent(self) -> State | None:
        """Its state if it is not sent any more; None: nothing was sent for it."""
        if self.prior is not PriorAttempt.NONE:
            return State.UNCONFIRMED
        return State.FAILED if self.attempts else None


class Next(StrEnum):
    """What happens to a row after a response."""

    END = "end"  # its outcome is known
    RETRY = "retry"  # proven not processed: sent again when it is due
    RESEND = "resend"  # unconfirmed: sent again with the same body when it is due
    LAST_PASS = "last_pass"  # refused while others were not: sent again after all others


class ReadyRows:
    """Rows whose intent is on disk; rows that were sent before come first. Not thread-safe, except for `len`."""

    def __init__(self) -> None:
        self._sent_before: deque[Job] = deque()
        self._new: deque[Job] = deque()

    def __len__(self) -> int:
        return len(self._sent_before) + len(self._new)

    def add(self, job: Job) -> None:
        (self._sent_before if job.attempts else self._new).append(job)

    def take(self) -> Job:
        return (self._sent_before or self._new).popleft()

    def first_unconfirmed(self) -> Job | None:
        """The first row whose request in this run may have been accepted."""
        return next((job for job in self._sent_before if job.prior is not PriorAttempt.NONE), None)

    def take_unconfirmed(self) -> Job | None:
        job = self.first_unconfirmed()
        if job is not None:
            self._sent_before.remove(job)
        return job

    def take_all(self) -> list[Job]:
        jobs = [*self._new, *self._sent_before]
        self._new.clear()
        self._sent_before.clear()
        return jobs


class WaitingRows:
    """Rows that wait to be sent again, when they are due or in the last pass. Times in seconds on the run's clock.

    Not thread-safe, except for `len` and `is_full`.
    """

    def __init__(self) -> None:
        self._heaps: dict[Next, list[tuple[float, int, Job]]] = {Next.RETRY: [], Next.RESEND: [], Next.LAST_PASS: []}
        self._order = count()
        self._bytes = 0

    def __len__(self) -> int:
        return sum(map(len, self._heaps.values()))

    @property
    def is_full(self) -> bool:
        """Whether the waiting bodies use too much memory to add more."""
        return self._bytes >= _MOST_BYTES

    def add(self, job: Job, next_: Next, due: float) -> None:
        heappush(self._heaps[next_], (due, next(self._order), job))
        self._bytes += len(job.body)

    def has(self, kind: Next) -> bool:
        return bool(self._heaps[kind])

    def first(self, kind: Next) -> Job | None:
        """The one that is due first."""
        return self._heaps[kind][0][2] if self._heaps[kind] else None

    def due_times(self, kinds: Sequence[Next]) -> list[float]:
        """When the first row of each kind is due."""
        return [self._heaps[kind][0][0] for kind in kinds if self._heaps[kind]]

    def take_due(self, kinds: Sequence[Next], now: float) -> Job | None:
        """The first row that is due, of the first kind that has one."""
        for kind in kinds:
            heap = self._heaps[kind]
            if heap and heap[0][0] <= now + TINY:
                job = heappop(heap)[2]
                self._bytes -= len(job.body)
                return job
        return None

    def begin_last_pass(self, now: float) -> None:
        """Make the rows of the last pass due, at once or when they may be sent."""
        due_times = [due for due, *_ in self._heaps[Next.LAST_PASS]]
        for due, job in zip(due_times, self._take_all_of(Next.LAST_PASS), strict=True):
            self.add(job, Next.RETRY, max(due, now))

    def take_all(self) -> list[Job]:
        return [job for kind in self._heaps for job in self._take_all_of(kind)]

    def _take_all_of(self, kind: Next) -> list[Job]:
        jobs = [job for *_, job in self._heaps[kind]]
        self._heaps[kind].clear()
        self._bytes -= sum(len(job.body) for job in jobs)
        return jobs
