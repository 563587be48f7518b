"""Times two ways to do the same, one after the other, and prints one line of JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def arguments() -> tuple[Path, ...]:
    """The paths of the command line: source, mapping, a folder to write in."""
    return tuple(Path(text) for text in sys.argv[1:])


def print_cpu_seconds(ours: Callable[[], object], baseline: Callable[[], object]) -> None:
    """CPU time of this process; other programs do not count."""
    _print(_timed(ours, time.process_time), _timed(baseline, time.process_time))


def print_seconds(ours: Callable[[], object], baseline: Callable[[], object]) -> None:
    """Wall-clock time; waiting for the disk counts."""
    _print(_timed(ours, time.perf_counter), _timed(baseline, time.perf_counter))


def _timed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return clock() - began


def _print(ours: float, baseline: float) -> None:
    sys.stdout.write(json.dumps({"ours": ours, "baseline": baseline}) + "\n")
