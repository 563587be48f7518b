"""Kills whole processes at random moments, and holds every report and the ledger against the truth."""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from importer.ledger import Scope, open_ledger
from importer.models import Operation, Target
from tests.crash.accounts import Truth, has_begun, told_in, untrue, untrue_in_ledger
from tests.crash.imports import OPERATIONS, PATIENCE, Witness, witness, write_mappings, write_people
from tests.crash.nursery import Life, Nursery

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
_CALM_BY = 8  # with all faults as above the pace stays low; with fewer more requests are under way at a kill
_MOST_RUNS_TO_THE_END = 8


@dataclass(frozen=True)
class Size:
    """How much is to be killed: every file of `rows` rows is killed `kills` times, then brought to its end.

    concurrency: how many requests may be under way; calm: whether the service shows few faults, so that they are.
    """

    files: int
    rows: int
    kills: int
    concurrency: int = 16
    calm: bool = False


@dataclass
class Figures:
    """What a series of kills showed."""

    rows: int = 0
    kills: int = 0
    lives: int = 0
    reports: int = 0
    in_doubt: list[int] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    twice: int = 0
    missing: int = 0
    untrue: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Figures) -> None:
        self.rows += other.rows
        self.kills += other.kills
        self.lives += other.lives
        self.reports += other.reports
        self.in_doubt += other.in_doubt
        self.outcomes.update(other.outcomes)
        self.twice += other.twice
        self.missing += other.missing
        self.untrue += other.untrue

    def lines(self) -> list[str]:
        doubts = self.in_doubt or [0]
        eight = sum(doubt >= 8 for doubt in doubts)
        return [
            f"random SIGKILLs      {self.kills} over {self.rows} rows, in {self.lives} processes, {self.seconds:.0f} s",
            f"unconfirmed after a kill {max(doubts)} at most, {statistics.mean(doubts):.1f} on average, "
            f"8 or more {eight} times",
            f"reports checked      {self.reports}, with {self.outcomes.total()} rows: {dict(self.outcomes)}",
            f"entered twice        {self.twice}",
            f"rows missing         {self.missing}",
            f"told wrongly         {len(self.untrue)}",
        ]


class _Series:
    def __init__(self, folder: Path, nursery: Nursery, saw: Witness, seed: int, concurrency: int) -> None:
        self._folder = folder
        self._nursery = nursery
        self._witness = saw
        self._luck = random.Random(seed)
        self._figures = Figures()
        self._environment = {
            **PATIENCE,
            **saw.environment,
            "IMPORTER_LEDGER": str(folder / "ledger.sqlite"),
            "IMPORTER_CONCURRENCY": str(concurrency),
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
            left = len(good - set(self._witness.accepted))
            life, before = self._begin(command)
            self._wait(life, left, size.kills - kills)
            life.kill()
            kills += life.end() < 0
            self._note(number, before, windows)
            self._check_ledger(operation, list(emails.values()))
        for _ in range(_MOST_RUNS_TO_THE_END):
            life, before = self._begin(command)
            code = life.end()
            self._note(number, before, windows)
            if code == 4:  # the bad rows are invalid, and everybody else is in place
                break
        self._figures.rows += size.rows
        self._figures.kills += kills
        self._close_accounts(number, emails, good, windows)

    def _begin(self, command: tuple[str, ...]) -> tuple[Life, int]:
        self._figures.lives += 1
        before = self._witness.look()
        return self._nursery.start(self._folder, command, self._environment), before

    def _wait(self, life: Life, left: int, kills_left: int) -> None:
        """Until a random moment: some time, or some accepted rows and a little later."""
        if left < 3 or self._luck.random() < 0.3:
            # Where hardly anybody is left a life is over in a moment, and there is nothing to kill any more.
            time.sleep(self._luck.uniform(0.02, 0.7 if left >= 3 else 0.15))
            return
        wanted = self._witness.look() + self._luck.randint(1, max(2, round(2.2 * left / kills_left)))
        deadline = time.monotonic() + 3
        while self._witness.look() < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
            if life.has_ended():
                return
        time.sleep(self._luck.uniform(0, 0.02))

    def _note(self, number: int, before: int, windows: dict[str, tuple[int, int]]) -> None:
        after = self._witness.settle()
        out = self._folder / f"out{number}"
        new = [path.name for path in out.glob("2*") if path.name not in windows] if out.is_dir() else []
        assert len(new) <= 1
        for run in new:
            windows[run] = (before, after)
        if not new:
            assert before == after, "something was sent by a run that has no folder"

    def _check_ledger(self, operation: str, emails: list[str]) -> None:
        target = Target(Operation(operation), "4f2c9a" if operation == "apply" else "17")
        scope = Scope(self._witness.sandbox.base_url, target)
        accepted = frozenset(self._witness.accepted)
        if (self._folder / "ledger.sqlite").is_file():
            self._figures.untrue += untrue_in_ledger(self._folder / "ledger.sqlite", scope, emails, accepted)

    def _close_accounts(
        self, number: int, emails: dict[int, str], good: set[str], windows: dict[str, tuple[int, int]]
    ) -> None:
        accepted = self._witness.accepted
        counts = Counter(accepted)
        self._figures.twice += sum(counts[email] - 1 for email in good if counts[email] > 1)
        self._figures.missing += sum(counts[email] == 0 for email in good)
        for run, (before, after) in windows.items():
            folder = self._folder / f"out{number}" / run
            if not has_begun(folder):
                assert before == after, "something was sent by a run that had not begun"
                continue
            told = told_in(folder)
            truth = Truth(frozenset(accepted[:before]), frozenset(accepted[before:after]))
            self._figures.untrue += [f"{run}: {fault}" for fault in untrue(told, emails, truth)]
            self._figures.reports += 1
            self._figures.outcomes.update(one.outcome for one in told)
            self._figures.in_doubt.append(sum(one.outcome == "unconfirmed" for one in told))
        with open_ledger(self._folder / "ledger.sqlite") as ledger:
            self._figures.untrue += [str(problem) for problem in ledger.check()]


def kill_at_random(folder: Path, nursery: Nursery, size: Size, seed: int = 1) -> Figures:
    """Carry out a series in an empty folder. Both operations take turns, file by file."""
    write_mappings(folder)
    with witness(folder, _faults(size.calm)) as saw:
        return _Series(folder, nursery, saw, seed, size.concurrency).run(size)


def _faults(calm: bool) -> list[dict[str, Any]]:
    return [
        {**fault, "share": fault["share"] / _CALM_BY if calm and fault["share"] < 1 else fault["share"]}
        for fault in FAULTS
    ]


def kill_at_random_in_several(folder: Path, sizes: Sequence[Size], workers: int, seed: int) -> Figures:
    """Several series, so many of them at a time."""
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
    with Nursery() as nursery:
        return kill_at_random(place, nursery, size, seed)
