"""Kills a run at every point of processing a row, with every behavior of the service, in both operations.

In two forms: few rows, one by one, killed at the first, middle and last time that a run reaches a point; and many rows,
killed when the most requests are in flight.
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
from tests.crash.failpoints import KILLED, RESENT, ROW_POINTS, STEPS
from tests.crash.fork_server import WITHOUT_PYCURL, Failpoint, ForkServer
from tests.crash.imports import OPERATIONS, SHORT_TIMEOUTS, Recorder, recorded_sandbox, write_mappings, write_people
from tests.crash.report_checks import Truth, has_started, read_report, report_errors
from tests.ledger.given import problems_of


@dataclass(frozen=True)
class Behavior:
    """How the service responds to the first request of each row, or of a few rows if one such response ends a run."""

    fault: dict[str, Any] | None = None
    few: bool = False
    already_applied: bool = False


BEHAVIORS = {
    "201": Behavior(),
    "409, already applied": Behavior(already_applied=True),
    "400": Behavior({"kind": "refuse", "message": "not today"}),
    "429": Behavior({"kind": "429", "retry_after": "seconds", "seconds": 0}),
    "500 before accepting": Behavior({"kind": "500", "when": "before"}),
    "500 after accepting": Behavior({"kind": "500", "when": "after"}),
    "503 before accepting": Behavior({"kind": "503", "when": "before"}),
    "503 after accepting": Behavior({"kind": "503", "when": "after"}),
    "HTML error page": Behavior({"kind": "html", "status": 502}),
    "reset before accepting": Behavior({"kind": "reset", "when": "before"}),
    "reset after accepting": Behavior({"kind": "reset", "when": "after"}),
    "silence after accepting": Behavior({"kind": "hang_after", "seconds": 1}),
    "head of the response cut": Behavior({"kind": "cut_head"}),
    "body of the response cut": Behavior({"kind": "cut_body"}),
    "201 that is not JSON": Behavior({"kind": "not_json_201"}),
    "201 without a body": Behavior({"kind": "empty_201"}),
    "401": Behavior({"kind": "401"}, few=True),
    "403": Behavior({"kind": "403"}, few=True),
    "423": Behavior({"kind": "423"}, few=True),
    "302": Behavior({"kind": "redirect", "location": "https://elsewhere.example.com/"}, few=True),
}
_ALL_POINTS = ("201", "400", "503 after accepting", "401")
_BAD = 1  # the index of the invalid row, so that a complete run ends with 4
_MOST_CASES = 300


@dataclass(frozen=True)
class Form:
    """A file of `rows` rows; those from index `affected` on get the behavior, after `delay` ms."""

    name: str
    rows: int
    affected: int
    few: tuple[int, ...]
    delay: int = 0

    def indices(self, behavior: Behavior) -> list[int]:
        return list(self.few) if behavior.few else list(range(self.affected, self.rows))


SINGLY = Form("one by one", rows=4, affected=0, few=(2, 3))
# The first rows are answered at once, so that the concurrency has risen for those that are in flight together.
AT_ONCE = Form("many at once", rows=32, affected=14, few=(24, 28), delay=60)
FORMS = {form.name: form for form in (SINGLY, AT_ONCE)}


@dataclass(frozen=True)
class Part:
    """The work of one process: one behavior in one operation and form. `points`: None for all points of a run."""

    form: str
    behavior: str
    operation: str
    points: tuple[str, ...] | None = None
    hits: int = 3


@dataclass
class StepFigures:
    """The results of kills at every point."""

    kills: Counter[str] = field(default_factory=Counter)
    by_form: Counter[str] = field(default_factory=Counter)
    in_flight: list[int] = field(default_factory=list)
    processes: int = 0
    not_reached: int = 0
    parts: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: StepFigures) -> None:
        self.kills.update(other.kills)
        self.by_form.update(other.by_form)
        self.in_flight += other.in_flight
        self.processes += other.processes
        self.not_reached += other.not_reached
        self.parts += other.parts
        self.wrong += other.wrong

    def lines(self) -> Iterator[str]:
        """The figures, and how often a run was killed at each point."""
        of_rows = sum(count for name, count in self.kills.items() if name.removeprefix(RESENT) in ROW_POINTS)
        again = sum(count for name, count in self.kills.items() if name.startswith(RESENT))
        eight = sum(count >= 8 for count in self.in_flight)
        forms = ", ".join(f"{count} {name}" for name, count in self.by_form.items())
        yield f"kills at a point     {self.kills.total()} ({forms}) in {self.processes} processes, {self.seconds:.0f} s"
        yield f"points               {len(self.kills)}; {of_rows} kills while processing a row, {again} while resending"
        yield f"behaviors            {len(BEHAVIORS)}; {self.parts} parts of behavior, operation and form"
        yield f"requests in flight   {max(self.in_flight, default=0)} at most; 8 or more at {eight} kills"
        yield f"not reached again    {self.not_reached}"
        yield f"errors               {len(self.wrong)}"
        for name, count in sorted(self.kills.items()):
            yield f"  {count:>4}  {name}"


class _Place:
    """A folder for one part; each case has its own results folder, ledger and people."""

    def __init__(self, folder: Path, fork_server: ForkServer, recorder: Recorder, part: Part) -> None:
        self._folder = folder
        self._fork_server = fork_server
        self._recorder = recorder
        self._form = FORMS[part.form]
        self._behaviour = BEHAVIORS[part.behavior]
        self._mapping = OPERATIONS[part.operation]
        self._cases = 0
        # The points of a request are in Python's sockets, which libcurl does not use.
        own = {"IMPORTER_READ_TIMEOUT": "0.3", WITHOUT_PYCURL: "1"}
        self._environment = {**SHORT_TIMEOUTS, **own, **recorder.environment}
        self._most_runs = 8 + 2 * len(self._form.few)

    def points(self) -> list[tuple[str, int]]:
        """The points of a run that is not killed, in order, with the number of requests in flight."""
        command, _ = self._case()
        self._fork_server.start(self._folder, command, self._environment, Failpoint()).end()
        lines = (line.split("\t") for line in (self._folder / STEPS).read_text("utf-8").splitlines())
        return [(name, int(count)) for name, count in lines]

    def kill_at(self, point: Failpoint, figures: StepFigures) -> list[str]:
        """The errors after a kill at a point, and after repeating the command until every row is settled."""
        command, emails = self._case()
        out = self._folder / f"out{self._cases}"
        windows: dict[str, tuple[int, int]] = {}
        for number in range(self._most_runs):
            before = self._recorder.look()
            process = self._fork_server.start(self._folder, command, self._environment, None if number else point)
            code = process.end()
            after = self._recorder.settle()
            figures.processes += 1
            if number == 0:
                self._record_kill(code, point, figures)
            new = [path.name for path in out.glob("2*") if path.name not in windows] if out.is_dir() else []
            windows.update(dict.fromkeys(new, (before, after)))
            if code == 4 and number > 0 and not self._unsettled(out, windows):
                break
        return self._errors(out, emails, windows)

    def _unsettled(self, out: Path, windows: dict[str, tuple[int, int]]) -> list[int]:
        """The rows that a later run will resend."""
        last = read_report(out / list(windows)[-1])
        return [one.row for one in last if one.outcome in ("unconfirmed", "failed", "not_sent")]

    def _record_kill(self, code: int, point: Failpoint, figures: StepFigures) -> None:
        assert point.name is not None
        if code >= 0:  # -9 is the kill
            figures.not_reached += 1  # threads ran in another order than in the recorded run
            return
        assert code == -signal.SIGKILL, f"{point}: ended with {code}"
        figures.kills[point.name] += 1
        figures.by_form[self._form.name] += 1
        figures.in_flight.append(int((self._folder / KILLED).read_text("utf-8").split("\t")[1]))

    def _errors(self, out: Path, emails: dict[int, str], windows: dict[str, tuple[int, int]]) -> list[str]:
        accepted = self._recorder.accepted
        counts = Counter(accepted)
        good = [email for row, email in emails.items() if row != _BAD + 2]
        errors = [f"{email} was accepted {counts[email]} times" for email in good if counts[email] > 1]
        for run, (before, after) in windows.items():
            if before != after or (out / run).exists():
                truth = Truth(
                    frozenset(accepted[:before]), frozenset(accepted[before:after]), self._recorder.preexisting
                )
                errors += report_errors(read_report(out / run), emails, truth)
        errors += [f"row {row} is not settled at the end" for row in self._unsettled(out, windows)]
        errors += [f"run {run} has no report" for run in windows if (out / run).exists() and not has_started(out / run)]
        errors += [f"{path.name} is left behind" for path in out.glob(".importer/*.running")]
        with open_ledger(out / "ledger.sqlite") as ledger:
            return errors + problems_of(ledger)

    def _case(self) -> tuple[tuple[str, ...], dict[int, str]]:
        self._cases += 1
        name = f"case{self._cases}.csv"
        rows = self._form.rows
        numbers = range(self._cases * rows, self._cases * rows + rows)
        emails = write_people(self._folder / name, numbers, bad=[numbers[_BAD]])
        out = f"out{self._cases}"
        return ("run", name, "--mapping", self._mapping, "--out", out, "--quiet"), emails


def parts(
    behaviors: Iterable[str] = BEHAVIORS, forms: Iterable[str] = FORMS, points: Sequence[str] | None = None
) -> list[Part]:
    """Every form x behavior x operation, at every point of processing a row.

    One by one, the behaviors that end a run in different ways get all points of a run.
    """

    def of(form: str, behavior: str) -> tuple[str, ...] | None:
        if points is not None:
            return tuple(points)
        return None if form == SINGLY.name and behavior in _ALL_POINTS else ROW_POINTS

    return [
        Part(form, behavior, operation, of(form, behavior))
        for form in forms
        for behavior in behaviors
        for operation in OPERATIONS
    ]


def kill_at_points(folder: Path, fork_server: ForkServer, part: Part) -> StepFigures:
    """Run one part in an empty folder."""
    figures = StepFigures(parts=1)
    began = time.monotonic()
    write_mappings(folder)
    behavior, form = BEHAVIORS[part.behavior], FORMS[part.form]
    affected = [
        case * form.rows + index for case in range(1, _MOST_CASES) for index in form.indices(behavior) if index != _BAD
    ]
    faults = list(_faults(behavior, form, [f"person{number}@example.com" for number in affected]))
    known = affected if behavior.already_applied else ()
    with recorded_sandbox(folder, faults, already_applied=known, operation=part.operation) as recorder:
        place = _Place(folder, fork_server, recorder, part)
        for point in _chosen(place.points(), part):
            for hit in sorted({point.hit, point.hit * 2 // 3, 1} - {0}, reverse=True):
                missed = figures.not_reached
                found = place.kill_at(Failpoint(point.name, hit), figures)
                where = f"{part.form}, {part.behavior}, {part.operation}, {point.name} ({hit})"
                figures.wrong += [f"{where}: {what}" for what in found]
                if figures.not_reached == missed:
                    break
    figures.seconds = time.monotonic() - began
    return figures


def _chosen(passed: Sequence[tuple[str, int]], part: Part) -> Iterator[Failpoint]:
    """The points to kill at: several hits for points of a row, one for points of a run."""
    in_flight: dict[str, list[int]] = {}
    for name, count in passed:
        in_flight.setdefault(name, []).append(count)
    for name, counts in in_flight.items():
        plain = name.removeprefix(RESENT)
        if part.points is not None and plain not in part.points:
            continue
        if part.form == AT_ONCE.name:
            if max(counts) > 1 or not name.startswith(RESENT):
                yield Failpoint(name, counts.index(max(counts)) + 1)
            continue
        several = {1, (len(counts) + 1) // 2, len(counts)} if plain in ROW_POINTS and part.hits == 3 else {len(counts)}
        yield from (Failpoint(name, hit) for hit in sorted(several))


def _faults(behavior: Behavior, form: Form, emails: list[str]) -> Iterator[dict[str, Any]]:
    """The same faults for both operations, and none for questions."""
    for operation in OPERATIONS:
        if behavior.fault:
            yield {**behavior.fault, "emails": emails, "operation": operation}
        if form.delay:
            yield {"kind": "delay", "ms": form.delay, "emails": emails, "operation": operation}


# --- several processes -----------------------------------------------------------------------------


@cache
def _fork_server() -> ForkServer:
    """One per worker process; it ends with the worker, when its input ends."""
    return ForkServer()


def _do(folder: Path, part: Part) -> StepFigures:
    place = folder / re.sub(r"\W+", "-", f"{part.form} {part.behavior} {part.operation}")
    place.mkdir()
    return kill_at_points(place, _fork_server(), part)


def kill_at_all_points(
    folder: Path, chosen: Sequence[Part], workers: int, on_done: Callable[[Part, StepFigures], None]
) -> StepFigures:
    """Run these parts, several at a time; `on_done` is called for each, in order."""
    figures = StepFigures()
    began = time.monotonic()
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for part, done in zip(chosen, pool.map(_do, [folder] * len(chosen), chosen), strict=True):
            figures.add(done)
            on_done(part, done)
    figures.seconds = time.monotonic() - began
    return figures
