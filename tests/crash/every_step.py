"""Kills a run at every point of a row's life, under every behaviour of the service, in both operations.

In two forms: few rows, one after the other, at the first, the middle and the last time that a run comes by a point; and
many rows, at the moment when the most requests are under way.
"""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from importer.ledger import open_ledger
from tests.crash.accounts import Truth, has_begun, told_in, untrue
from tests.crash.failpoints import AGAIN, KILLED, ROW_LIFE, STEPS
from tests.crash.imports import OPERATIONS, PATIENCE, Witness, witness, write_mappings, write_people
from tests.crash.nursery import Failpoint, Nursery


@dataclass(frozen=True)
class Behaviour:
    """What the service does to the first request of each row, or of a few where one such answer ends a run."""

    fault: dict[str, Any] | None = None
    few: bool = False
    there_before: bool = False


BEHAVIOURS = {
    "201": Behaviour(),
    "409, there before": Behaviour(there_before=True),
    "400": Behaviour({"kind": "refuse", "message": "not today"}),
    "429": Behaviour({"kind": "429", "retry_after": "seconds", "seconds": 0}),
    "500 before accepting": Behaviour({"kind": "500", "when": "before"}),
    "500 after accepting": Behaviour({"kind": "500", "when": "after"}),
    "503 before accepting": Behaviour({"kind": "503", "when": "before"}),
    "503 after accepting": Behaviour({"kind": "503", "when": "after"}),
    "HTML page of something between": Behaviour({"kind": "html", "status": 502}),
    "reset before accepting": Behaviour({"kind": "reset", "when": "before"}),
    "reset after accepting": Behaviour({"kind": "reset", "when": "after"}),
    "silence after accepting": Behaviour({"kind": "hang_after", "seconds": 1}),
    "head of the answer cut": Behaviour({"kind": "cut_head"}),
    "body of the answer cut": Behaviour({"kind": "cut_body"}),
    "201 that is no JSON": Behaviour({"kind": "not_json_201"}),
    "201 without a body": Behaviour({"kind": "empty_201"}),
    "401": Behaviour({"kind": "401"}, few=True),
    "403": Behaviour({"kind": "403"}, few=True),
    "423": Behaviour({"kind": "423"}, few=True),
    "302": Behaviour({"kind": "redirect", "location": "https://elsewhere.example.com/"}, few=True),
}
_ALL_POINTS = ("201", "400", "503 after accepting", "401")
_BAD = 1  # the index of the row that our own checks refuse, so that a run that is through ends with 4
_MOST_CASES = 300


@dataclass(frozen=True)
class Form:
    """A file of `rows` rows, those from index `struck` on meeting the behaviour, and answered after `delay` ms."""

    name: str
    rows: int
    struck: int
    few: tuple[int, ...]
    delay: int = 0

    def indices(self, behaviour: Behaviour) -> list[int]:
        return list(self.few) if behaviour.few else list(range(self.struck, self.rows))


SINGLY = Form("one by one", rows=4, struck=0, few=(2, 3))
# The first ones are answered at once, so that the pace has risen when those come that are under way together.
AT_ONCE = Form("many at once", rows=32, struck=14, few=(24, 28), delay=60)
FORMS = {form.name: form for form in (SINGLY, AT_ONCE)}


@dataclass(frozen=True)
class Part:
    """What one process does: one behaviour in one operation and form. `points`: None for all that a run comes by."""

    form: str
    behaviour: str
    operation: str
    points: tuple[str, ...] | None = None
    hits: int = 3


@dataclass
class StepFigures:
    """What killing at every point showed."""

    kills: Counter[str] = field(default_factory=Counter)
    by_form: Counter[str] = field(default_factory=Counter)
    under_way: list[int] = field(default_factory=list)
    lives: int = 0
    not_reached: int = 0
    parts: int = 0
    untrue: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: StepFigures) -> None:
        self.kills.update(other.kills)
        self.by_form.update(other.by_form)
        self.under_way += other.under_way
        self.lives += other.lives
        self.not_reached += other.not_reached
        self.parts += other.parts
        self.untrue += other.untrue

    def lines(self) -> Iterator[str]:
        """The figures, and for each point how often a run was killed there."""
        of_rows = sum(count for name, count in self.kills.items() if name.removeprefix(AGAIN) in ROW_LIFE)
        again = sum(count for name, count in self.kills.items() if name.startswith(AGAIN))
        eight = sum(count >= 8 for count in self.under_way)
        forms = ", ".join(f"{count} {name}" for name, count in self.by_form.items())
        yield f"kills at a point     {self.kills.total()} ({forms}) in {self.lives} processes, {self.seconds:.0f} s"
        yield f"points               {len(self.kills)}; {of_rows} kills in a row's life, {again} of rows sent again"
        yield f"behaviours           {len(BEHAVIOURS)}; {self.parts} parts of behaviour, operation and form"
        yield f"requests under way   {max(self.under_way, default=0)} at most; 8 or more at {eight} kills"
        yield f"not come by again    {self.not_reached}"
        yield f"told or done wrongly {len(self.untrue)}"
        for name, count in sorted(self.kills.items()):
            yield f"  {count:>4}  {name}"


