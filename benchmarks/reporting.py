"""The report of a long run: how long a run waits for it, and its time and memory compared with XlsxWriter alone."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.candidates import HEADER, cells
from benchmarks.contenders import Job, importer_call
from benchmarks.measuring import Failed, Usage, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink_process import ROOT, SinkProcess

PART = "report"
_DATE = HEADER.index("From")
OUTCOMES = {"created": "01.09.2026", "invalid": "31.02.2026"}
"""What all rows become, and the date in each of them that makes them so."""


def measure_report(results: Results, place: Place, rows: int, *, turns: int) -> None:
    """Measure a run whose rows all have one outcome, its report written again, and XlsxWriter with the same cells."""
    show(f"reports of {rows:,} rows of {len(HEADER)} columns")
    for outcome in OUTCOMES:
        for turn in range(turns):
            try:
                _measure(results, place, rows, outcome, turn)
            except Failed as failure:
                results.note(f"report of {outcome} rows: {failure}")
                show(f"  {outcome:<10} failed: {failure}")


def _measure(results: Results, place: Place, rows: int, outcome: str, turn: int) -> None:
    with place.own_folder() as folder, SinkProcess() as sink:
        job = Job(_source(folder / "people.csv", rows, outcome), place.mapping, sink.url, 25, folder)
        call = importer_call(job)
        files = [str(path) for path in (job.source, job.mapping, folder)]
        ran = _spend([sys.executable, "-m", "benchmarks.rooms.run_and_report", *files], call.environment, folder)
        wait = json.loads(ran.output)["wait"]
        [run] = (path for path in (folder / "results").iterdir() if path.name.startswith("2"))
        again = [*call.command[:3], "report", run.name, "--out", str(folder / "results")]
        report = _spend(again, call.environment, folder)
        [written] = (path for path in run.glob(f"*{outcome}.csv"))
        files = [str(written), str(job.mapping), str(folder)]
        bare = _spend([sys.executable, "-m", "benchmarks.rooms.bare_report", *files], call.environment, folder)
    figures = {"wait": wait, "seconds": report.seconds, "baseline_seconds": bare.seconds, "peak": report.peak}
    results.add(PART, turn=turn, outcome=outcome, rows=rows, **figures)
    show(
        f"  {outcome:<10} the run waits {wait:.2f} s; {report.seconds:.2f} / {bare.seconds:.2f} s ="
        f" {report.seconds / bare.seconds:.2f} x XlsxWriter; {report.peak:.0f} MB"
    )


def _source(path: Path, rows: int, outcome: str) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for number in range(rows):
            row = cells(number)
            row[_DATE] = OUTCOMES[outcome]
            writer.writerow(row)
    return path


def _spend(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Usage:
    spent = spend(command, {**environment, "PYTHONPATH": os.fspath(ROOT)}, folder=folder)
    if spent.exit_code not in (0, 4):  # 4: some rows need action
        raise Failed(f"exit code {spent.exit_code}; its output: {spent.last_output}")
    return spent
