"""A check of a large file by one process on one processor, and by its processes on two: seconds side by side."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contenders import Job, importer_call
from benchmarks.measuring import Failed
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.sink_process import SinkProcess

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE") / (1 << 20)
_TARGET = 0.6


@dataclass(frozen=True, slots=True)
class Checked:
    """One check: seconds until its first line and until its end; CPU seconds of each process; memory of the largest
    process in MB, when half of the time was over and at most."""

    first_line: float
    seconds: float
    cpu: tuple[float, ...]
    half_time: float
    peak: float

    @property
    def bound(self) -> float:
        """The seconds that it takes on two processors that do nothing else."""
        return max(*self.cpu, sum(self.cpu) / 2)


def measure_check(place: Place, *, rows: int, turns: int) -> None:
    """Check the same file on one and on two processors, in turn, and print the ratios."""
    source = place.source(rows)
    for _ in range(turns):
        one, two = (_checked(place, source, processors) for processors in (1, 2))
        total = sum(one.cpu)
        show(f"check of {rows:,} rows x 40 columns   one processor   two   ratio (target: {_TARGET})")
        show(f"  seconds, on this machine now  {one.seconds:17.2f} {two.seconds:7.2f} {two.seconds / one.seconds:5.2f}")
        show(f"  seconds, if it were idle      {total:17.2f} {two.bound:7.2f} {two.bound / total:5.2f}")
        show(f"  CPU seconds of each process on two: {', '.join(f'{cpu:.2f}' for cpu in two.cpu)}")
        show(f"  first line after {two.first_line:.2f} s (target: 1)")
        show(f"  memory of the largest process: {two.half_time:.0f} MB at half time, {two.peak:.0f} MB at most")


def _checked(place: Place, source: Path, processors: int) -> Checked:
    with place.own_folder() as folder, SinkProcess() as sink:
        call = importer_call(Job(source, place.mapping, sink.url, 1, folder), command="check")
        usable = sorted(os.sched_getaffinity(0))[:processors]
        began = time.perf_counter()
        process = subprocess.Popen(
            ["taskset", "-c", ",".join(map(str, usable)), *(each for each in call.command if each != "--quiet")],
            cwd=folder,
            env={**os.environ, **call.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with _watched(process.pid) as watch:
            assert process.stderr is not None
            process.stderr.readline()
            first_line = time.perf_counter() - began
            output = process.stderr.read()
            code = process.wait()
        seconds = time.perf_counter() - began
    if code:
        raise Failed(f"exit code {code}; its output: {output.decode()[-300:]}")
    half = [memory for at, memory in watch.memory if at <= began + seconds / 2]
    return Checked(
        first_line, seconds, tuple(watch.cpu.values()), max(half, default=0), max(m for _, m in watch.memory)
    )


class _Watch:
    """CPU seconds by process, and the memory of the largest process at times; sampled, to a tenth of a second."""

    def __init__(self) -> None:
        self.cpu: dict[int, float] = {}
        self.memory: list[tuple[float, float]] = [(0.0, 0.0)]

    def sample(self, session: int) -> None:
        largest = 0.0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                if int(fields[3]) == session:
                    self.cpu[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
                    largest = max(largest, int(fields[21]) * _PAGE)
        self.memory.append((time.perf_counter(), largest))


@contextmanager
def _watched(session: int) -> Iterator[_Watch]:
    watch, ended = _Watch(), threading.Event()

    def run() -> None:
        while not ended.wait(0.1):
            watch.sample(session)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()