class _Place:
    """A folder for one part; each case has a results folder, a ledger and people of its own."""

    def __init__(self, folder: Path, nursery: Nursery, saw: Witness, part: Part) -> None:
        self._folder = folder
        self._nursery = nursery
        self._witness = saw
        self._form = FORMS[part.form]
        self._behaviour = BEHAVIOURS[part.behaviour]
        self._mapping = OPERATIONS[part.operation]
        self._cases = 0
        # The points of a request lie in Python's sockets, which libcurl does without.
        own = {"IMPORTER_READ_TIMEOUT": "0.3", "IMPORTER_TRANSPORT": "requests"}
        self._environment = {**PATIENCE, **own, **saw.environment}
        self._most_runs = 8 + 2 * len(self._form.few)

    def points(self) -> list[tuple[str, int]]:
        """What a run comes by that is not killed, in order, and how many requests are under way then."""
        command, _ = self._case()
        self._nursery.start(self._folder, command, self._environment, Failpoint()).end()
        lines = (line.split("\t") for line in (self._folder / STEPS).read_text("utf-8").splitlines())
        return [(name, int(count)) for name, count in lines]

    def kill_at(self, point: Failpoint, figures: StepFigures) -> list[str]:
        """What is untrue after a kill at a point, and after the same command again until all is settled."""
        command, emails = self._case()
        out = self._folder / f"out{self._cases}"
        windows: dict[str, tuple[int, int]] = {}
        for number in range(self._most_runs):
            before = self._witness.look()
            life = self._nursery.start(self._folder, command, self._environment, None if number else point)
            code = life.end()
            after = self._witness.settle()
            figures.lives += 1
            if number == 0:
                self._note_kill(code, point, figures)
            new = [path.name for path in out.glob("2*") if path.name not in windows] if out.is_dir() else []
            windows.update(dict.fromkeys(new, (before, after)))
            if code == 4 and number > 0 and not self._unsettled(out, windows):
                break
        return self._faults(out, emails, windows)

    def _unsettled(self, out: Path, windows: dict[str, tuple[int, int]]) -> list[int]:
        """The rows that a later run will send again."""
        last = told_in(out / list(windows)[-1])
        return [one.row for one in last if one.outcome in ("unconfirmed", "failed", "not_sent")]

    def _note_kill(self, code: int, point: Failpoint, figures: StepFigures) -> None:
        assert point.name is not None
        if code >= 0:  # -9 is the kill
            figures.not_reached += 1  # threads took other turns than in the run that the point was seen in
            return
        assert code == -signal.SIGKILL, f"{point}: ended with {code}"
        figures.kills[point.name] += 1
        figures.by_form[self._form.name] += 1
        figures.under_way.append(int((self._folder / KILLED).read_text("utf-8").split("\t")[1]))

    def _faults(self, out: Path, emails: dict[int, str], windows: dict[str, tuple[int, int]]) -> list[str]:
        accepted = self._witness.accepted
        counts = Counter(accepted)
        good = [email for row, email in emails.items() if row != _BAD + 2]
        faults = [f"{email} was accepted {counts[email]} times" for email in good if counts[email] > 1]
        for run, (before, after) in windows.items():
            if before != after or (out / run).exists():
                truth = Truth(frozenset(accepted[:before]), frozenset(accepted[before:after]), self._witness.strangers)
                faults += untrue(told_in(out / run), emails, truth)
        faults += [f"row {row} is not settled in the end" for row in self._unsettled(out, windows)]
        faults += [f"run {run} has no report" for run in windows if (out / run).exists() and not has_begun(out / run)]
        faults += [f"{path.name} is left behind" for path in out.glob(".importer/*.running")]
        with open_ledger(out / "ledger.sqlite") as ledger:
            return faults + [str(problem) for problem in ledger.check()]

    def _case(self) -> tuple[tuple[str, ...], dict[int, str]]:
        self._cases += 1
        name = f"case{self._cases}.csv"
        rows = self._form.rows
        numbers = range(self._cases * rows, self._cases * rows + rows)
        emails = write_people(self._folder / name, numbers, bad=[numbers[_BAD]])
        out = f"out{self._cases}"
        return ("run", name, "--mapping", self._mapping, "--out", out, "--quiet"), emails


