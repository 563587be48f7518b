"""`make crash`: the large form of the crash runs, with figures; ends with 1 where anything is lost or untrue."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.crash.every_step import kill_at_steps, kinds
from tests.crash.nursery import Nursery
from tests.crash.power_cuts import cut_power
from tests.crash.random_kills import Size, kill_at_random


def _kills(folder: Path) -> list[str]:
    with Nursery() as nursery:
        figures = kill_at_random(folder, nursery, Size(files=40, rows=500, kills=25), seed=20261121)
    _tell(figures.lines())
    faults = [f"{figures.twice} twice"] * bool(figures.twice) + [f"{figures.missing} missing"] * bool(figures.missing)
    return faults + figures.untrue


def _steps(folder: Path) -> list[str]:
    with Nursery() as nursery:
        figures = kill_at_steps(folder, nursery, every=24)
    _tell([*figures.lines(), *kinds(figures)])
    return figures.untrue


def _power(folder: Path) -> list[str]:
    figures = cut_power(folder, cuts=2000, rows=400)
    _tell(figures.lines())
    return [f"{figures.lost} lost"] * bool(figures.lost) + figures.unsound


_PARTS: dict[str, Callable[[Path], list[str]]] = {"kills": _kills, "steps": _steps, "power": _power}


def _tell(lines: list[str]) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201


def main(chosen: list[str]) -> int:
    """Run the chosen parts, or all; the exit code."""
    faults = []
    for name in chosen or list(_PARTS):
        with tempfile.TemporaryDirectory() as folder:
            faults += _PARTS[name](Path(folder))
    _tell(faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
