"""Rooms of importer and their floors, in turn, as ratios."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.contenders import Call, Job, importer_call
from benchmarks.measuring import Failed, Spent, spend
from benchmarks.place import Place
from benchmarks.results import Results
from benchmarks.sink_process import ROOT, SinkProcess
from benchmarks.telling import say

PART = "rooms"


@dataclass(frozen=True, slots=True)
class Room:
    """A room, what it is measured against, and in which seconds."""

    name: str
    floor: str
    unit: str


READ = Room("read", "csv module", "CPU s")
TRANSFORM = Room("transform", "json.dumps", "CPU s")
LEDGER = Room("ledger", "bare sqlite3, groups of 32", "s")
CHECK = Room("check", "read and transform, once", "s, whole process")
REPORT = Room("report", "csv and XlsxWriter", "s, whole process")


def measure_rooms(results: Results, place: Place, *, rows: int, turns: int) -> None:
    """Each room in turn; a room whose parts have changed is left out with a word."""
    say(f"rooms beside their floors, {rows:,} rows")
    for turn in range(turns):
        for room in (READ, TRANSFORM, LEDGER):
            _attempt(results, room, rows, turn, partial(_in_one_process, place, room, rows))
        with SinkProcess() as sink, place.own_folder() as folder:
            job = Job(place.source(rows), place.mapping, sink.url, 25, folder)
            _attempt(results, CHECK, rows, turn, partial(_check, job))
            _attempt(results, REPORT, rows, turn, partial(_report, job))


@dataclass(frozen=True, slots=True)
class _Pair:
    ours: float
    floor: float


def _attempt(results: Results, room: Room, rows: int, turn: int, measure: Callable[[], _Pair]) -> None:
    try:
        pair: _Pair = measure()
    except Failed as failure:
        results.note(f"{room.name}: {failure}")
        say(f"  {room.name:<10} failed: {failure}")
        return
    results.add(
        PART,
        turn=turn,
        room=room.name,
        beside=room.floor,
        unit=room.unit,
        rows=rows,
        seconds=pair.ours,
        floor_seconds=pair.floor,
    )
    ratio = pair.ours / pair.floor
    say(f"  {room.name:<10} {pair.ours:7.2f} / {pair.floor:6.2f} {room.unit} = {ratio:5.2f} x {room.floor}")


def _in_one_process(place: Place, room: Room, rows: int) -> _Pair:
    with place.own_folder() as folder:
        spent = _python(f"benchmarks.rooms.{room.name}", [place.source(rows), place.mapping, folder], folder)
    return _Pair(**json.loads(spent.output))


def _check(job: Job) -> _Pair:
    ours = _run(importer_call(job, command="check"), job.folder)
    floor = _python("benchmarks.rooms.bare_check", [job.source, job.mapping, job.folder], job.folder)
    return _Pair(ours.seconds, floor.seconds)


def _report(job: Job) -> _Pair:
    """The report of the check that was there before: an outcome for each row, and no wait for a service."""
    call = importer_call(job)
    run = max(path.name for path in (job.folder / "results").iterdir() if path.is_dir())
    command = [*call.command[:3], "report", run, "--out", str(job.folder / "results")]
    ours = _run(Call(command, call.environment), job.folder)
    floor = _python("benchmarks.rooms.bare_report", [job.source, job.mapping, job.folder], job.folder)
    return _Pair(ours.seconds, floor.seconds)


def _python(module: str, paths: Sequence[Path], folder: Path) -> Spent:
    command = [sys.executable, "-m", module, *(str(path) for path in paths)]
    return _run(Call(command, {"PYTHONPATH": os.fspath(ROOT)}), folder)


def _run(call: Call, folder: Path) -> Spent:
    spent = spend(call.command, call.environment, folder=folder)
    if spent.exit_code:
        raise Failed(f"exit code {spent.exit_code}; it said: {spent.last_words}")
    return spent
