"""The whole life of rows, made up: whatever happens between a file and a service, in any order.

The loader and the ledger are the real ones; the service, the clock and the end of a process are simulated, so that
lives are many. `front_door_life` has real processes and real connections. After each step the ledger may hold nothing
untrue.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from importer.ledger import LedgerStore, RunRecord, Scope, State, open_ledger
from importer.load import Cancellation, Loader, LoadOptions
from importer.models import Application, Operation, Outcome, OutcomeKind, PoolCandidate, ReadyCandidate, Target
from importer.problems import Busy
from importer.service import NoReply, OnAnswer, Reply
from importer.service.transport_api import Phase
from importer.transform import encode
from tests.crash.imports import temporary_folder
from tests.load.given import answer_on_a_thread

PEOPLE = 5  # to begin with
MOST_PEOPLE = 40
GOOD = (OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS, OutcomeKind.ALREADY_IMPORTED)
RETRIED = (OutcomeKind.REJECTED, OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED)
# What may become of one request: whether the service works on it, and what is heard of it.
FATES = st.sampled_from(
    [
        *["answered"] * 6,
        "429",
        "503 before",
        "503 after",
        "reset before",
        "silence after",
        "late",
        "refused connection",
        "refused",
        "token refused",
        "second run",
        "interrupted",
        "killed before",
        "killed after",
    ]
)
DOUBTS = {"503 before": Reply(503), "503 after": Reply(503)}
SILENCE = NoReply("no response within 30 s", Phase.WAITING)
NO_CONNECTION = NoReply("connection refused", Phase.CONNECTING)


class Killed(BaseException):
    """The process ends here; nothing after it happens."""


class Service:
    """Accepts everybody once, as documented, and meets each request with the fate that is next.

    A late request is worked on some time after its client gave up, but before the next one for the same person: that
    long the settling delay is.
    """

    def __init__(self, on_meeting: Callable[[str], None]) -> None:
        self.accepted: Counter[str] = Counter()
        self.fates: list[str] = []
        self.then = "answered"  # when these are used up
        self.met: Counter[str] = Counter()
        self._on_meeting = on_meeting
        self._late: list[str] = []

    def start(self, target: Target, body: bytes, on_done: OnAnswer) -> None:
        answer_on_a_thread(lambda: self._answer(body), on_done)

    def _answer(self, body: bytes) -> Reply | NoReply:
        email = json.loads(body)["email"]
        fate = self.fates.pop(0) if self.fates else self.then
        self.met[fate] += 1
        self._on_meeting(fate)
        if email in self._late:
            self.let_arrive()
        if fate == "late":
            self._late.append(email)
            return SILENCE
        if fate in ("answered", "second run", "interrupted", "503 after", "silence after", "killed after"):
            reply = self._work_on(email)
        if fate.startswith("killed"):
            raise Killed
        if fate in ("answered", "second run", "interrupted"):
            return reply
        if fate == "token refused":
            return Reply(401)
        if fate == "429":
            return Reply(429)
        if fate == "refused":
            # A refusal is only said of who is not there: the service looks at uniqueness first.
            return Reply(409) if self.accepted[email] else Reply(400, "not today")
        if fate == "refused connection":
            return NO_CONNECTION
        return DOUBTS.get(fate, SILENCE)

    def let_arrive(self) -> None:
        """What was on its way comes to the service now."""
        for email in self._late:
            self._work_on(email)
        self._late.clear()

    def _work_on(self, email: str) -> Reply:
        if self.accepted[email]:
            return Reply(409)
        self.accepted[email] += 1
        return Reply(201)


class WholeLife(RuleBasedStateMachine):
    """One target, one ledger, a file of five people; each run is a process that may be killed in its middle."""

    operation = Operation.APPLY
    seen: ClassVar[Counter[str]] = Counter()  # of all lives: rules, and fates of requests

    def __init__(self) -> None:
        super().__init__()
        target = Target(self.operation, "4f2c9a" if self.operation is Operation.APPLY else "17")
        self.scope = Scope("https://recruiting.example.com", target)
        self.folder = temporary_folder()
        self.service = Service(self._meet)
        self.cancellation = Cancellation()
        self.now = 1_772_366_400.0
        self.names = ["Ada"] * PEOPLE
        self.runs = 0
        self.last: dict[int, Outcome] = {}

    def teardown(self) -> None:
        self.seen["lives"] += 1
        self.seen.update({f"request {fate}": count for fate, count in self.service.met.items()})
        shutil.rmtree(self.folder)

    def _meet(self, fate: str) -> None:
        """What else happens while a request is under way."""
        if fate == "interrupted":
            self.cancellation.set()
        if fate == "second run":
            with open_ledger(self.folder / "ledger.sqlite") as second, suppress(Busy), second.lock_target(self.scope):
                raise AssertionError("a second run may begin while one works")

    @rule(
        command=st.sampled_from(["run", "run", "run", "retry"]),
        fates=st.lists(FATES, min_size=3, max_size=14),
        then=FATES,
        resend_unconfirmed=st.sampled_from(["now", "end", "end", "never"]),
        resend_rejected=st.booleans(),
    )
    def run(self, command: str, fates: list[str], then: str, resend_unconfirmed: Any, resend_rejected: bool) -> None:
        """A run whose requests meet these fates; after a kill the ledger is as the disk has it.

        A retry is of those rows that the last run left unsettled, and no others.
        """
        self.seen[f"rule {command}"] += 1
        self.service.then = then
        chosen = self._submissions()
        if command == "retry":
            chosen = [one for one in chosen if one.row in self.last and self.last[one.row].kind in RETRIED]
        self._live(
            chosen,
            fates,
            LoadOptions(
                concurrency=1,
                resend_unconfirmed=resend_unconfirmed,
                resend_rejected=resend_rejected or command == "retry",
            ),
        )

    def _live(self, rows: list[ReadyCandidate], fates: list[str], options: LoadOptions) -> None:
        self.service.fates = list(fates)
        passed = [0.0]  # seconds that only pass while somebody waits
        self.cancellation = Cancellation(lambda: passed[0], lambda seconds: passed.append(passed.pop() + seconds))
        before = set(self.service.accepted)
        outcomes: dict[int, Outcome] = {}
        survivor = self.folder / "survivor"
        path = self.folder / "ledger.sqlite"
        with open_ledger(path, clock=lambda: self.now) as ledger, ledger.lock_target(self.scope):
            loader = self._loader(ledger, options)
            try:
                for outcome in loader.load(rows):
                    assert outcome.row not in outcomes, "a row has two outcomes"
                    outcomes[outcome.row] = outcome
            except Killed:
                self._keep_what_is_on_disk(survivor)
        if survivor.exists():
            self._come_back(survivor)
        else:
            assert set(outcomes) == {one.row for one in rows}, "a row has no outcome"
        self.service.fates, self.service.then = [], "answered"
        self.last = outcomes
        for outcome in outcomes.values():
            self._is_true(outcome, before)

    @rule(
        what=st.sampled_from(["edit", "edit", "new people", "new people", "clock", "late ones arrive", "resolve"]),
        row=st.integers(0, PEOPLE - 1),
        seconds=st.sampled_from([-86400.0, -1.0, 3600.0]),
    )
    def meanwhile(self, what: str, row: int, seconds: float) -> None:
        """A cell is changed, the next file has more people, the clock jumps, late requests come, a person looks."""
        self.seen[f"rule {what}"] += 1
        if what == "edit":
            self.names[row] = "Ida" if self.names[row] == "Ada" else "Ada"
        elif what == "new people":
            self.names += ["Ada"] * min(3, MOST_PEOPLE - len(self.names))
        elif what == "clock":
            self.now += seconds
        else:
            self.service.let_arrive()
        if what == "resolve":
            self._resolve_by_hand()

    def _resolve_by_hand(self) -> None:
        """A person looks when nothing is on its way any more, and says truly what they found."""
        with open_ledger(self.folder / "ledger.sqlite") as ledger:
            for record in ledger.runs():
                for found in list(ledger.row_states(record.run)):
                    email = self._email(found.row)
                    known = ledger.look_up([ledger.fingerprints.identity(self.scope, email)])
                    if any(one.state is State.UNCONFIRMED for one in known.values()):
                        ledger.resolve(record.run, found.row, created=self.service.accepted[email] > 0)

    @invariant()
    def the_ledger_says_nothing_untrue(self) -> None:
        """Done is there, absent is not there, never sent is not there, nobody is there twice; and it is sound."""
        assert all(count == 1 for count in self.service.accepted.values() if count)
        with open_ledger(self.folder / "ledger.sqlite") as ledger:
            assert ledger.check() == ()
            for row in range(2, len(self.names) + 2):
                email = self._email(row)
                is_there = self.service.accepted[email] > 0
                known = ledger.look_up([ledger.fingerprints.identity(self.scope, email)])
                states = [found.state for found in known.values()]
                if not states or states[0] in (State.FAILED, State.PLANNED, State.REJECTED):
                    assert not is_there, f"row {row} is known as {states}, and is there"
                elif states[0] in (State.CREATED, State.ALREADY_EXISTS):
                    assert is_there, f"row {row} is known as {states}, and is not there"

    def _loader(self, ledger: LedgerStore, options: LoadOptions) -> Loader:
        self.runs += 1
        run = RunRecord(
            f"run-{self.runs}", self.scope, "a.csv", "", "m.yaml", "", datetime.fromtimestamp(self.now, UTC)
        )
        ledger.begin_run(run)
        return Loader(self.service, ledger, run, options=options, cancellation=self.cancellation)

    def _submissions(self) -> list[ReadyCandidate]:
        made = Application if self.operation is Operation.APPLY else PoolCandidate
        return [
            encode(made(row, self._email(row), name, "Example", "9")) for row, name in enumerate(self.names, start=2)
        ]

    def _email(self, row: int) -> str:
        return f"person{row}@example.com"

    def _keep_what_is_on_disk(self, survivor: Path) -> None:
        survivor.mkdir()
        for path in self.folder.glob("ledger.sqlite*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, survivor)

    def _come_back(self, survivor: Path) -> None:
        for path in [*self.folder.glob("ledger.sqlite*")]:
            path.unlink()
        for path in survivor.iterdir():
            path.rename(self.folder / path.name)
        survivor.rmdir()

    def _is_true(self, outcome: Outcome, before: set[str]) -> None:
        is_there = self.service.accepted[self._email(outcome.row)] > 0
        if outcome.kind in GOOD:
            assert is_there, f"{outcome} is not so"
        elif outcome.kind is not OutcomeKind.UNCONFIRMED:
            assert not is_there or (outcome.kind is OutcomeKind.NOT_SENT and self._email(outcome.row) in before)


class WholeLifeOfAPool(WholeLife):
    """The other operation, where a refusal after a doubt settles nothing."""

    operation = Operation.ADD_TO_POOL
