"""Kills a run at every step of its life, under every behaviour of the service, in both operations."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from importer.ledger import Ledger
from tests.crash.accounts import Truth, has_begun, told_in, untrue
from tests.crash.imports import OPERATIONS, PATIENCE, Witness, witness, write_mappings, write_people
from tests.crash.nursery import Nursery

ROWS = 4  # the second one is refused by our own checks
_EACH: dict[str, Any] = {"share": 1, "times": 1}
_LOST = {"kind": "hang_after", "seconds": 1, **_EACH}
BEHAVIOURS: dict[str, dict[str, Any] | None] = {
    "created": None,
    "429": {"kind": "429", **_EACH},
    "500 before accepting": {"kind": "500", "when": "before", **_EACH},
    "503 after accepting": {"kind": "503", "when": "after", **_EACH},
    "reset before accepting": {"kind": "reset", "when": "before", **_EACH},
    "reset after accepting": {"kind": "reset", "when": "after", **_EACH},
    "no answer after accepting": _LOST,
    "answer cut": {"kind": "cut_body", **_EACH},
    "HTML page": {"kind": "html", "status": 502, **_EACH},
    "201 that is no JSON": {"kind": "not_json_201", **_EACH},
    "refused": {"kind": "refuse", "message": "not today", **_EACH},
    "token refused": {"kind": "401", **_EACH},
    "target locked": {"kind": "423", **_EACH},
}
_MOST_RUNS_TO_THE_END = 8


@dataclass
class StepFigures:
    """What killing at every step showed."""

    kills: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    untrue: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self) -> list[str]:
        return [
            f"kills at a step      {self.kills}, at {len(self.steps)} kinds of steps, {self.seconds:.0f} s",
            f"behaviours           {len(BEHAVIOURS)}, in {len(OPERATIONS)} operations",
            f"told or done wrongly {len(self.untrue)}",
        ]


class _Place:
    """A folder for one service behaviour; each case has a results folder, a ledger and people of its own."""

    def __init__(self, folder: Path, nursery: Nursery, saw: Witness) -> None:
        self._folder = folder
        self._nursery = nursery
        self._witness = saw
        self._cases = 0
        self._environment = {**PATIENCE, **saw.environment}

    def steps_of(self, operation: str) -> list[str]:
        """The names of all steps of a run that is not killed."""
        command, _ = self._case(operation)
        self._nursery.start(self._folder, command, self._environment, tripwire=0).end()
        return (self._folder / "steps.txt").read_text("utf-8").splitlines()

    def kill_at(self, step: int, operation: str) -> list[str]:
        """What is untrue after a kill at the n-th step, and after the same command again until all is settled."""
        command, emails = self._case(operation)
        out = self._folder / f"out{self._cases}"
        windows: dict[str, tuple[int, int]] = {}
        for number in range(_MOST_RUNS_TO_THE_END):
            before = self._witness.look()
            wire = step if number == 0 else None
            code = self._nursery.start(self._folder, command, self._environment, tripwire=wire).end()
            after = self._witness.settle()
            new = [path.name for path in out.glob("2*") if path.name not in windows] if out.is_dir() else []
            windows.update(dict.fromkeys(new, (before, after)))
            if code == 4 and number > 0:
                break
        return self._faults(out, emails, windows)

    def _faults(self, out: Path, emails: dict[int, str], windows: dict[str, tuple[int, int]]) -> list[str]:
        accepted = self._witness.accepted
        counts = Counter(accepted)
        good = [email for row, email in emails.items() if row != 3]
        faults = [f"{email} was accepted {counts[email]} times" for email in good if counts[email] > 1]
        for run, (before, after) in windows.items():
            if before != after or has_begun(out / run):
                truth = Truth(frozenset(accepted[:before]), frozenset(accepted[before:after]))
                faults += untrue(told_in(out / run), emails, truth)
        last = told_in(out / list(windows)[-1])
        unsettled = [one.row for one in last if one.outcome in ("unclear", "failed", "not_sent")]
        faults += [f"row {row} is not settled in the end" for row in unsettled]
        with Ledger.open(out / "ledger.sqlite") as ledger:
            return faults + [str(problem) for problem in ledger.check()]

    def _case(self, operation: str) -> tuple[tuple[str, ...], dict[int, str]]:
        self._cases += 1
        name = f"case{self._cases}.csv"
        numbers = range(self._cases * ROWS, self._cases * ROWS + ROWS)
        emails = write_people(self._folder / name, numbers, bad=numbers[1:2])
        out = f"out{self._cases}"
        return ("run", name, "--mapping", OPERATIONS[operation], "--out", out, "--quiet"), emails


def kill_at_steps(
    folder: Path, nursery: Nursery, every: int, behaviours: dict[str, dict[str, Any] | None] = BEHAVIOURS
) -> StepFigures:
    """Kill at every n-th step of each behaviour, each behaviour beginning one step later than the one before."""
    figures = StepFigures()
    began = time.monotonic()
    for offset, (name, fault) in enumerate(behaviours.items()):
        place = folder / name.replace(" ", "-")
        place.mkdir()
        write_mappings(place)
        with witness(place, _faults(fault)) as saw:
            where = _Place(place, nursery, saw)
            for operation in OPERATIONS:
                steps = where.steps_of(operation)
                for number in range(1 + offset % every, len(steps) + 1, every):
                    figures.kills += 1
                    figures.steps[_kind(steps[number - 1])] += 1
                    found = where.kill_at(number, operation)
                    figures.untrue += [f"{name}, {operation}, {number} {steps[number - 1]}: {what}" for what in found]
    figures.seconds = time.monotonic() - began
    return figures


def _kind(step: str) -> str:
    """The name of a step without what differs from run to run."""
    step = re.sub(r"\d{8}-\d{6}-\w{4}", "RUN", step)
    step = re.sub(r"(tmp|\.writing-)\w{8}", r"\1...", step)
    return re.sub(r"(out|case)\d+", r"\1", re.sub(r"\.\d+(\.\w{8})?$", "...", step))


def _faults(fault: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The same for both operations, and never for the questions."""
    return [{**fault, "operation": operation} for operation in OPERATIONS] if fault else []


def kinds(figures: StepFigures) -> Iterator[str]:
    """The kinds of steps, with how often a run was killed there."""
    for step, count in sorted(figures.steps.items()):
        yield f"  {count:>4}  {step}"
