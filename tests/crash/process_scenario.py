"""Scenarios with real processes, a real connection and a real disk.

Every request is held until a rule decides how to handle it. So a process is killed, interrupted, or started a second
time while requests are in flight. After each step the ledger must be right, and each report is checked at the end.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from importer.ledger import Scope, State, open_ledger
from importer.models import Operation, Target
from importer.runs.manifest import read_manifest
from importer.settings import LedgerAddress
from tests.cli.conftest import candidate, write_csv
from tests.crash.fork_server import ForkServer, Process
from tests.crash.imports import OPERATIONS, SHORT_TIMEOUTS, TARGETS, setting_of, temporary_folder, write_mappings
from tests.crash.manual_service import BEHAVIORS, ManualService
from tests.crash.report_checks import Truth, has_started, ledger_errors, read_report, report_errors
from tests.ledger.given import problems_of
from tests.patience import PATIENCE
from tests.postgres import Server

PEOPLE = 6  # at the start
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
_BEHAVIORS = st.sampled_from(["answered"] * 8 + list(BEHAVIORS))
_MOST_RUNS_TO_THE_END = 6


class ProcessScenario(RuleBasedStateMachine):
    """One target, one results folder, a file of five people."""

    operation = Operation.APPLY
    fork_server: ClassVar[ForkServer | None] = None
    events: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        if ProcessScenario.fork_server is None:
            ProcessScenario.fork_server = (
                ForkServer()
            )  # one for all scenarios; ends with the process, when its input ends
        self.folder = temporary_folder()
        self.address = self.new_address()
        write_mappings(self.folder)
        self.service = ManualService()
        self.scope = Scope(self.service.base_url, Target(self.operation, TARGETS[self.operation.value]))
        self.names = ["Ada"] * PEOPLE
        self.process: Process | None = None
        self.before = 0
        self.windows: dict[str, tuple[int, int]] = {}
        self._write_file()

    # --- rules ---

    @rule(
        command=_COMMANDS,
        concurrency=st.sampled_from([1, 8, 8]),
        at_first=st.sampled_from([0, 3, 8]),
        behaviors=st.lists(st.tuples(st.integers(0, 7), _BEHAVIORS), min_size=2, max_size=14),
    )
    def send(self, command: str, concurrency: int, at_first: int, behaviors: list[tuple[int, str]]) -> None:
        """Start a run if none is running; then requests are answered, dropped or delayed one by one."""
        if self.process is None:
            self._start(command, concurrency, at_first)
        for index, behavior in behaviors:
            if self.service.held:
                self.events[f"request {behavior}"] += 1
                self.service.decide(self.service.held[index % len(self.service.held)], behavior)
                self._wait()
                self.the_ledger_is_right()

    @rule(
        how=st.sampled_from(["kill", "kill", "interrupt", "lose all before accepting", "lose all after accepting"]),
        at_first=st.sampled_from([0, 4, 8]),
    )
    def crash(self, how: str, at_first: int) -> None:
        """SIGKILL, SIGTERM, or a network failure; requests in flight arrive late, are processed, or are dropped."""
        if self.process is None:
            self._start("run", 8, at_first)
        if self.process is None:
            return
        count = len(self.service.held)
        self.events[f"{how} with {'0 or 1' if count < 2 else '2 or more'} in flight"] += 1
        if how == "kill":
            self.process.kill()
            self._process_ended()
        elif how == "interrupt":
            self.process.interrupt()
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
        """A cell changes, the next file has more people, late requests arrive, a user resolves a row, a second run."""
        self.events[what] += 1
        if what == "edit":
            row %= len(self.names)
            self.names[row] = "Ida" if self.names[row] == "Ada" else "Ada"
            self._write_file()
        elif what == "new people":
            self.names += ["Ada"] * min(12, MOST_PEOPLE - len(self.names))
            self._write_file()
        elif what == "second run":
            self._start_a_second_run()
        else:
            self.service.let_arrive()
        if what == "resolve" and self.process is None and self.windows:
            found = "--created" if f"person{row + 2}@example.com" in self.service.accepted else "--not-created"
            self._begin("resolve", sorted(self.windows)[-1], str(row + 2), found).end()

    def _start_a_second_run(self) -> None:
        """The same import is started while one is running: it is rejected at once."""
        if self.process is None:
            self._start("run", 8, 4)
        if self.service.held:
            code = self._begin("run", "people.csv", "--mapping", self._mapping).end()
            assert code == 75, f"a second run ended with {code}"

    # --- what must hold ---

    @invariant()
    def the_ledger_is_right(self) -> None:
        """Nobody exists twice; done rows exist, other rows do not; the ledger is consistent."""
        accepted = self.service.accepted
        assert len(set(accepted)) == len(accepted)
        if self.process is None or self.service.held:
            errors = ledger_errors(self.address, self.scope, list(self.emails.values()), frozenset(accepted))
            assert not errors, errors

    def teardown(self) -> None:
        self.events["scenarios"] += 1
        try:
            if self.process is not None:
                self.process.kill()
                self._process_ended()
            self.service.is_manual = False
            self.service.let_arrive()
            self._finish()
            self._check_reports()
        finally:
            self.service.__exit__(None, None, None)
            shutil.rmtree(self.folder)

    def _finish(self) -> None:
        for _ in range(_MOST_RUNS_TO_THE_END):
            self.before = len(self.service.accepted)
            self.process = self._begin("run", "people.csv", "--mapping", self._mapping, "--resend-rejected")
            code = self.process.end()
            self._process_ended()
            if code == 0:
                break
        assert sorted(self.service.accepted) == sorted(self.emails.values()), "a candidate is missing, or exists twice"

    def _check_reports(self) -> None:
        accepted = self.service.accepted
        for run, (before, after) in self.windows.items():
            folder = self.folder / "results" / run
            if before == after and not has_started(folder):
                continue
            reported = read_report(folder)
            truth = Truth(frozenset(accepted[:before]), frozenset(accepted[before:after]))
            assert len(reported) == read_manifest(folder).rows, "rows are missing, or reported twice"
            chosen = {one.row: self.emails[one.row] for one in reported}
            errors = report_errors(reported, chosen, truth)
            assert not errors, f"{run}: {errors}"
        with open_ledger(self.address) as ledger:
            assert problems_of(ledger) == []
            known = ledger.look_up([ledger.fingerprints.identity(self.scope, email) for email in self.emails.values()])
            assert {found.state for found in known.values()} <= {State.CREATED, State.ALREADY_EXISTS}

    # --- helpers ---

    def new_address(self) -> LedgerAddress:
        """Where the ledger of this scenario is."""
        return LedgerAddress(str(self.folder / "results" / "ledger.sqlite"))

    @property
    def emails(self) -> dict[int, str]:
        return {row: f"person{row}@example.com" for row in range(2, len(self.names) + 2)}

    @property
    def _mapping(self) -> str:
        return OPERATIONS[self.operation.value]

    def _write_file(self) -> None:
        rows = [candidate(row, First=name) for row, name in enumerate(self.names, start=2)]
        write_csv(self.folder / "people.csv", rows)

    def _begin(self, *words: str, concurrency: int = 1) -> Process:
        assert self.fork_server is not None
        environment = {
            **SHORT_TIMEOUTS,
            **setting_of(self.address),
            "IMPORTER_BASE_URL": self.service.base_url,
            "IMPORTER_TOKEN": "token",
            "IMPORTER_READ_TIMEOUT": "30",
            "IMPORTER_RESEND_DELAY_SECONDS": "0.01",
            "IMPORTER_CONCURRENCY": str(concurrency),
        }
        quiet = () if words[0] == "resolve" else ("--quiet",)
        return self.fork_server.start(self.folder, [*words, *quiet], environment)

    def _start(self, command: str, concurrency: int, at_first: int) -> None:
        word, *flags = command.split()
        if word in ("resume", "retry") and not self.windows:
            word, flags = "run", []
        chosen = ["last"] if word in ("resume", "retry") else ["people.csv", "--mapping", self._mapping]
        self.events[f"start {command}"] += 1
        self.before = len(self.service.accepted)
        self.service.let_through = at_first
        self.process = self._begin(word, *chosen, *flags, concurrency=concurrency)
        self._wait()

    def _wait(self) -> None:
        """Wait until requests are in flight and no more arrive, or the process has ended."""
        deadline = time.monotonic() + PATIENCE
        held, since = -1, time.monotonic()
        while self.process is not None and time.monotonic() < deadline:
            if self.process.has_ended():
                self._process_ended()
                return
            if len(self.service.held) != held:
                held, since = len(self.service.held), time.monotonic()
            if held and time.monotonic() - since > 0.01:
                return
            time.sleep(0.002)
        assert self.process is None, "the process neither sends nor ends"

    def _process_ended(self) -> None:
        """The process has ended: its remaining requests reach the service late, or are dropped after processing."""
        assert self.process is not None
        self.process.end()
        self.process = None
        for number, held in enumerate(list(self.service.held)):
            self.service.decide(held, "late" if number % 2 else "dropped after accepting")
        self.service.let_arrive()
        out = self.folder / "results"
        for path in out.glob("2*") if out.is_dir() else ():
            self.windows.setdefault(path.name, (self.before, len(self.service.accepted)))


class ProcessScenarioOfPool(ProcessScenario):
    """The other operation."""

    operation = Operation.ADD_TO_POOL


class ProcessScenarioOnServer(ProcessScenario):
    """The ledger in PostgreSQL."""

    server: ClassVar[Server | None] = None

    def new_address(self) -> LedgerAddress:
        assert self.server is not None
        return self.server.address(self.folder / "ledger.key")
