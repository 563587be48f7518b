"""Several imports at once, with one ledger in PostgreSQL: together they keep the rate of the service."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.candidates import JOB_POST
from benchmarks.measuring import Failed
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink_process import ROOT, SinkProcess
from tests.postgres import Server, running_server

PART = "sharing"


def measure_sharing(results: Results, place: Place, *, rows: int, rate: float, imports: int, turns: int) -> None:
    """Measure imports to different job posts at a service with one limit: with the rate set, and with it learned."""
    with running_server() as server:
        for is_set in (True, False):
            given = "the rate is set" if is_set else "the rate is learned"
            show(f"{imports} imports of {rows:,} rows each, {rate:g} a second for all, {given}")
            for turn in range(turns):
                _measure(results, place, server, rows, rate, imports, turn, is_set=is_set)


def _measure(
    results: Results, place: Place, server: Server, rows: int, rate: float, imports: int, turn: int, *, is_set: bool
) -> None:
    limit = ["--limit", str(rate), "--burst", "5", "--retry-after", "1"]
    with place.own_folder() as folder, SinkProcess("--delay", "20", *limit) as sink:
        environment = {
            **os.environ,
            "IMPORTER_BASE_URL": sink.url,
            "IMPORTER_TOKEN": "sink",
            "IMPORTER_LEDGER": server.location(),
            "IMPORTER_LEDGER_KEY_FILE": str(folder / "ledger.key"),
            **({"IMPORTER_RATE": str(rate)} if is_set else {}),
        }
        commands = [_command(place, folder, rows, number) for number in range(imports)]
        began = time.monotonic()
        running = [
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for command in commands
        ]
        for process in running:
            errors = process.communicate()[1]
            if process.returncode:
                raise Failed(errors.decode())
        whole = time.monotonic() - began
    figures = sink.figures
    used, refused = figures.accepted / (rate * figures.seconds), figures.refused / figures.requests
    results.add(
        PART,
        turn=turn,
        imports=imports,
        rows=rows,
        rate=rate,
        is_set=is_set,
        seconds=figures.seconds,
        used=used,
        refused=refused,
        most_in_a_second=figures.most_in_a_second,
    )
    show(
        f"  {whole:.1f} s, {used:.1%} of the limit used, {refused:.1%} of requests got 429,"
        f" at most {figures.most_in_a_second} requests in a second"
    )


def _command(place: Place, folder: Path, rows: int, number: int) -> list[str]:
    mapping = folder / f"mapping{number}.yaml"
    mapping.write_text(place.mapping.read_text().replace(JOB_POST, f"{JOB_POST}{number}"))
    own = ["--mapping", str(mapping), "--out", str(folder / f"results{number}"), "--yes", "--quiet"]
    return [sys.executable, "-m", "importer", "run", str(place.source(rows)), *own]
