"""One import on one process and on several, and what each part costs: for the model in docs/cluster.md."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.contenders import Job, importer_call
from benchmarks.growth import on_cores
from benchmarks.measuring import Failed
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.rooms.ledger import write_intents_and_responses
from benchmarks.sink_process import SinkProcess
from importer.ledger import Address
from tests.postgres import Server, running_server

PART = "scaling"
KINDS = ("run", "workers", "helpers", "server")
_MOST_WRITTEN = 20_000
_LOOK = 0.25  # seconds between two looks at the CPU of a process
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Spent:
    """Seconds of a command, and of the CPU: its own, of its workers, of the processes that prepare rows or report."""

    seconds: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)

    @property
    def line(self) -> str:
        return f"{self.seconds:8.2f} s   CPU " + ", ".join(f"{name} {used:.1f} s" for name, used in self.cpu.items())


def measure_scaling(results: Results, place: Place, *, rows: int, rate: float, workers: int, turns: int) -> None:
    """Measure a check, a run at a rate with each ledger, the ledgers alone, and the row that deals the rate."""
    cluster = ["--cluster", f"local:{workers}"]
    with running_server() as server:
        for turn in range(turns):
            show(f"check of {rows:,} rows")
            for name, arguments, cores in (
                ("one process", [], 1),
                ("as usual", [], None),
                (f"local:{workers}", cluster, None),
            ):
                spent = _import(place, rows, arguments, cores=cores, command="check")
                _add(results, "check", name, spent, rows, turn)
            show(f"run of {rows:,} rows at {rate:g} requests per second")
            for ledger, environment in (("SQLite", {}), ("PostgreSQL", _on_server(server, place.folder))):
                for name, arguments in (("as usual", []), (f"local:{workers}", cluster)):
                    before = _cpu_with_ended_children(server.pid)
                    spent = _import(place, rows, ["--rate", f"{rate:g}", *arguments], environment=environment)
                    if environment:
                        spent.cpu["server"] = _cpu_with_ended_children(server.pid) - before
                    _add(results, "run", f"{name}, {ledger}", spent, rows, turn)
            written = min(rows, _MOST_WRITTEN)
            show(f"intents and responses of {written:,} rows, without an import")
            with place.own_folder() as folder:
                addresses: dict[str, Address] = {
                    "SQLite": folder / "ledger.sqlite",
                    "PostgreSQL": server.address(folder / "ledger.key"),
                }
                for ledger, address in addresses.items():
                    spent = _write_rows(address, written)
                    _add(results, "ledger", ledger, spent, written, turn)


def _add(results: Results, step: str, name: str, spent: Spent, rows: int, turn: int) -> None:
    results.add(PART, turn=turn, step=step, name=name, rows=rows, seconds=spent.seconds, cpu=spent.cpu)
    show(f"  {name:<24}{spent.line}   {rows / spent.seconds:,.0f} rows/s")


def _on_server(server: Server, folder: Path) -> dict[str, str]:
    return {"IMPORTER_LEDGER": server.location(), "IMPORTER_LEDGER_KEY_FILE": str(folder / "ledger.key")}


def _import(
    place: Place,
    rows: int,
    arguments: Sequence[str],
    *,
    command: str = "run",
    cores: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Spent:
    with place.own_folder() as folder, SinkProcess("--delay", "20") as sink, on_cores(cores):
        job = Job(place.source(rows), place.mapping, sink.url, 50, folder)
        call = importer_call(job, *arguments, command=command)
        return _watch(call.command, {**call.environment, **(environment or {})}, folder)


def _watch(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Spent:
    """Run a command, and look at the CPU of its processes while they live."""
    used: dict[int, tuple[str, float]] = {}
    began = time.perf_counter()
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=output, stderr=subprocess.STDOUT
        )
        while process.poll() is None:
            _look(process.pid, "run", used)
            time.sleep(_LOOK)
    spent = Spent(time.perf_counter() - began)
    if process.returncode:
        raise Failed((folder / "output").read_text()[-300:])
    for name, seconds in used.values():
        spent.cpu[name] = spent.cpu.get(name, 0.0) + seconds
    return spent


def _look(pid: int, name: str, used: dict[int, tuple[str, float]]) -> None:
    with suppress(OSError):  # it has ended
        used[pid] = (name, sum(_cpu_seconds(pid)[:2]))
        for children in Path(f"/proc/{pid}/task").glob("*/children"):  # of each thread
            for child in map(int, children.read_text().split()):
                is_worker = b"cluster.worker" in Path(f"/proc/{child}/cmdline").read_bytes()
                known, _ = used.get(child, ("helpers", 0.0))  # one that has ended has no command line any more
                _look(child, "workers" if is_worker else known, used)


def _cpu_seconds(pid: int) -> list[float]:
    """Of a process, in its own code and the kernel's; then of its children that have ended."""
    return [int(word) / _TICKS for word in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]]


def _cpu_with_ended_children(pid: int) -> float:
    """Of the database server: each session is a child, and ends with the run."""
    used: dict[int, tuple[str, float]] = {}
    _look(pid, "server", used)
    return sum(seconds for _, seconds in used.values()) + sum(_cpu_seconds(pid)[2:])


def _write_rows(address: Address, rows: int) -> Spent:
    began, cpu = time.perf_counter(), time.process_time()
    write_intents_and_responses(address, rows)
    return Spent(time.perf_counter() - began, {"run": time.process_time() - cpu})
