"""Kills processes at random moments, and checks every report and the ledger against what the service accepted."""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from openpyxl import load_workbook

from importer.ledger import Scope, open_ledger
from importer.models import Operation, Target
from importer.settings import LedgerAddress
from tests.crash.fork_server import ForkServer, Process
from tests.crash.imports import (
    OPERATIONS,
    SHORT_TIMEOUTS,
    Recorder,
    recorded_sandbox,
    setting_of,
    write_mappings,
    write_people,
)
from tests.crash.report_checks import Truth, has_started, ledger_errors, read_report, report_errors
from tests.ledger.given import problems_of
from tests.postgres import Server, running_server

FAULTS: list[dict[str, Any]] = [
    {"kind": "delay", "share": 1, "ms": 4, "jitter_ms": 20, "times": 99},
    {"kind": "429", "share": 0.03},
    {"kind": "503", "share": 0.02, "when": "before"},
    {"kind": "503", "share": 0.02, "when": "after"},
    {"kind": "reset", "share": 0.01, "when": "before"},
    {"kind": "reset", "share": 0.02, "when": "after"},
    {"kind": "cut_head", "share": 0.01},
    {"kind": "cut_body", "share": 0.02},
    {"kind": "hang_after", "share": 0.002, "seconds": 1},
    {"kind": "not_json_201", "share": 0.02},
]
_FEWER_BY = 8  # with all faults the concurrency stays low; with fewer faults, more requests are in flight at a kill
_MOST_RUNS_TO_THE_END = 8
_KILLS_OF_FIXED = 4  # of runs of a fixed report, for each file
_OF_SERVERS = 0.3  # share of the kills that are of the ledger's server, where it has one


@dataclass(frozen=True)
class Size:
    """The size of a series: the import of each file of `rows` rows is killed `kills` times, then finished.

    concurrency: the most requests in flight; few_faults: fewer faults of the service, so that more are in flight.
    on_server: whether the ledger is in PostgreSQL; then its server is killed too, and started again.
    """

    files: int
    rows: int
    kills: int
    concurrency: int = 16
    few_faults: bool = False
    resend_delay: float = 0.05
    on_server: bool = False


@dataclass
class Figures:
    """The results of a series of kills."""

    rows: int = 0
    kills: int = 0
    kills_of_servers: int = 0
    processes: int = 0
    reports: int = 0
    unconfirmed: list[int] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    twice: int = 0
    missing: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Figures) -> None:
        self.rows += other.rows
        self.kills += other.kills
        self.kills_of_servers += other.kills_of_servers
        self.processes += other.processes
        self.reports += other.reports
        self.unconfirmed += other.unconfirmed
        self.outcomes.update(other.outcomes)
        self.twice += other.twice
        self.missing += other.missing
        self.wrong += other.wrong

    def lines(self) -> list[str]:
        counts = self.unconfirmed or [0]
        eight = sum(count >= 8 for count in counts)
        processes = f"in {self.processes} processes, {self.seconds:.0f} s"
        return [
            f"random SIGKILLs      {self.kills} over {self.rows} rows, {processes}",
            f"of these, of the ledger's server {self.kills_of_servers}",
            f"unconfirmed after a kill {max(counts)} at most, {statistics.mean(counts):.1f} on average, "
            f"8 or more {eight} times",
            f"reports checked      {self.reports}, with {self.outcomes.total()} rows: {dict(self.outcomes)}",
            f"entered twice        {self.twice}",
            f"rows missing         {self.missing}",
            f"reported wrongly     {len(self.wrong)}",
        ]


