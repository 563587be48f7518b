"""Whatever happens between a file and a service, in any order: after each step the ledger holds nothing untrue."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from importer.ledger import Ledger, RunRecord, Scope, State
from importer.load import Halt, Loader, LoadOptions
from importer.models import Application, Operation, Outcome, OutcomeKind, PoolCandidate, Submission, Target
from importer.service import NoReply, Patience, Reply
from importer.service.replies import Phase

PEOPLE = 5
GOOD = (OutcomeKind.CREATED, OutcomeKind.ALREADY_THERE, OutcomeKind.DONE_BEFORE)
# What may become of one request: whether the service works on it, and what is heard of it.
FATES = st.sampled_from(
    [
        *["answered"] * 4,
        "429",
        "503 before",
        "503 after",
        "reset before",
        "silence after",
        "refused connection",
        "refused",
        "killed before",
        "killed after",
    ]
)
DOUBTS = {"503 before": Reply(503), "503 after": Reply(503)}
SILENCE = NoReply("no answer within 30 s", Phase.WAITING)
NO_CONNECTION = NoReply("connection refused", Phase.CONNECTING)


class Killed(BaseException):
    """The process ends here; nothing after it happens."""


class Service:
    """Accepts everybody once, as documented, and meets each request with the fate that is next."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.accepted: Counter[str] = Counter()
        self.fates: list[str] = []

    def submit(self, target: Target, body: bytes) -> Reply | NoReply:
        email = json.loads(body)["email"]
        fate = self.fates.pop(0) if self.fates else "answered"
        if fate in ("answered", "503 after", "silence after", "killed after"):
            reply = self._work_on(email)
        if fate.startswith("killed"):
            raise Killed
        if fate == "answered":
            return reply
        if fate == "429":
            return Reply(429)
        if fate == "refused":
            # A refusal is only said of who is not there: the service looks at uniqueness first.
            return Reply(409) if self.accepted[email] else Reply(400, "not today")
        if fate == "refused connection":
            return NO_CONNECTION
        return DOUBTS.get(fate, SILENCE)

    def _work_on(self, email: str) -> Reply:
        if self.accepted[email]:
            return Reply(409)
        self.accepted[email] += 1
        return Reply(201)


class WholeLife(RuleBasedStateMachine):
    """One target, one ledger, a file of five people; each run is a process that may be killed in its middle."""

    operation = Operation.APPLY

    def __init__(self) -> None:
        super().__init__()
        target = Target(self.operation, "4f2c9a" if self.operation is Operation.APPLY else "17")
        self.scope = Scope("https://recruiting.example.com", target)
        self.folder = Path(tempfile.mkdtemp())
        self.service = Service(target)
        self.now = 1_772_366_400.0
        self.names = ["Ada"] * PEOPLE
        self.runs = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @rule(fates=st.lists(FATES, max_size=12), settle=st.sampled_from(["now", "later", "never"]), again=st.booleans())
    def run(self, fates: list[str], settle: Any, again: bool) -> None:
        """A run whose requests meet these fates; after a kill the ledger is as the disk has it."""
        self.service.fates = list(fates)
        before = set(self.service.accepted)
        outcomes: dict[int, Outcome] = {}
        survivor = self.folder / "survivor"
        with Ledger.open(self.folder / "ledger.sqlite", clock=lambda: self.now) as ledger:
            loader = self._loader(ledger, LoadOptions(in_flight=1, settle=settle, again=again))
            try:
                for outcome in loader.load(self._submissions()):
                    assert outcome.row not in outcomes, "a row has two outcomes"
                    outcomes[outcome.row] = outcome
            except Killed:
                self._keep_what_is_on_disk(survivor)
        if survivor.exists():
            self._come_back(survivor)
        else:
            assert set(outcomes) == set(range(2, PEOPLE + 2)), "a row has no outcome"
        self.service.fates = []
        for outcome in outcomes.values():
            self._is_true(outcome, before)

    @rule(row=st.integers(0, PEOPLE - 1), name=st.sampled_from(["Ada", "Ida"]))
    def edit_the_file(self, row: int, name: str) -> None:
        """Somebody changes a cell."""
        self.names[row] = name

    @rule(seconds=st.sampled_from([-86400.0, -1.0, 3600.0]))
    def set_the_clock(self, seconds: float) -> None:
        """The machine's clock jumps."""
        self.now += seconds

    @rule()
    def resolve_by_hand(self) -> None:
        """A person looks, and says truly what they found."""
        with Ledger.open(self.folder / "ledger.sqlite") as ledger:
            for record in ledger.runs():
                for found in list(ledger.row_states(record.run)):
                    email = self._email(found.row)
                    known = ledger.look_up([ledger.fingerprints.identity(self.scope, email)])
                    if any(one.state is State.UNCLEAR for one in known.values()):
                        ledger.resolve(record.run, found.row, created=self.service.accepted[email] > 0)

    @invariant()
    def the_ledger_says_nothing_untrue(self) -> None:
        """Done is there, absent is not there, never sent is not there, nobody is there twice; and it is sound."""
        assert all(count == 1 for count in self.service.accepted.values() if count)
        with Ledger.open(self.folder / "ledger.sqlite") as ledger:
            assert ledger.check() == ()
            for row in range(2, PEOPLE + 2):
                email = self._email(row)
                is_there = self.service.accepted[email] > 0
                known = ledger.look_up([ledger.fingerprints.identity(self.scope, email)])
                states = [found.state for found in known.values()]
                if not states or states[0] in (State.FAILED, State.PLANNED, State.REJECTED):
                    assert not is_there, f"row {row} is known as {states}, and is there"
                elif states[0] in (State.CREATED, State.ALREADY_THERE):
                    assert is_there, f"row {row} is known as {states}, and is not there"

    def _loader(self, ledger: Ledger, options: LoadOptions) -> Loader:
        self.runs += 1
        run = RunRecord(
            f"run-{self.runs}", self.scope, "a.csv", "", "m.yaml", "", datetime.fromtimestamp(self.now, UTC)
        )
        ledger.begin_run(run)
        halt = Halt(lambda: 0.0, lambda seconds: None)
        return Loader(self.service, ledger, run, options=options, patience=Patience(attempts=3), halt=halt)

    def _submissions(self) -> list[Submission]:
        made = Application if self.operation is Operation.APPLY else PoolCandidate
        return [made(row, self._email(row), name, "Example", "9") for row, name in enumerate(self.names, start=2)]

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
        elif outcome.kind is not OutcomeKind.UNCLEAR:
            assert not is_there or (outcome.kind is OutcomeKind.NOT_SENT and self._email(outcome.row) in before)


class WholeLifeOfAPool(WholeLife):
    """The other operation, where a refusal after a doubt settles nothing."""

    operation = Operation.ADD_TO_POOL


TestWholeLife = WholeLife.TestCase
TestWholeLifeOfAPool = WholeLifeOfAPool.TestCase
TestWholeLife.settings = TestWholeLifeOfAPool.settings = settings(
    max_examples=8,
    stateful_step_count=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def test_a_changed_row_is_another_body() -> None:
    """The edit of the state machine changes what is sent."""
    one = Application(2, "person2@example.com", "Ada", "Example", "9")
    assert one.payload() != replace(one, first_name="Ida").payload()
