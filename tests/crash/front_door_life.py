"""The whole life of an import through the front door, made up: real processes, a real connection, a real disk.

Every request waits until a rule says what becomes of it. So a process is killed, interrupted, or run a second time,
while some requests are under way. After each step the ledger may hold nothing untrue, and the report of each run is
held against the truth.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from pathlib import Path
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from importer.ledger import Scope, State, open_ledger
from importer.models import Operation, Target
from importer.runs.manifest import read_manifest
from tests.cli.conftest import candidate, write_csv
from tests.crash.accounts import Truth, has_begun, told_in, untrue, untrue_in_ledger
from tests.crash.hand_service import FATES, HandService
from tests.crash.imports import OPERATIONS, PATIENCE, TARGETS, temporary_folder, write_mappings
from tests.crash.nursery import Life, Nursery

PEOPLE = 6  # to begin with
MOST_PEOPLE = 60
_COMMANDS = st.sampled_from(
    [
        "run",
        "run",
        "run",
        "resume",
        "retry",
        "run --resend-rejected",
        "run --resend-unconfirmed now",
        "run --resend-unconfirmed never",
    ]
)
_FATES = st.sampled_from(["answered"] * 8 + list(FATES))
_MOST_RUNS_TO_THE_END = 6


class FrontDoorLife(RuleBasedStateMachine):
    """One target, one results folder, a file of five people."""

    operation = Operation.APPLY
    nursery: ClassVar[Nursery | None] = None
    seen: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        if FrontDoorLife.nursery is None:
            FrontDoorLife.nursery = Nursery()  # one for all lives; ends with the process, by the end of its input
        self.folder = temporary_folder()
        write_mappings(self.folder)
        self.service = HandService()
        self.scope = Scope(self.service.base_url, Target(self.operation, TARGETS[self.operation.value]))
        self.names = ["Ada"] * PEOPLE
        self.life: Life | None = None
        self.before = 0
        self.windows: dict[str, tuple[int, int]] = {}
        self._write_file()

    # --- rules ---

    @rule(
        command=_COMMANDS,
        concurrency=st.sampled_from([1, 8, 8]),
        at_first=st.sampled_from([0, 3, 8]),
        fates=st.lists(st.tuples(st.integers(0, 7), _FATES), min_size=2, max_size=14),
    )
    def send(self, command: str, concurrency: int, at_first: int, fates: list[tuple[int, str]]) -> None:
        """Begin where nothing is at work, or go on; then requests are answered, dropped or delayed one by one."""
        if self.life is None:
            self._start(command, concurrency, at_first)
        for index, fate in fates:
            if self.service.held:
                self.seen[f"request {fate}"] += 1
                self.service.decide(self.service.held[index % len(self.service.held)], fate)
                self._wait()
                self.nothing_untrue_is_known()

    @rule(
        how=st.sampled_from(["kill", "kill", "interrupt", "lose all before accepting", "lose all after accepting"]),
        at_first=st.sampled_from([0, 4, 8]),
    )
    def crash(self, how: str, at_first: int) -> None:
        """SIGKILL, SIGTERM, or the network goes; what was under way comes late, is worked on, or is dropped."""
        if self.life is None:
            self._start("run", 8, at_first)
        if self.life is None:
            return
        count = len(self.service.held)
        self.seen[f"{how} with {'0 or 1' if count < 2 else '2 or more'} under way"] += 1
        if how == "kill":
            self.life.kill()
            self._over()
        elif how == "interrupt":
            self.life.interrupt()
            self._wait()
        else:
            for held in list(self.service.held):
                self.service.decide(held, how.replace("lose all", "dropped"))
            self._wait()

    @rule(
        what=st.sampled_from(["edit", "new people", "late ones arrive", "resolve", "second run"]),
        row=st.integers(0, MOST_PEOPLE - 1),
    )
    def meanwhile(self, what: str, row: int) -> None:
        """A cell is changed, the next file has more people, late requests come, a person looks, a second run begins."""
        self.seen[what] += 1
        if what == "edit":
            row %= len(self.names)
            self.names[row] = "Ida" if self.names[row] == "Ada" else "Ada"
            self._write_file()
        elif what == "new people":
            self.names += ["Ada"] * min(12, MOST_PEOPLE - len(self.names))
            self._write_file()
        elif what == "second run":
            self._begin_a_second_run()
        else:
            self.service.let_arrive()
        if what == "resolve" and self.life is None and self.windows:
            found = "--created" if f"person{row + 2}@example.com" in self.service.accepted else "--not-created"
            self._begin("resolve", sorted(self.windows)[-1], str(row + 2), found).end()

    def _begin_a_second_run(self) -> None:
        """Somebody begins the same import where one is at work: it is refused at once."""
        if self.life is None:
            self._start("run", 8, 4)
        if self.service.held:
            code = self._begin("run", "people.csv", "--mapping", self._mapping).end()
            assert code == 75, f"a second run ended with {code}"

    # --- what must hold ---

    @invariant()
    def nothing_untrue_is_known(self) -> None:
        """Nobody is there twice; done is there, absent is not there, never sent is not there; the ledger is sound."""
        accepted = self.service.accepted
        assert len(set(accepted)) == len(accepted)
        if self._ledger.is_file() and (self.life is None or self.service.held):
            faults = untrue_in_ledger(self._ledger, self.scope, list(self.emails.values()), frozenset(accepted))
            assert not faults, faults

    def teardown(self) -> None:
        self.seen["lives"] += 1
        try:
            if self.life is not None:
                self.life.kill()
                self._over()
            self.service.by_hand = False
            self.service.let_arrive()
            self._go_on_to_the_end()
            self._hold_reports_against_the_truth()
        finally:
            self.service.__exit__(None, None, None)
            shutil.rmtree(self.folder)

    def _go_on_to_the_end(self) -> None:
        for _ in range(_MOST_RUNS_TO_THE_END):
            self.before = len(self.service.accepted)
            self.life = self._begin("run", "people.csv", "--mapping", self._mapping, "--resend-rejected")
            code = self.life.end()
            self._over()
            if code == 0:
                break
        assert sorted(self.service.accepted) == sorted(self.emails.values()), "somebody is missing, or there twice"

    def _hold_reports_against_the_truth(self) -> None:
        accepted = self.service.accepted
        for run, (before, after) in self.windows.items():
            folder = self.folder / "results" / run
            if before == after and not has_begun(folder):
                continue
            told = told_in(folder)
            truth = Truth(frozenset(accepted[:before]), frozenset(accepted[before:after]))
            assert len(told) == read_manifest(folder).rows, "rows are missing, or told twice"
            chosen = {one.row: self.emails[one.row] for one in told}
            faults = untrue(told, chosen, truth)
            assert not faults, f"{run}: {faults}"
        with open_ledger(self._ledger) as ledger:
            assert ledger.check() == ()
            known = ledger.look_up([ledger.fingerprints.identity(self.scope, email) for email in self.emails.values()])
            assert {found.state for found in known.values()} <= {State.CREATED, State.ALREADY_EXISTS}

    # --- means ---

    @property
    def emails(self) -> dict[int, str]:
        return {row: f"person{row}@example.com" for row in range(2, len(self.names) + 2)}

    @property
    def _mapping(self) -> str:
        return OPERATIONS[self.operation.value]

    @property
    def _ledger(self) -> Path:
        return self.folder / "results" / "ledger.sqlite"

    def _write_file(self) -> None:
        rows = [candidate(row, First=name) for row, name in enumerate(self.names, start=2)]
        write_csv(self.folder / "people.csv", rows)

    def _begin(self, *words: str, concurrency: int = 1) -> Life:
        assert self.nursery is not None
        environment = {
            **PATIENCE,
            "IMPORTER_BASE_URL": self.service.base_url,
            "IMPORTER_TOKEN": "token",
            "IMPORTER_READ_TIMEOUT": "30",
            "IMPORTER_RESEND_DELAY_SECONDS": "0.01",
            "IMPORTER_CONCURRENCY": str(concurrency),
        }
        quiet = () if words[0] == "resolve" else ("--quiet",)
        return self.nursery.start(self.folder, [*words, *quiet], environment)

    def _start(self, command: str, concurrency: int, at_first: int) -> None:
        word, *flags = command.split()
        if word in ("resume", "retry") and not self.windows:
            word, flags = "run", []
        chosen = ["last"] if word in ("resume", "retry") else ["people.csv", "--mapping", self._mapping]
        self.seen[f"begin {command}"] += 1
        self.before = len(self.service.accepted)
        self.service.let_through = at_first
        self.life = self._begin(word, *chosen, *flags, concurrency=concurrency)
        self._wait()

    def _wait(self) -> None:
        """Until requests are under way and no more come, or the process has ended."""
        deadline = time.monotonic() + 20
        held, since = -1, time.monotonic()
        while self.life is not None and time.monotonic() < deadline:
            if self.life.has_ended():
                self._over()
                return
            if len(self.service.held) != held:
                held, since = len(self.service.held), time.monotonic()
            if held and time.monotonic() - since > 0.01:
                return
            time.sleep(0.002)
        assert self.life is None, "the process neither sends nor ends"

    def _over(self) -> None:
        """The process is no more: its requests that are left reach the service late, or are not worked on."""
        assert self.life is not None
        self.life.end()
        self.life = None
        for number, held in enumerate(list(self.service.held)):
            self.service.decide(held, "late" if number % 2 else "dropped after accepting")
        self.service.let_arrive()
        out = self.folder / "results"
        for path in out.glob("2*") if out.is_dir() else ():
            self.windows.setdefault(path.name, (self.before, len(self.service.accepted)))


class FrontDoorLifeOfAPool(FrontDoorLife):
    """The other operation."""

    operation = Operation.ADD_TO_POOL
