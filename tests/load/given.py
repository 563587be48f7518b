"""A simulated clock, scripted services, and rows to send."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from importer.ledger import LedgerStore, RunRecord, Scope, open_ledger
from importer.load import Cancellation, Loader, LoadOptions, Waiting
from importer.load.sender import Service
from importer.models import Application, Operation, Outcome, PoolCandidate, ReadyCandidate, Target
from importer.service import NoReply, OnAnswer, Reply
from importer.service.transport_api import Phase
from importer.transform import encode

JOB_POST = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))
POOL = Scope("https://recruiting.example.com", Target(Operation.ADD_TO_POOL, "17"))

CREATED = Reply(201)
EXISTS = Reply(409, "already applied")
BROKEN = Reply(500, "oops")
REFUSED = NoReply("connection refused", Phase.CONNECTING)
SILENT = NoReply("no response within 30 s", Phase.WAITING)

Answer = Reply | NoReply
EPOCH = 1_772_366_400.0  # of the simulated clock, in seconds since the real one


class Time:
    """A clock that advances only during waits; `waits`: all of them, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []
        self._lock = threading.Lock()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.waits.append(seconds)
            self.now += seconds

    def cancellation(self) -> Cancellation:
        return Cancellation(lambda: self.now, self.sleep, lambda: EPOCH + self.now)


def answer_on_a_thread(answer: Callable[[], Answer], on_done: OnAnswer) -> None:
    """Like a transport: the answer, or a bug, is reported on another thread."""

    def work() -> None:
        try:
            found: Answer | BaseException = answer()
        except BaseException as bug:  # noqa: BLE001 - as a transport reports it
            found = bug
        on_done(found)

    threading.Thread(target=work, daemon=True).start()


class Scripted:
    """Answers the n-th request (from 0) for an e-mail address by a script; keeps every address and body in order.

    at_once: each answer comes before `start` has returned.
    """

    def __init__(self, answer: Callable[[str, int], Answer], *, at_once: bool = False) -> None:
        self._at_once = at_once
        self.emails: list[str] = []
        self.bodies: list[bytes] = []
        self._answer = answer
        self._count: Counter[str] = Counter()
        self._lock = threading.Lock()

    def start(self, target: Target, body: bytes, on_done: OnAnswer) -> None:
        if self._at_once:
            on_done(self._answer_to(body))
        else:
            answer_on_a_thread(lambda: self._answer_to(body), on_done)

    def _answer_to(self, body: bytes) -> Answer:
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
        ledger: LedgerStore,
        service: Service,
        options: LoadOptions | None = None,
        *,
        cancellation: Cancellation | None = None,
        probe: Callable[[], bool] = lambda: True,
        has_answered: bool = True,
        on_waiting: Callable[[Waiting | None], None] = lambda _: None,
    ) -> Loader:
        self.runs += 1
        started = datetime(2026, 3, 1, 12, self.runs, tzinfo=UTC)
        run = RunRecord(f"run-{self.runs}", self.scope, "a.csv", "ab" * 32, "m.yaml", "results", started)
        ledger.begin_run(run)
        return Loader(
            service,
            ledger,
            run,
            options=options or LoadOptions(),
            probe=probe,
            has_answered=has_answered,
            on_waiting=on_waiting,
            cancellation=cancellation or self.time.cancellation(),
        )

    def ledger(self) -> LedgerStore:
        return open_ledger(self.folder / "ledger.sqlite", clock=lambda: 1_772_366_400.0)

    def load(
        self, service: Scripted, rows: list[ReadyCandidate], options: LoadOptions | None = None
    ) -> dict[int, Outcome]:
        """The outcome of each row of one run; also checks the ledger."""
        with self.ledger() as ledger:
            outcomes = by_outcome(self.loader(ledger, service, options).load(rows))
            assert ledger.check() == ()
        return outcomes


def by_outcome(outcomes: Iterable[Outcome]) -> dict[int, Outcome]:
    """Outcomes by their row; no row has two."""
    found: dict[int, Outcome] = {}
    for outcome in outcomes:
        assert outcome.row not in found
        found[outcome.row] = outcome
    return found
