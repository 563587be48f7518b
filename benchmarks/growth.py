"""Files of growing size: time and memory of a check, a run, a second run over the done file, and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.contenders import Job, importer_call
from benchmarks.measuring import Failed, Spent, spend
from benchmarks.place import Place
from benchmarks.results import Results
from benchmarks.sink_process import SinkProcess
from benchmarks.telling import say
from benchmarks.whole import refuse_wrong

PART = "growth"


def measure_growth(results: Results, place: Place, sizes: Sequence[int], *, concurrency: int, turns: int) -> None:
    """Each size in turn, into a service that answers at once."""
    for rows in sizes:
        say(f"{rows:,} rows, answers at once, {concurrency} in flight")
        for turn in range(turns):
            try:
                _measure_size(results, place, rows, concurrency, turn)
            except Failed as failure:
                results.note(f"importer, {rows:,} rows: {failure}")
                say(f"  failed: {failure}")


def _measure_size(results: Results, place: Place, rows: int, concurrency: int, turn: int) -> None:
    patience = 120 + rows / 100
    with place.own_folder() as folder:
        # One sink for all steps: to the ledger another port is another service.
        with SinkProcess() as sink:
            job = Job(place.source(rows), place.mapping, sink.url, concurrency, folder)
            steps: list[tuple[str, Spent]] = []
            for step, command in (("check", "check"), ("run", "run"), ("second run", "run")):
                call = importer_call(job, command=command)
                steps.append((step, _step(call.command, call.environment, folder, patience)))
            call = importer_call(job)
            report = [*call.command[:3], "report", _newest_run(folder), "--out", str(folder / "results")]
            steps.append(("report", _step(report, call.environment, folder, patience)))
        refuse_wrong(steps[1][1], sink.figures, rows)
    for step, spent in steps:
        results.add(
            PART, turn=turn, step=step, rows=rows, seconds=spent.seconds, cpu_seconds=spent.cpu_seconds, peak=spent.peak
        )
        say(f"  {step:<11} {spent.seconds:8.2f} s   {rows / spent.seconds:9,.0f} rows/s   {spent.peak:5.0f} MB")


def _step(command: Sequence[str], environment: Mapping[str, str], folder: Path, patience: float) -> Spent:
    spent = spend(command, environment, folder=folder, timeout=patience)
    if spent.exit_code:
        raise Failed(f"exit code {spent.exit_code}; it said: {spent.last_words}")
    return spent


def _newest_run(folder: Path) -> str:
    """The second run: it has done nothing but recognise, and its report is as large as any."""
    return max(path.name for path in (folder / "results").iterdir() if path.is_dir())
