"""A run finishes by itself: with random faults, limits and outages, one command imports every row once.

Random faults, limits and one outage in real time run `importer run` against a service in its own process. The other
outages and the large files are simulated (tests/sending/simulation.py): the real loop and its senders on a clock that
jumps.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.candidates import JOB_POST, QUESTIONS, cells
from benchmarks.contenders import Job, importer_call
from benchmarks.measuring import Failed, Usage, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink_process import SinkProcess
from importer.models import OutcomeKind
from tests.sandbox_process import sandbox_process
from tests.sending.simulation import OUTAGES, RANDOM, at_random, simulate, simulate_outage

PART = "faults"
PARTS = ("random", "limits", "outages", "seeds")
SHARES = (0.01, 0.05, 0.1, 0.3)
_CONCURRENCY = 8  # the default
_TENTH = {
    "IMPORTER_CONNECT_TIMEOUT": "1",
    "IMPORTER_READ_TIMEOUT": "3",
    "IMPORTER_TOTAL_TIMEOUT": "6",
    "IMPORTER_RESEND_DELAY_SECONDS": "6",
}
KINDS: dict[str, dict[str, Any]] = {
    "429": {"kind": "429"},
    "429, Retry-After 1": {"kind": "429", "retry_after": "seconds", "seconds": 1},
    "500 before": {"kind": "500", "when": "before"},
    "500 after": {"kind": "500", "when": "after"},
    "reset before": {"kind": "reset", "when": "before"},
    "reset after": {"kind": "reset", "when": "after"},
    "silence": {"kind": "hang_after"},
    "truncated": {"kind": "cut_body"},
    "invalid 201": {"kind": "not_json_201"},
}
_MANY = ("429", "429, Retry-After 1", "500 after", "reset after")  # also with 10,000 rows
_MORE_SECONDS = {0.01: 5.0, 0.05: 10.0, 0.1: 30.0, 0.3: 180.0}  # that random 429s may add for 1,000 rows
_LIMITS = {50.0: 2700, 10.0: 550, 3.0: 160}  # requests a second, and rows that take a minute
_USED, _REFUSED = 0.9, 0.08
_LENGTHS = (30.0, 120.0, 600.0)
_SEEDS, _ROWS_OF_SEEDS = 10, 100_000
_COUNTED = (OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS, OutcomeKind.UNCONFIRMED, OutcomeKind.FAILED)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. `twice`, `missing`: according to the service. `broken`: failed guarantees."""

    name: str
    rows: int
    seconds: float
    exit_code: int | str
    created: int
    already_exists: int
    unconfirmed: int
    failed: int
    requests: int
    missing: int
    twice: int
    more: str = ""
    broken: tuple[str, ...] = ()

    def with_checks(self, *others: str | None) -> Ending:
        """The same, with the failed guarantees of every run, and those of this one."""
        failed = (
            f"it ended with {self.exit_code}" if self.exit_code not in (0, "simulated") else None,
            f"{self.missing} rows are missing" if self.missing else None,
            f"{self.twice} rows were sent twice" if self.twice else None,
            None
            if self.created + self.already_exists == self.rows
            else "not every row is reported as created or already exists",
        )
        return replace(self, broken=tuple(text for text in (*failed, *others) if text))


# --- with the real command ----------------------------------------------------------------------


def _summary(folder: Path) -> dict[str, int]:
    found = next((folder / "results").glob("*/summary.json"))
    outcomes: dict[str, int] = json.loads(found.read_text(encoding="utf-8"))["outcomes"]
    return outcomes


def _run(place: Place, folder: Path, url: str, rows: int, environment: dict[str, str]) -> Usage:
    call = importer_call(Job(place.source(rows), place.mapping, url, _CONCURRENCY, folder))
    return spend(call.command, {**call.environment, **environment}, folder=folder, timeout=1800)


def _ending(name: str, rows: int, spent: Usage, folder: Path, requests: int, missing: int, twice: int) -> Ending:
    created, exists, unconfirmed, failed = (_summary(folder)[kind] for kind in _COUNTED)
    return Ending(
        name, rows, spent.seconds, spent.exit_code, created, exists, unconfirmed, failed, requests, missing, twice
    )


def _random(place: Place, kind: str, share: float, rows: int) -> Ending:
    fault = {**KINDS[kind], "share": share, "operation": "apply", "times": 1000}
    questions = {"answers": {"multiple_choice": "json"}, "job_posts": {JOB_POST: {"questions": _questions()}}}
    with place.own_folder() as folder:
        asked, faults, memory, log = (folder / f"{name}.json" for name in ("questions", "faults", "memory", "log"))
        asked.write_text(json.dumps(questions), encoding="utf-8")
        faults.write_text(json.dumps({"seed": 7, "faults": [fault]}), encoding="utf-8")
        with sandbox_process(questions=asked, faults=faults, memory=memory, log=log) as service:
            spent = _run(place, folder, service.base_url, rows, {**_TENTH, "IMPORTER_TOKEN": service.token})
        taken = [json.loads(line)["email"] for line in memory.read_text(encoding="utf-8").splitlines()]
        requests = log.read_text(encoding="utf-8").count('"POST"')
        missing = {cells(number)[0] for number in range(rows)} - set(taken)
        name = f"{kind}, {share:.0%}"
        ending = _ending(name, rows, spent, folder, requests, len(missing), len(taken) - len(set(taken)))
    return ending.with_checks()


