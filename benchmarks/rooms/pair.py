"""Two ways to do the same, timed one after the other, told as one line of JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def arguments() -> tuple[Path, ...]:
    """The paths of the command line: source, mapping, a folder to write in."""
    return tuple(Path(text) for text in sys.argv[1:])


def tell_cpu_seconds(ours: Callable[[], object], floor: Callable[[], object]) -> None:
    """CPU time of this process: other programs do not count."""
    _tell(_timed(ours, time.process_time), _timed(floor, time.process_time))


def tell_seconds(ours: Callable[[], object], floor: Callable[[], object]) -> None:
    """Time on the clock: waiting for the disk counts."""
    _tell(_timed(ours, time.perf_counter), _timed(floor, time.perf_counter))


def _timed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return clock() - began


def _tell(ours: float, floor: float) -> None:
    sys.stdout.write(json.dumps({"ours": ours, "floor": floor}) + "\n")
