"""A simulated run: the real loop and its real senders, with a fake service, on a clock that jumps.

`python -m benchmarks faults` shows with it what would take hours.
"""

from __future__ import annotations

import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, cast

from importer.ledger import Answered, Fingerprints, Intent, Known, Ledger, RunRecord
from importer.models import OutcomeKind, ReadyCandidate, Stop, Target
from importer.sending import Loader, LoadOptions
from importer.service import NoReply, Reply
from tests.sending.given import JOB_POST, POOL, Time

Answer = Reply | NoReply
Fate = Callable[[int, float, random.Random], tuple[Answer, float, bool]]
"""The response to a request for a row at a time: answer, delay in seconds, and whether the row is accepted."""


class MemoryLedger:
    """A fast ledger in memory, with what sending needs; refusals are not simulated."""

    fingerprints = Fingerprints(bytes(32))

    def look_up(self, _: list[bytes]) -> dict[bytes, Known]:
        return {}

    def write(self, _: Sequence[Intent | Answered]) -> None:
        """Keep nothing."""


@dataclass
class Simulated:
    """The result of a simulated run, in simulated seconds. twice: requests after a clear response to the same row."""

    kinds: Counter[OutcomeKind] = field(default_factory=Counter)
    stop: Stop | None = None
    seconds: float = 0.0
    requests: int = 0
    sent: Counter[int] = field(default_factory=Counter)
    refused: int = 0
    twice: int = 0
    missing: int = 0
    waits: list[str] = field(default_factory=list)


def simulate(
    rows: int,
    draw: Fate,
    seed: int = 1,
    options: LoadOptions | None = None,
    *,
    pool: bool = False,
    has_answered: bool = True,
    list_is_well: Callable[[float], bool] = lambda _: True,
) -> Simulated:
    """Simulate a run of so many rows."""
    time, luck, found = Time(), random.Random(seed), Simulated()
    accepted, answered, lock = set[bytes](), set[bytes](), threading.Lock()
    random.seed(seed)

    class Service:
        def send(self, _: Target, body: bytes) -> Answer:
            with lock:
                answer, seconds, accepts = draw(int(body), time.elapsed, luck)
                found.requests += 1
                found.sent[int(body)] += 1
                found.twice += body in answered
                if accepts:
                    if body in accepted and isinstance(answer, Reply) and answer.status == 201:
                        answer = Reply(409)
                    accepted.add(body)
                found.refused += isinstance(answer, Reply) and answer.status == 429
            time.sleep(threading.Event(), seconds)
            if isinstance(answer, Reply) and answer.status in (201, 409):
                answered.add(body)
            return answer

    def on_waiting(waiting: Any) -> None:
        found.waits.append(f"{time.elapsed:.1f} {waiting}")

    run = RunRecord("run", POOL if pool else JOB_POST, datetime(2026, 3, 1, tzinfo=UTC))

    loader = Loader(
        cast(Any, Service()),
        cast(Ledger, MemoryLedger()),
        run,
        options=options,
        probe=lambda: list_is_well(time.elapsed),
        has_answered=has_answered,
        on_waiting=on_waiting,
        cancellation=time,
    )
    time.drives(loader)
    people = (ReadyCandidate(row, f"person{row}@example.com", b"%d" % row) for row in range(2, rows + 2))
    for outcome in chain.from_iterable(loader.load(people)):
        found.kinds[outcome.kind] += 1
    found.missing = rows - len(accepted)
    found.stop, found.seconds = loader.stop, time.elapsed
    return found


class Limiter:
    """A rate limit per second. `size`: of a token bucket; None: windows of one second."""

    def __init__(self, rate: float, size: float | None, retry_after: float | None) -> None:
        self.rate, self.size, self.retry_after = rate, size, retry_after
        self.tokens, self.last, self.window = size or 0.0, 0.0, deque[float]()

    def __call__(self, row: int, now: float, luck: random.Random) -> tuple[Answer, float, bool]:
        if self.size is None:
            start = int(now)
            while self.window and self.window[0] < start:
                self.window.popleft()
            ok = len(self.window) < self.rate
            if ok:
                self.window.append(now)
        else:
            self.tokens = min(self.size, self.tokens + (now - self.last) * self.rate)
            self.last = now
            ok = self.tokens >= 1
            self.tokens -= ok
        return (Reply(201), 0.02, True) if ok else (Reply(429, "", self.retry_after), 0.002, False)


_LOST = NoReply("no response within 30 s", may_have_arrived=True)
_DOWN = NoReply("connection refused", may_have_arrived=False)
Meets = Callable[[random.Random], tuple[Answer, float, bool]]

RANDOM: dict[str, Meets] = {
    "429": lambda _: (Reply(429), 0.005, False),
    "429, Retry-After 1": lambda _: (Reply(429, "", 1.0), 0.005, False),
    "500 before": lambda _: (Reply(500), 0.005, False),
    "500 after": lambda _: (Reply(500), 0.005, True),
    "silence": lambda luck: (_LOST, 30.0, luck.random() < 0.5),
}

OUTAGES: dict[str, Meets] = {
    "process down": lambda _: (_DOWN, 0.001, False),
    "502": lambda _: (Reply(502), 0.005, False),
    "503": lambda luck: (Reply(503), 0.005, luck.random() < 0.5),
    "429": lambda _: (Reply(429), 0.005, False),
    "black hole": lambda luck: (_LOST, 30.0, luck.random() < 0.5),
}


def at_random(share: float, meets: Meets) -> Fate:
    """A share of all requests fails."""

    def draw(_: int, __: float, luck: random.Random) -> tuple[Answer, float, bool]:
        return meets(luck) if luck.random() < share else (Reply(201), 0.005, True)

    return draw


def within(is_out: Callable[[float], bool], meets: Meets) -> Fate:
    """All requests fail at certain times."""

    def draw(_: int, now: float, luck: random.Random) -> tuple[Answer, float, bool]:
        return meets(luck) if is_out(now) else (Reply(201), 0.005, True)

    return draw


def simulate_outage(rows: int, meets: Meets, is_out: Callable[[float], bool], *, pool: bool = False) -> Simulated:
    """A run whose service, with its question list, fails at certain times."""
    return simulate(rows, within(is_out, meets), pool=pool, list_is_well=lambda now: not is_out(now))