class _Series:
    def __init__(
        self,
        folder: Path,
        address: LedgerAddress,
        server: Server | None,
        fork_server: ForkServer,
        recorder: Recorder,
        seed: int,
        size: Size,
    ) -> None:
        self._folder = folder
        self._server = server
        self._address = address
        self._fork_server = fork_server
        self._recorder = recorder
        self._rng = random.Random(seed)
        self._figures = Figures()
        self._environment = {
            **SHORT_TIMEOUTS,
            **recorder.environment,
            **setting_of(address),
            "IMPORTER_CONCURRENCY": str(size.concurrency),
            "IMPORTER_RESEND_DELAY_SECONDS": str(size.resend_delay),
        }

    def run(self, size: Size) -> Figures:
        began = time.monotonic()
        for number in range(size.files):
            self._kill_one_file(number, size)
        self._figures.seconds = time.monotonic() - began
        return self._figures

    def _kill_one_file(self, number: int, size: Size) -> None:
        operation = list(OPERATIONS)[number % len(OPERATIONS)]
        first = number * size.rows
        numbers = range(first, first + size.rows)
        emails = write_people(self._folder / f"file{number}.csv", numbers, bad=numbers[7::50])
        good = {email for row, email in emails.items() if (row - 2) % 50 != 7}
        command = ("run", f"file{number}.csv", "--mapping", OPERATIONS[operation], "--out", f"out{number}", "--quiet")
        windows: dict[str, tuple[int, int]] = {}
        kills = 0
        while kills < size.kills:
            process, before = self._begin(command)
            while True:
                left = len(good - set(self._recorder.accepted))
                self._wait(process, left, size.kills - kills)
                if kills + 1 >= size.kills or process.has_ended():
                    break
                if self._server is None or self._rng.random() >= _OF_SERVERS:
                    break
                self._kill_server(self._server)
                kills += 1
            process.kill()
            kills += process.end() < 0
            self._record_run(number, before, windows)
            self._check_ledger(operation, list(emails.values()))
        self._run_to_the_end(command, 4, number, windows)  # the bad rows are invalid, and all others are imported
        report = f"out{number}/{max(windows)}/report.xlsx"
        _fix_all(self._folder / report)
        fixed = ("run", report, *command[2:])
        for _ in range(_KILLS_OF_FIXED):
            process, before = self._begin(fixed)
            time.sleep(self._rng.uniform(0.05, 1.2))
            process.kill()
            kills += process.end() < 0
            self._record_run(number, before, windows)
            self._check_ledger(operation, list(emails.values()))
        self._run_to_the_end(fixed, 0, number, windows)
        good = set(emails.values())
        self._figures.rows += size.rows
        self._figures.kills += kills
        self._check_results(number, emails, good, windows)

    def _run_to_the_end(
        self, command: tuple[str, ...], wanted: int, number: int, windows: dict[str, tuple[int, int]]
    ) -> None:
        for _ in range(_MOST_RUNS_TO_THE_END):
            process, before = self._begin(command)
            code = process.end()
            self._record_run(number, before, windows)
            if code == wanted:
                break

    def _begin(self, command: tuple[str, ...]) -> tuple[Process, int]:
        self._figures.processes += 1
        before = self._recorder.look()
        return self._fork_server.start(self._folder, command, self._environment), before

    def _kill_server(self, server: Server) -> None:
        server.kill()
        time.sleep(self._rng.uniform(0, 0.5))
        server.start()
        self._figures.kills_of_servers += 1

    def _wait(self, process: Process, left: int, kills_left: int) -> None:
        """Wait for a random moment: some time, or some accepted rows and a little longer."""
        if left < 3 or self._rng.random() < 0.3:
            # With few rows left, a process ends within a moment, before it can be killed.
            time.sleep(self._rng.uniform(0.02, 0.7 if left >= 3 else 0.15))
            return
        wanted = self._recorder.look() + self._rng.randint(1, max(2, round(2.2 * left / kills_left)))
        deadline = time.monotonic() + 3
        while self._recorder.look() < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
            if process.has_ended():
                return
        time.sleep(self._rng.uniform(0, 0.02))

    def _record_run(self, number: int, before: int, windows: dict[str, tuple[int, int]]) -> None:
        after = self._recorder.settle()
        out = self._folder / f"out{number}"
        new = [path.name for path in out.glob("2*") if path.name not in windows] if out.is_dir() else []
        assert len(new) <= 1
        for run in new:
            windows[run] = (before, after)
        if not new:
            assert before == after, "a run without a folder sent something"

    def _check_ledger(self, operation: str, emails: list[str]) -> None:
        target = Target(Operation(operation), "4f2c9a" if operation == "apply" else "17")
        scope = Scope(self._recorder.sandbox.base_url, target)
        accepted = frozenset(self._recorder.accepted)
        self._figures.wrong += ledger_errors(self._address, scope, emails, accepted)

    def _check_results(
        self, number: int, emails: dict[int, str], good: set[str], windows: dict[str, tuple[int, int]]
    ) -> None:
        accepted = self._recorder.accepted
        counts = Counter(accepted)
        self._figures.twice += sum(counts[email] - 1 for email in good if counts[email] > 1)
        self._figures.missing += sum(counts[email] == 0 for email in good)
        for run, (before, after) in windows.items():
            folder = self._folder / f"out{number}" / run
            if not has_started(folder):
                assert before == after, "a run that had not started sent something"
                continue
            reported = read_report(folder)
            truth = Truth(frozenset(accepted[:before]), frozenset(accepted[before:after]))
            self._figures.wrong += [f"{run}: {error}" for error in report_errors(reported, emails, truth)]
            self._figures.reports += 1
            self._figures.outcomes.update(one.outcome for one in reported)
            self._figures.unconfirmed.append(sum(one.outcome == "unconfirmed" for one in reported))
        with open_ledger(self._address) as ledger:
            self._figures.wrong += problems_of(ledger)


def _fix_all(report: Path) -> None:
    """Fix the bad rows in a report, as a person does: they have no first name."""
    book = load_workbook(report)
    header, *rows = book["invalid"].iter_rows()
    at = [cell.value for cell in header].index("First")
    for row in rows:
        row[at].value = "Ada"
    book.save(report)


def kill_at_random(
    folder: Path, fork_server: ForkServer, size: Size, seed: int = 1, server: Server | None = None
) -> Figures:
    """Run a series in an empty folder, with one ledger: in a file, or on a server, which is killed too.

    The operations alternate, file by file.
    """
    address = server.address(folder / "ledger.key") if server else LedgerAddress(str(folder / "ledger.sqlite"))
    write_mappings(folder)
    with recorded_sandbox(folder, _faults(size.few_faults)) as recorder:
        return _Series(folder, address, server, fork_server, recorder, seed, size).run(size)


def _faults(few_faults: bool) -> list[dict[str, Any]]:
    return [
        {**fault, "share": fault["share"] / _FEWER_BY if few_faults and fault["share"] < 1 else fault["share"]}
        for fault in FAULTS
    ]


def kill_at_random_in_several(folder: Path, sizes: Sequence[Size], workers: int, seed: int) -> Figures:
    """Run several series, `workers` at a time."""
    figures = Figures()
    began = time.monotonic()
    places = [folder / f"series{number}" for number in range(len(sizes))]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for done in pool.map(_one_series, places, sizes, range(seed, seed + len(sizes))):
            figures.add(done)
    figures.seconds = time.monotonic() - began
    return figures


def _one_series(place: Path, size: Size, seed: int) -> Figures:
    place.mkdir()
    with ForkServer() as fork_server, running_server() if size.on_server else nullcontext() as server:
        return kill_at_random(place, fork_server, size, seed, server)
