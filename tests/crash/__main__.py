"""`make crash`: the large form of the crash runs, with figures; ends with 1 where anything is lost or untrue."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.crash.every_step import BEHAVIOURS, FORMS, Part, StepFigures, kill_at_all_points, parts
from tests.crash.lives import live_whole_lives
from tests.crash.power_cuts import cut_power
from tests.crash.random_kills import Size, kill_at_random_in_several


def _kills(folder: Path, asked: argparse.Namespace) -> list[str]:
    """Half of the files stormy, half calm; in four series, so that processes can share them."""
    rows, kills_of_a_file = 500, 25
    files = max(1, asked.kills // kills_of_a_file)
    shares = [files // 4 + (number < files % 4) for number in range(4)]
    sizes = [
        Size(share, rows, min(kills_of_a_file, asked.kills), asked.concurrency, calm=number % 2 == 0)
        for number, share in enumerate(shares)
        if share
    ]
    figures = kill_at_random_in_several(folder, sizes, asked.workers, asked.seed)
    _tell(figures.lines())
    faults = [f"{figures.twice} twice"] * bool(figures.twice) + [f"{figures.missing} missing"] * bool(figures.missing)
    return faults + figures.untrue


def _steps(folder: Path, asked: argparse.Namespace) -> list[str]:
    figures = kill_at_all_points(folder, parts(asked.behaviour, asked.form), asked.workers, _tell_of_part)
    _tell(figures.lines())
    return figures.untrue


def _power(folder: Path, asked: argparse.Namespace) -> list[str]:
    figures = cut_power(folder, cuts=asked.cuts, rows=400)
    _tell(figures.lines())
    return [f"{figures.lost} lost"] * bool(figures.lost) + figures.unsound


def _life(_: Path, asked: argparse.Namespace) -> list[str]:
    figures = live_whole_lives(asked.examples, asked.steps, asked.workers)
    _tell(figures.lines())
    return figures.untrue


_PARTS: dict[str, Callable[[Path, argparse.Namespace], list[str]]] = {
    "kills": _kills,
    "steps": _steps,
    "life": _life,
    "power": _power,
}


def _tell_of_part(part: Part, figures: StepFigures) -> None:
    found = f", {len(figures.untrue)} WRONG" if figures.untrue else ""
    name = f"{part.form}, {part.behaviour}, {part.operation}"
    _tell([f"{figures.kills.total():>6} kills {figures.seconds:>5.0f} s  {name}{found}"])


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of: {', '.join(_PARTS)}; all if none is named")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="how many processes share the work")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--kills", type=int, default=1000, help="kills: how many; 20 rows for each")
    parser.add_argument("--concurrency", type=int, default=32, help="kills: how many requests may be under way")
    parser.add_argument(
        "--behaviour", nargs="+", choices=BEHAVIOURS, default=list(BEHAVIOURS), help="steps: only these"
    )
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS), help="steps: only this form")
    parser.add_argument("--examples", type=int, default=300, help="life: how many lives of each kind and operation")
    parser.add_argument("--steps", type=int, default=20, help="life: how many steps each has at most")
    parser.add_argument("--cuts", type=int, default=2000, help="power: how many cuts")
    return parser


def main() -> int:
    """Run the chosen parts, or all; the exit code."""
    parser = _arguments()
    asked = parser.parse_args()
    if strange := [name for name in asked.parts if name not in _PARTS]:
        parser.error(f"the part {', '.join(strange)}; there are: {' does not exist, '.join(_PARTS)}")
    faults = []
    for name in asked.parts or _PARTS:
        with tempfile.TemporaryDirectory() as folder:
            faults += _PARTS[name](Path(folder), asked)
    _tell(faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
