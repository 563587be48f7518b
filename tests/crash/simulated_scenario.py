"""Simulated scenarios: anything that can happen between a file and a service, in any order.

The loader and the ledger are real; the service, the clock and the end of a process are simulated, so that many
scenarios can run. `process_scenario` has real processes and connections. After each step the ledger must be right.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from importer.ledger import Ledger, RunRecord, Scope, State, open_ledger
from importer.models import Application, Operation, Outcome, OutcomeKind, PoolCandidate, ReadyCandidate, Target
from importer.problems import Busy
from importer.sending import Loader, LoadOptions
from importer.service import NoReply, Reply
from importer.settings import LedgerAddress
from importer.transform import encode
from tests.crash.imports import temporary_folder
from tests.ledger.given import problems_of
from tests.postgres import Server
from tests.sending.given import Time
from tests.tcp_proxy import TcpProxy

PEOPLE = 5  # at the start
MOST_PEOPLE = 40
GOOD = (OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS, OutcomeKind.ALREADY_IMPORTED)
RETRIED = (OutcomeKind.REJECTED, OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED)
# How one request may end: whether the service processes it, and what the client receives.
BEHAVIORS = st.sampled_from(
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
INCONCLUSIVE = {"503 before": Reply(503), "503 after": Reply(503)}
SILENCE = NoReply("no response within 30 s", may_have_arrived=True)
NO_CONNECTION = NoReply("connection refused", may_have_arrived=False)


class Killed(BaseException):
    """The process ends here."""


class Service:
    """Accepts each candidate once, as documented, and handles each request by the next behavior.

    A late request is processed after its client gave up, but before the next one for the same person, as the resend
    delay is long enough.
    """

    def __init__(self, on_request: Callable[[str], None]) -> None:
        self.accepted: Counter[str] = Counter()
        self.behaviors: list[str] = []
        self.last_behavior = "answered"  # after the last one
        self.handled: Counter[str] = Counter()
        self._on_request = on_request
        self._late: list[str] = []

    def send(self, target: Target, body: bytes) -> Reply | NoReply:
        email = json.loads(body)["email"]
        behavior = self.behaviors.pop(0) if self.behaviors else self.last_behavior
        self.handled[behavior] += 1
        self._on_request(behavior)
        if email in self._late:
            self.let_arrive()
        if behavior == "late":
            self._late.append(email)
            return SILENCE
        if behavior in ("answered", "second run", "interrupted", "503 after", "silence after", "killed after"):
            reply = self._process(email)
        if behavior.startswith("killed"):
            raise Killed
        if behavior in ("answered", "second run", "interrupted"):
            return reply
        if behavior == "token refused":
            return Reply(401)
        if behavior == "429":
            return Reply(429)
        if behavior == "refused":
            # The service checks for duplicates first.
            return Reply(409) if self.accepted[email] else Reply(400, "not today")
        if behavior == "refused connection":
            return NO_CONNECTION
        return INCONCLUSIVE.get(behavior, SILENCE)

    def let_arrive(self) -> None:
        """Process the late requests now."""
        for email in self._late:
            self._process(email)
        self._late.clear()

    def _process(self, email: str) -> Reply:
        if self.accepted[email]:
            return Reply(409)
        self.accepted[email] += 1
        return Reply(201)


class SimulatedScenario(RuleBasedStateMachine):
    """One target, one ledger, a file of five people; each run may be killed."""

    operation = Operation.APPLY
    events: ClassVar[Counter[str]] = Counter()  # of all scenarios: rules, and behaviors of requests

    def __init__(self) -> None:
        super().__init__()
        target = Target(self.operation, "4f2c9a" if self.operation is Operation.APPLY else "17")
        self.scope = Scope("https://recruiting.example.com", target)
        self.folder = temporary_folder()
        self._survivor = self.folder / "survivor"
        self.address = self.new_address()
        self.service = Service(self._request_arrived)
        self.cancellation = Time()
        self.now = 1_772_366_400.0
        self.names = ["Ada"] * PEOPLE
        self.runs = 0
        self.last: dict[int, Outcome] = {}

    def teardown(self) -> None:
        self.events["scenarios"] += 1
        self.events.update({f"request {behavior}": count for behavior, count in self.service.handled.items()})
        shutil.rmtree(self.folder)

    def _request_arrived(self, behavior: str) -> None:
        """What else happens while a request is in flight."""
        if behavior == "interrupted":
            self.cancellation.set()
        if behavior == "second run":
            with open_ledger(self.address) as second, suppress(Busy), second.lock_target(self.scope):
                raise AssertionError("a second run may start while one is running")

    @rule(
        command=st.sampled_from(["run", "run", "run", "retry"]),
        behaviors=st.lists(BEHAVIORS, min_size=3, max_size=14),
        last_behavior=BEHAVIORS,
        resend_unconfirmed=st.sampled_from(["now", "end", "end", "never"]),
        resend_rejected=st.booleans(),
    )
    def run(
        self, command: str, behaviors: list[str], last_behavior: str, resend_unconfirmed: Any, resend_rejected: bool
    ) -> None:
        """A run whose requests have these behaviors; after a kill the ledger is as on the disk.

        A retry sends only the rows that the last run left unsettled.
        """
        self.events[f"rule {command}"] += 1
        self.service.last_behavior = last_behavior
        chosen = self._submissions()
        if command == "retry":
            chosen = [one for one in chosen if one.row in self.last and self.last[one.row].kind in RETRIED]
        self._run(
            chosen,
            behaviors,
            LoadOptions(
                concurrency=1,
                resend_unconfirmed=resend_unconfirmed,
                resend_rejected=resend_rejected or command == "retry",
            ),
        )

    def _run(self, rows: list[ReadyCandidate], behaviors: list[str], options: LoadOptions) -> None:
        self.service.behaviors = list(behaviors)
        self.cancellation = Time()
        before = set(self.service.accepted)
        outcomes: dict[int, Outcome] = {}
        was_killed = False
        with open_ledger(self.address) as ledger, ledger.lock_target(self.scope):
            loader = self._loader(ledger, options)
            try:
                for outcome in chain.from_iterable(loader.load(rows)):
                    assert outcome.row not in outcomes, "a row has two outcomes"
                    outcomes[outcome.row] = outcome
            except Killed:
                was_killed = True
                self.keep_what_is_on_disk()
        if was_killed:
            self.restore()
        else:
            assert set(outcomes) == {one.row for one in rows}, "a row has no outcome"
        self.service.behaviors, self.service.last_behavior = [], "answered"
        self.last = outcomes
        for outcome in outcomes.values():
            self._check_outcome(outcome, before)

    @rule(
        what=st.sampled_from(["edit", "edit", "new people", "new people", "clock", "late ones arrive", "resolve"]),
        row=st.integers(0, PEOPLE - 1),
        seconds=st.sampled_from([-86400.0, -1.0, 3600.0]),
    )
    def meanwhile(self, what: str, row: int, seconds: float) -> None:
        """A cell changes, the next file has more people, the clock jumps, late requests arrive, rows are resolved."""
        self.events[f"rule {what}"] += 1
        if what == "edit":
            self.names[row] = "Ida" if self.names[row] == "Ada" else "Ada"
        elif what == "new people":
            self.names += ["Ada"] * min(3, MOST_PEOPLE - len(self.names))
        elif what == "clock":
            self.now += seconds
        else:
            self.service.let_arrive()
        if what == "resolve":
            self._resolve_manually()

    def _resolve_manually(self) -> None:
        """A user resolves rows correctly when no request is in flight."""
        with open_ledger(self.address) as ledger:
            for record in ledger.runs():
                for found in list(ledger.row_states(record.run)):
                    email = self._email(found.row)
                    known = ledger.look_up([ledger.fingerprints.identity(self.scope, email)])
                    if any(one.state is State.UNCONFIRMED for one in known.values()):
                        ledger.resolve(record.run, found.row, created=self.service.accepted[email] > 0)

    @invariant()
    def the_ledger_is_right(self) -> None:
        """Done rows exist, other rows do not, nobody exists twice, and the ledger is consistent."""
        assert all(count == 1 for count in self.service.accepted.values() if count)
        with open_ledger(self.address) as ledger:
            assert problems_of(ledger) == []
            for row in range(2, len(self.names) + 2):
                email = self._email(row)
                exists = self.service.accepted[email] > 0
                known = ledger.look_up([ledger.fingerprints.identity(self.scope, email)])
                states = [found.state for found in known.values()]
                if not states or states[0] in (State.FAILED, State.PLANNED, State.REJECTED):
                    assert not exists, f"row {row} is recorded as {states}, but exists"
                elif states[0] in (State.CREATED, State.ALREADY_EXISTS):
                    assert exists, f"row {row} is recorded as {states}, but does not exist"

    def _loader(self, ledger: Ledger, options: LoadOptions) -> Loader:
        self.runs += 1
        run = RunRecord(f"run-{self.runs}", self.scope, datetime.fromtimestamp(self.now, UTC))
        ledger.begin_run(run)
        loader = Loader(self.service, ledger, run, options=options, cancellation=self.cancellation)
        self.cancellation.drives(loader)
        return loader

    def _submissions(self) -> list[ReadyCandidate]:
        made = Application if self.operation is Operation.APPLY else PoolCandidate
        return [
            encode(made(row, self._email(row), name, "Example", "9")) for row, name in enumerate(self.names, start=2)
        ]

    def _email(self, row: int) -> str:
        return f"person{row}@example.com"

    def new_address(self) -> LedgerAddress:
        """Where the ledger of this scenario is."""
        return LedgerAddress(str(self.folder / "ledger.sqlite"))

    def keep_what_is_on_disk(self) -> None:
        """The process is killed: what it would still write is lost."""
        survivor = self._survivor
        survivor.mkdir()
        for path in self.folder.glob("ledger.sqlite*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, survivor)

    def restore(self) -> None:
        """The ledger is as it was when the process was killed."""
        survivor = self._survivor
        for path in [*self.folder.glob("ledger.sqlite*")]:
            path.unlink()
        for path in survivor.iterdir():
            path.rename(self.folder / path.name)
        survivor.rmdir()

    def _check_outcome(self, outcome: Outcome, before: set[str]) -> None:
        exists = self.service.accepted[self._email(outcome.row)] > 0
        if outcome.kind in GOOD:
            assert exists, f"{outcome} is wrong"
        elif outcome.kind is not OutcomeKind.UNCONFIRMED:
            assert not exists or (outcome.kind is OutcomeKind.NOT_SENT and self._email(outcome.row) in before)


class SimulatedScenarioOfPool(SimulatedScenario):
    """The other operation, where a rejection after an unconfirmed request settles nothing."""

    operation = Operation.ADD_TO_POOL


class SimulatedScenarioOnServer(SimulatedScenario):
    """The ledger in PostgreSQL, behind a proxy: a killed process has no connection any more."""

    server: ClassVar[Server | None] = None

    def new_address(self) -> LedgerAddress:
        assert self.server is not None
        address = self.server.address(self.folder / "ledger.key", patience=0.0)
        self.proxy = TcpProxy(self.server.port)
        return replace(address, location=address.location.replace(f":{self.server.port}/", f":{self.proxy.port}/"))

    def teardown(self) -> None:
        super().teardown()
        self.proxy.close()

    def keep_what_is_on_disk(self) -> None:
        self.proxy.is_open = False
        self.proxy.cut_all()

    def restore(self) -> None:
        self.proxy.is_open = True