def _questions() -> list[dict[str, Any]]:
    return [{**one, "entries": one["question_key"]} if one["id"] in (7, 8) else one for one in QUESTIONS]


def _limit(place: Place, rate: float, retry_after: str | None) -> Ending:
    rows = _LIMITS[rate]
    arguments = ["--delay", "20", "--limit", str(rate), "--conflict"]
    arguments += ["--retry-after", retry_after] if retry_after else []
    with place.own_folder() as folder:
        with SinkProcess(*arguments) as sink:
            spent = _run(place, folder, sink.url, rows, {})
        figures = sink.figures
        name = f"a limit of {rate:g} a second, {'Retry-After ' + retry_after if retry_after else 'no Retry-After'}"
        ending = _ending(name, rows, spent, folder, figures.requests, rows - figures.accepted, figures.twice)
    used, refused = figures.accepted / (rate + rate * figures.seconds), figures.refused / figures.requests
    return replace(ending, more=f"{used:.1%} used, {refused:.1%} got 429").with_checks(
        f"only {used:.1%} of the limit was used" if used < _USED else None,
        f"{refused:.1%} of the requests got 429" if rate == 50 and refused > _REFUSED else None,
    )


def _real_outage(place: Place, seconds: float) -> Ending:
    rows = 2_000
    with place.own_folder() as folder:
        with SinkProcess("--delay", "20", "--conflict", "--down-after", "1", "--down", str(seconds)) as sink:
            spent = _run(place, folder, sink.url, rows, {})
        figures = sink.figures
        name = f"process down for {seconds:g} s, in real time"
        ending = _ending(name, rows, spent, folder, figures.requests, rows - figures.accepted, figures.twice)
    # Rows accepted when it went down are sent once more and get 409.
    ending = replace(ending, twice=max(0, ending.twice - ending.already_exists))
    return ending.with_checks()


# --- simulated ----------------------------------------------------------------------------------


def _outage(kind: str, seconds: float, pool: bool) -> Ending:
    name = f"{kind} for {seconds:g} s, {'a pool' if pool else 'a job post'}"
    return _simulated(name, 5_000, simulate_outage(5_000, OUTAGES[kind], partial(_is_out, seconds), pool=pool))


def _is_out(seconds: float, now: float) -> bool:
    return 1.0 <= now < 1.0 + seconds


def _is_out_at_times(now: float) -> bool:
    return now % 30 < 5


def _each_half_minute(pool: bool) -> Ending:
    name = f"5 s of 502 in every 30, {'a pool' if pool else 'a job post'}"
    return _simulated(name, 30_000, simulate_outage(30_000, OUTAGES["502"], _is_out_at_times, pool=pool))


def _seed(kind: str, share: float, seed: int) -> Ending:
    found = simulate(_ROWS_OF_SEEDS, at_random(share, RANDOM[kind]), seed)
    return _simulated(f"{kind}, {share:.0%}, seed {seed}", _ROWS_OF_SEEDS, found, unconfirmed=True)


def _simulated(name: str, rows: int, found: Any, *, unconfirmed: bool = False) -> Ending:
    created, exists, unconfirmed, failed = (found.kinds[kind] for kind in _COUNTED)
    sent = (found.requests, found.missing, found.twice)
    ending = Ending(name, rows, found.seconds, "simulated", created, exists, unconfirmed, failed, *sent)
    stopped = f"it ended early: {found.stop.reason}" if found.stop else None
    if not unconfirmed:
        return ending.with_checks(stopped)
    return replace(ending, broken=tuple(filter(None, (stopped, f"{found.twice} sent twice" if found.twice else None))))


# --- all of it ----------------------------------------------------------------------------------


