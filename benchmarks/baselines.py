"""Parts of importer and their baselines, as ratios."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.contenders import Call, Job, importer_call
from benchmarks.measuring import Failed, Usage, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink_process import ROOT, SinkProcess

PART = "rooms"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of importer, its baseline, and the unit of seconds."""

    name: str
    baseline: str
    unit: str


READ = Part("read", "csv module", "CPU s")
TRANSFORM = Part("transform", "json.dumps", "CPU s")
LEDGER = Part("ledger", "bare sqlite3, groups of 32", "s")
CHECK = Part("check", "read and transform, once", "s, whole process")
REPORT = Part("report", "XlsxWriter", "s, whole process")


def measure_rooms(results: Results, place: Place, *, rows: int, turns: int) -> None:
    """Measure each part; a part that fails is skipped with a note."""
    show(f"parts and their baselines, {rows:,} rows")
    for turn in range(turns):
        for part in (READ, TRANSFORM, LEDGER):
            _attempt(results, part, rows, turn, partial(_in_one_process, place, part, rows))
        with SinkProcess() as sink, place.own_folder() as folder:
            job = Job(place.source(rows), place.mapping, sink.url, 25, folder)
            _attempt(results, CHECK, rows, turn, partial(_check, job))
            _attempt(results, REPORT, rows, turn, partial(_report, job))


@dataclass(frozen=True, slots=True)
class _Pair:
    ours: float
    baseline: float


def _attempt(results: Results, part: Part, rows: int, turn: int, measure: Callable[[], _Pair]) -> None:
    try:
        pair: _Pair = measure()
    except Failed as failure:
        results.note(f"{part.name}: {failure}")
        show(f"  {part.name:<10} failed: {failure}")
        return
    results.add(
        PART,
        turn=turn,
        part=part.name,
        baseline=part.baseline,
        unit=part.unit,
        rows=rows,
        seconds=pair.ours,
        baseline_seconds=pair.baseline,
    )
    ratio = pair.ours / pair.baseline
    show(f"  {part.name:<10} {pair.ours:7.2f} / {pair.baseline:6.2f} {part.unit} = {ratio:5.2f} x {part.baseline}")


def _in_one_process(place: Place, part: Part, rows: int) -> _Pair:
    with place.own_folder() as folder:
        spent = _python(f"benchmarks.rooms.{part.name}", [place.source(rows), place.mapping, folder], folder)
    return _Pair(**json.loads(spent.output))


def _check(job: Job) -> _Pair:
    ours = _run(importer_call(job, command="check"), job.folder)
    baseline = _python("benchmarks.rooms.bare_check", [job.source, job.mapping, job.folder], job.folder)
    return _Pair(ours.seconds, baseline.seconds)


def _report(job: Job) -> _Pair:
    """Report on the earlier check: it has an outcome for each row, and needs no service."""
    call = importer_call(job)
    run = max(path.name for path in (job.folder / "results").iterdir() if path.is_dir())
    command = [*call.command[:3], "report", run, "--out", str(job.folder / "results")]
    ours = _run(Call(command, call.environment), job.folder)
    baseline = _python("benchmarks.rooms.bare_report", [job.source, job.mapping, job.folder], job.folder)
    return _Pair(ours.seconds, baseline.seconds)


def _python(module: str, paths: Sequence[Path], folder: Path) -> Usage:
    command = [sys.executable, "-m", module, *(str(path) for path in paths)]
    return _run(Call(command, {"PYTHONPATH": os.fspath(ROOT)}), folder)


def _run(call: Call, folder: Path) -> Usage:
    spent = spend(call.command, call.environment, folder=folder)
    if spent.exit_code:
        raise Failed(f"exit code {spent.exit_code}; its output: {spent.last_output}")
    return spent
