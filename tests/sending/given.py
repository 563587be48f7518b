"""A clock that jumps, scripted services, and rows to send."""

from __future__ import annotations

import heapq
import json
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from importer.ledger import Ledger, RunRecord, Scope, open_ledger
from importer.models import Application, Operation, Outcome, PoolCandidate, ReadyCandidate, Target
from importer.sending import Cancellation, Loader, LoadOptions, Paused
from importer.sending.loop import Service
from importer.service import NoReply, Reply
from importer.transform import encode
from tests.ledger.given import problems_of

JOB_POST = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))
POOL = Scope("https://recruiting.example.com", Target(Operation.ADD_TO_POOL, "17"))

CREATED = Reply(201)
EXISTS = Reply(409, "already applied")
BROKEN = Reply(500, "oops")
REFUSED = NoReply("connection refused", may_have_arrived=False)
SILENT = NoReply("no response within 30 s", may_have_arrived=True)

Answer = Reply | NoReply
EPOCH = 1_772_366_400.0  # of the clock, in seconds since the real one


class Time(Cancellation):
    """A clock that advances only while every sender waits: to the first thing that happens then."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 1000.0
        self._loader: Loader | None = None
        self._waking: list[tuple[float, int, Callable[[], None]]] = []  # what happens next, and when
        self._asleep = 0  # senders
        self._order = count()
        self._changed = threading.Condition()

    def drives(self, loader: Loader) -> None:
        """The senders of this loader live by this clock."""
        self._loader = loader
        told = loader._senders.told
        put = told.put

        def put_and_wake(*arguments: Any) -> None:
            put(*arguments)
            with self._changed:
                self._changed.notify_all()

        told.put = put_and_wake  # type: ignore[method-assign,assignment]

    @property
    def elapsed(self) -> float:
        return self.at - 1000.0

    def now(self) -> float:
        return self.at

    def time(self) -> float:
        return EPOCH + self.at

    def later(self, seconds: float, happens: Callable[[], None]) -> None:
        """Do something at a time of this clock."""
        heapq.heappush(self._waking, (self.at + seconds, next(self._order), happens))

    def sleep(self, until: threading.Event, seconds: float) -> None:
        if until.is_set() or seconds <= 0:
            return
        wakes = threading.Event()
        with self._changed:
            entry = (self.at + seconds, next(self._order), wakes.set)
            heapq.heappush(self._waking, entry)
            self._asleep += 1
            self._changed.notify_all()
        while not wakes.wait(0.02):
            if until.is_set():
                with self._changed:
                    if entry in self._waking:
                        self._waking.remove(entry)
                        heapq.heapify(self._waking)
                        self._asleep -= 1
                return

    def collect(self, told: queue.Queue[Any], seconds: float) -> Any:
        until = time.monotonic() + 60
        end = self.at + seconds
        while time.monotonic() < until:
            with self._changed:
                if told.qsize() or not seconds or self.is_set():
                    break
                if self._is_anyone_busy():
                    self._changed.wait(0.002)
                elif self._waking and self._waking[0][0] <= end:
                    self.at, _, happens = heapq.heappop(self._waking)
                    self._asleep -= isinstance(getattr(happens, "__self__", None), threading.Event)
                    happens()
                    if self.is_paused:
                        break
                else:
                    self.at = end
                    break
        try:
            return told.get_nowait()
        except queue.Empty:
            return None

    def _is_anyone_busy(self) -> bool:
        """Whether a sender does something else than wait: for the end of a sleep, or for a row."""
        assert self._loader is not None
        senders, hold = self._loader._senders, self._loader._health.hold
        waiting = senders.waiting()
        in_hand = self._loader._on_way - waiting
        is_idle = in_hand < senders._threads
        return bool(in_hand > self._asleep or (waiting and is_idle) or (hold and hold.is_asked))


class Scripted:
    """Answers the n-th request (from 0) for an e-mail address by a script; keeps every address and body in order."""

    def __init__(self, answer: Callable[[str, int], Answer]) -> None:
        self.emails: list[str] = []
        self.bodies: list[bytes] = []
        self._answer = answer
        self._count: Counter[str] = Counter()
        self._lock = threading.Lock()

    def send(self, target: Target, body: bytes) -> Answer:
        email = json.loads(body)["email"]
        with self._lock:
            self.emails.append(email)
            self.bodies.append(body)
            number = self._count[email]
            self._count[email] += 1
        return self._answer(email, number)


def in_turn(*answers: Answer) -> Callable[[str, int], Answer]:
    """Each e-mail address gets these answers in turn; the last one repeats."""
    return lambda email, number: answers[min(number, len(answers) - 1)]


def by_row(special: dict[int, tuple[Answer, ...]], otherwise: Answer = CREATED) -> Callable[[str, int], Answer]:
    """Some rows get their own answers in turn, all others the same one."""
    named = {email_of(row): in_turn(*answers) for row, answers in special.items()}
    return lambda email, number: named[email](email, number) if email in named else otherwise


def email_of(row: int) -> str:
    return f"person{row}@example.com"


def applications(rows: Iterable[int], first_name: str = "Ada") -> list[ReadyCandidate]:
    return [encode(Application(row, email_of(row), first_name, "Example", "9")) for row in rows]


def candidates(rows: Iterable[int]) -> list[ReadyCandidate]:
    return [encode(PoolCandidate(row, email_of(row), "Ada", "Example", "9")) for row in rows]


@dataclass
class Harness:
    """A folder with a ledger; each `load` is a run of its own."""

    folder: Path
    scope: Scope = JOB_POST
    time: Time = field(default_factory=Time)
    runs: int = 0

    def loader(
        self,
        ledger: Ledger,
        service: Service,
        options: LoadOptions | None = None,
        *,
        cancellation: Cancellation | None = None,
        probe: Callable[[], bool] = lambda: True,
        has_answered: bool = True,
        on_waiting: Callable[[Paused | None], None] = lambda _: None,
    ) -> Loader:
        self.runs += 1
        started = datetime(2026, 3, 1, 12, self.runs, tzinfo=UTC)
        run = RunRecord(f"run-{self.runs}", self.scope, started)
        ledger.begin_run(run)
        clock = cancellation or self.time
        loader = Loader(
            service,
            ledger,
            run,
            options=options or LoadOptions(),
            probe=probe,
            has_answered=has_answered,
            on_waiting=on_waiting,
            cancellation=clock,
        )
        if clock is self.time:
            self.time.drives(loader)
        return loader

    def ledger(self) -> Ledger:
        return open_ledger(self.folder / "ledger.sqlite")

    def load(
        self, service: Scripted, rows: list[ReadyCandidate], options: LoadOptions | None = None
    ) -> dict[int, Outcome]:
        """The outcome of each row of one run; also checks the ledger."""
        with self.ledger() as ledger:
            outcomes = by_outcome(self.loader(ledger, service, options).load(rows))
            assert problems_of(ledger) == []
        return outcomes


def by_outcome(turns: Iterable[list[Outcome]]) -> dict[int, Outcome]:
    """Outcomes by their row; no row has two."""
    found: dict[int, Outcome] = {}
    for outcome in chain.from_iterable(turns):
        assert outcome.row not in found
        found[outcome.row] = outcome
    return found