def measure_faults(
    results: Results,
    place: Place,
    parts: Sequence[str],
    *,
    rows: int,
    shares: Sequence[float],
    kinds: Sequence[str],
    at_once: int,
    large: bool,
) -> list[str]:
    """The failed guarantees. Jobs that mostly wait run `at_once` at a time."""
    for size in {rows, 2_000, 10_000, *_LIMITS.values()}:
        place.source(size)
    broken: list[str] = []

    def record(part: str, ending: Ending) -> None:
        results.add(PART, group=part, **asdict(ending))
        show(line(ending))
        broken.extend(f"{ending.name}: {text}" for text in ending.broken)

    show(HEAD)
    half = max(1, (os.cpu_count() or 1) // 2)  # the imports need the other processors
    with ThreadPoolExecutor(at_once) as threads, ProcessPoolExecutor(half, get_context("spawn")) as others:
        if "limits" in parts:  # before all others, as they measure a rate
            limits = [(rate, retry_after) for rate in _LIMITS for retry_after in ("1", None)]
            for ending in threads.map(lambda limit: _limit(place, *limit), limits):
                record("limits", ending)
        jobs = list(_jobs(place, parts, rows, shares, kinds, large))
        tasks = {(threads if is_real else others).submit(job): part for part, is_real, job in jobs}
        try:
            endings: dict[str, list[Ending]] = {}
            for task in as_completed(tasks):
                try:
                    ending = task.result()
                except Failed as failure:
                    broken.append(str(failure))
                    continue
                endings.setdefault(tasks[task], []).append(ending)
                record(tasks[task], ending)
        except BaseException:
            threads.shutdown(cancel_futures=True)
            others.shutdown(cancel_futures=True)
            raise
    return broken + _unconfirmed(endings.get("seeds", [])) + _cost_of_429(endings.get("random", []), rows)


def _jobs(
    place: Place, parts: Sequence[str], rows: int, shares: Sequence[float], kinds: Sequence[str], large: bool
) -> Iterator[tuple[str, bool, Callable[[], Ending]]]:
    """Part, whether it runs in real time, and the job; the longest come first."""
    if "outages" in parts:
        if large:
            yield "outages", True, partial(_real_outage, place, 600.0)
        for pool in (False, True):
            yield from (("outages", False, partial(_outage, kind, s, pool)) for kind in OUTAGES for s in _LENGTHS)
            yield "outages", False, partial(_each_half_minute, pool)
    if "random" in parts:
        yield "random", True, partial(_random, place, "429", 0.0, rows)
        if large:
            many = [(kind, share) for share in (0.3, 0.01) for kind in _MANY if kind in kinds]
            yield from (("many", True, partial(_random, place, kind, share, 10_000)) for kind, share in many)
        each = [(kind, share) for share in sorted(shares, reverse=True) for kind in kinds]
        each.sort(key=lambda one: one[0] != "silence")
        yield from (("random", True, partial(_random, place, kind, share, rows)) for kind, share in each)
    if "seeds" in parts:
        for share in (0.05, 0.1, 0.3):
            for kind in ("500 after", "silence") if large else ("500 after",):
                yield from (("seeds", False, partial(_seed, kind, share, seed)) for seed in range(1, _SEEDS + 1))


def _unconfirmed(endings: Sequence[Ending]) -> list[str]:
    """At most one row may be unconfirmed in nine of ten runs."""
    found: dict[str, list[int]] = {}
    for ending in endings:
        left = ending.rows - ending.created - ending.already_exists
        found.setdefault(ending.name.rpartition(", seed")[0], []).append(left)
    return [
        f"{name}: more than 1 of 100,000 rows left in {bad} of {len(lefts)} runs"
        for name, lefts in found.items()
        if (bad := sum(left > 1 for left in lefts)) > len(lefts) // 10
    ]


def _cost_of_429(endings: Sequence[Ending], rows: int) -> list[str]:
    """The extra time of random 429s with Retry-After 1."""
    seconds = {ending.name: ending.seconds for ending in endings}
    plain = seconds.get("429, 0%")
    if plain is None:
        return []
    costs = {
        share: seconds[name] - plain for share in SHARES if (name := f"429, Retry-After 1, {share:.0%}") in seconds
    }
    return [
        f"429, Retry-After 1, {share:.0%}: it took {cost:.0f} s more; the limit is {_MORE_SECONDS[share]:.0f} s"
        for share, cost in costs.items()
        if cost > _MORE_SECONDS[share] * max(1.0, rows / 1000)
    ]


HEAD = f"{'':52} {'rows':>7} {'exit':>9} {'seconds':>8} {'created':>7} {'exists':>6} {'unconfirmed':>7} {'failed':>6}"
HEAD += f" {'requests':>8} {'missing':>7} {'twice':>5}"


def line(one: Ending) -> str:
    """An ending as a line below HEAD."""
    text = f"{one.name:52} {one.rows:>7} {one.exit_code!s:>9} {one.seconds:>8.1f} {one.created:>7}"
    text += (
        f" {one.already_exists:>6} {one.unconfirmed:>7} {one.failed:>6} {one.requests:>8} {one.missing:>7} "
        f"{one.twice:>5}"
    )
    checks = f"FAILED: {'; '.join(one.broken)}" if one.broken else "ok"
    return f"{text}  {checks}  {one.more}".rstrip()
