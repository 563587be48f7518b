"""Files of growing size: time and memory of a check, a run, a second run of the imported file, and a report.

And one check on one core and on all cores, side by side.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.contenders import Job, importer_call
from benchmarks.measuring import Failed, Usage, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink_process import SinkProcess
from benchmarks.whole import check_complete

PART = "growth"
SCALING = "scaling"


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


def measure_scaling(results: Results, place: Place, rows: int, *, turns: int) -> None:
    """Measure a check of a file on one core, where it is a single process, and on all cores."""
    source = place.source(rows)
    for turn in range(turns):
        for cores in (1, len(os.sched_getaffinity(0))):
            with place.own_folder() as folder, SinkProcess() as sink, on_cores(cores):
                call = importer_call(Job(source, place.mapping, sink.url, 1, folder), command="check")
                first_line = _seconds_to_first_line(call.command, call.environment, folder)
                spent = _step(call.command, call.environment, folder, 120 + rows / 100)
            results.add(
                SCALING,
                turn=turn,
                cores=cores,
                rows=rows,
                seconds=spent.seconds,
                cpu_seconds=spent.cpu_seconds,
                peak=spent.peak,
                first_line=first_line,
            )
            show(f"  {cores} cores  {spent.seconds:8.2f} s   first line {first_line:.2f} s   {spent.peak:5.0f} MB")


@contextmanager
def on_cores(cores: int | None) -> Iterator[None]:
    """Processes that start in this context use only so many cores; None: all."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _seconds_to_first_line(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> float:
    """Seconds until the command says something; it is ended then."""
    began = time.perf_counter()
    talking = [word for word in command if word != "--quiet"]
    with subprocess.Popen(
        talking, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()
        seconds = time.perf_counter() - began
        process.terminate()
    return seconds
