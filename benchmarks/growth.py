"""Files of growing size: time and memory of a check, a run, a second run of the imported file, and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.contenders import Job, importer_call
from benchmarks.measuring import Failed, Usage, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink_process import SinkProcess
from benchmarks.whole import check_complete

PART = "growth"


def measure_growth(results: Results, place: Place, sizes: Sequence[int], *, concurrency: int, turns: int) -> None:
    """Measure each size with a service that responds at once."""
    for rows in sizes:
        show(f"{rows:,} rows, responses at once, concurrency {concurrency}")
        for turn in range(turns):
            try:
                _measure_size(results, place, rows, concurrency, turn)
            except Failed as failure:
                results.note(f"importer, {rows:,} rows: {failure}")
                show(f"  failed: {failure}")


def _measure_size(results: Results, place: Place, rows: int, concurrency: int, turn: int) -> None:
    timeout = 120 + rows / 100
    with place.own_folder() as folder:
        # One sink for all steps: for the ledger, another port is another service.
        with SinkProcess() as sink:
            job = Job(place.source(rows), place.mapping, sink.url, concurrency, folder)
            steps: list[tuple[str, Usage]] = []
            for step, command in (("check", "check"), ("run", "run"), ("second run", "run")):
                call = importer_call(job, command=command)
                steps.append((step, _step(call.command, call.environment, folder, timeout)))
            call = importer_call(job)
            report = [*call.command[:3], "report", _newest_run(folder), "--out", str(folder / "results")]
            steps.append(("report", _step(report, call.environment, folder, timeout)))
        check_complete(steps[1][1], sink.figures, rows)
    for step, spent in steps:
        results.add(
            PART, turn=turn, step=step, rows=rows, seconds=spent.seconds, cpu_seconds=spent.cpu_seconds, peak=spent.peak
        )
        show(f"  {step:<11} {spent.seconds:8.2f} s   {rows / spent.seconds:9,.0f} rows/s   {spent.peak:5.0f} MB")


def _step(command: Sequence[str], environment: Mapping[str, str], folder: Path, timeout: float) -> Usage:
    spent = spend(command, environment, folder=folder, timeout=timeout)
    if spent.exit_code:
        raise Failed(f"exit code {spent.exit_code}; its output: {spent.last_output}")
    return spent


def _newest_run(folder: Path) -> str:
    """The second run: it sent nothing, and its report is as large as that of the first."""
    return max(path.name for path in (folder / "results").iterdir() if path.is_dir())