def parts(
    behaviours: Iterable[str] = BEHAVIOURS, forms: Iterable[str] = FORMS, points: Sequence[str] | None = None
) -> list[Part]:
    """Every form x behaviour x operation, at every point of a row's life.

    Where rows go one by one, the kinds of behaviour that a run ends differently after get all points of a run.
    """

    def of(form: str, behaviour: str) -> tuple[str, ...] | None:
        if points is not None:
            return tuple(points)
        return None if form == SINGLY.name and behaviour in _ALL_POINTS else ROW_LIFE

    return [
        Part(form, behaviour, operation, of(form, behaviour))
        for form in forms
        for behaviour in behaviours
        for operation in OPERATIONS
    ]


def kill_at_points(folder: Path, nursery: Nursery, part: Part) -> StepFigures:
    """One part, in an empty folder."""
    figures = StepFigures(parts=1)
    began = time.monotonic()
    write_mappings(folder)
    behaviour, form = BEHAVIOURS[part.behaviour], FORMS[part.form]
    struck = [
        case * form.rows + index for case in range(1, _MOST_CASES) for index in form.indices(behaviour) if index != _BAD
    ]
    faults = list(_faults(behaviour, form, [f"person{number}@example.com" for number in struck]))
    known = struck if behaviour.there_before else ()
    with witness(folder, faults, there_before=known, operation=part.operation) as saw:
        place = _Place(folder, nursery, saw, part)
        for point in _chosen(place.points(), part):
            for hit in sorted({point.hit, point.hit * 2 // 3, 1} - {0}, reverse=True):
                missed = figures.not_reached
                found = place.kill_at(Failpoint(point.name, hit), figures)
                where = f"{part.form}, {part.behaviour}, {part.operation}, {point.name} ({hit})"
                figures.untrue += [f"{where}: {what}" for what in found]
                if figures.not_reached == missed:
                    break
    figures.seconds = time.monotonic() - began
    return figures


def _chosen(passed: Sequence[tuple[str, int]], part: Part) -> Iterator[Failpoint]:
    """Where a run is to be killed: of what rows come by, several times; of what a run comes by, once."""
    under_way: dict[str, list[int]] = {}
    for name, count in passed:
        under_way.setdefault(name, []).append(count)
    for name, counts in under_way.items():
        plain = name.removeprefix(AGAIN)
        if part.points is not None and plain not in part.points:
            continue
        if part.form == AT_ONCE.name:
            if max(counts) > 1 or not name.startswith(AGAIN):
                yield Failpoint(name, counts.index(max(counts)) + 1)
            continue
        several = {1, (len(counts) + 1) // 2, len(counts)} if plain in ROW_LIFE and part.hits == 3 else {len(counts)}
        yield from (Failpoint(name, hit) for hit in sorted(several))


def _faults(behaviour: Behaviour, form: Form, emails: list[str]) -> Iterator[dict[str, Any]]:
    """The same for both operations, and never for the questions."""
    for operation in OPERATIONS:
        if behaviour.fault:
            yield {**behaviour.fault, "emails": emails, "operation": operation}
        if form.delay:
            yield {"kind": "delay", "ms": form.delay, "emails": emails, "operation": operation}


# --- many at a time -----------------------------------------------------------------------------


@cache
def _nursery() -> Nursery:
    """One for each worker process, which does one part after the other; ends with it, by the end of its input."""
    return Nursery()


def _do(folder: Path, part: Part) -> StepFigures:
    place = folder / re.sub(r"\W+", "-", f"{part.form} {part.behaviour} {part.operation}")
    place.mkdir()
    return kill_at_points(place, _nursery(), part)


def kill_at_all_points(
    folder: Path, chosen: Sequence[Part], workers: int, watch: Callable[[Part, StepFigures], None]
) -> StepFigures:
    """All these parts, several at a time; `watch` is told of each that is done, in their order."""
    figures = StepFigures()
    began = time.monotonic()
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for part, done in zip(chosen, pool.map(_do, [folder] * len(chosen), chosen), strict=True):
            figures.add(done)
            watch(part, done)
    figures.seconds = time.monotonic() - began
    return figures
