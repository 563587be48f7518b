"""`make crash`: the large crash runs, with figures; ends with 1 if anything is lost or wrong."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.crash.every_step import BEHAVIORS, FORMS, Part, StepFigures, kill_at_all_points, parts
from tests.crash.fork_server import ForkServer
from tests.crash.inbox_kills import kill_inbox_at_random
from tests.crash.part_kills import kill_parts
from tests.crash.power_cuts import cut_power
from tests.crash.random_kills import Size, kill_at_random_in_several
from tests.crash.scenarios import run_scenarios
from tests.postgres import running_server


def _kills(folder: Path, asked: argparse.Namespace) -> list[str]:
    """Half of the files with few faults; in four series, so that processes can share them."""
    rows, kills_of_a_file = 500, 25
    files = max(1, asked.kills // kills_of_a_file)
    shares = [files // 4 + (number < files % 4) for number in range(4)]
    sizes = [
        Size(share, rows, min(kills_of_a_file, asked.kills), asked.concurrency, few_faults=number % 2 == 0)
        for number, share in enumerate(shares)
        if share
    ]
    figures = kill_at_random_in_several(folder, sizes, asked.workers, asked.seed)
    _print(figures.lines())
    errors = [f"{figures.twice} twice"] * bool(figures.twice) + [f"{figures.missing} missing"] * bool(figures.missing)
    return errors + figures.wrong


def _server(folder: Path, asked: argparse.Namespace) -> list[str]:
    """Files with few faults, and a ledger in PostgreSQL whose server is killed too."""
    sizes = [Size(1, 1_000, 40, asked.concurrency, few_faults=True, on_server=True)] * max(1, asked.kills // 40)
    figures = kill_at_random_in_several(folder, sizes, asked.workers, asked.seed)
    _print(figures.lines())
    errors = [f"{figures.twice} twice"] * bool(figures.twice) + [f"{figures.missing} missing"] * bool(figures.missing)
    return errors + figures.wrong


def _parts(folder: Path, asked: argparse.Namespace) -> list[str]:
    """One file in three parts; the ledger's server is killed too."""
    with ForkServer() as fork_server, running_server() as server:
        figures = kill_parts(folder, fork_server, server, asked.kills, rows=20 * asked.kills, seed=asked.seed)
    _print(figures.lines())
    errors = [f"{figures.twice} twice"] * bool(figures.twice) + [f"{figures.missing} missing"] * bool(figures.missing)
    return errors + figures.wrong


def _steps(folder: Path, asked: argparse.Namespace) -> list[str]:
    figures = kill_at_all_points(folder, parts(asked.behavior, asked.form), asked.workers, _print_part)
    _print(figures.lines())
    return figures.wrong


def _power(folder: Path, asked: argparse.Namespace) -> list[str]:
    figures = cut_power(folder, cuts=asked.cuts, rows=400)
    _print(figures.lines())
    return [f"{figures.lost} lost"] * bool(figures.lost) + figures.inconsistent


def _scenarios(_: Path, asked: argparse.Namespace) -> list[str]:
    figures = run_scenarios(asked.examples, asked.steps, asked.workers)
    _print(figures.lines())
    return figures.wrong


def _inbox(folder: Path, asked: argparse.Namespace) -> list[str]:
    """20 files at a time, each of a few rows."""
    with ForkServer() as fork_server:
        figures = kill_inbox_at_random(folder, fork_server, max(1, asked.kills // 2), seed=asked.seed)
    _print(figures.lines())
    return figures.wrong


_PARTS: dict[str, Callable[[Path, argparse.Namespace], list[str]]] = {
    "kills": _kills,
    "server": _server,
    "parts": _parts,
    "steps": _steps,
    "scenarios": _scenarios,
    "power": _power,
    "inbox": _inbox,
}


def _print_part(part: Part, figures: StepFigures) -> None:
    found = f", {len(figures.wrong)} WRONG" if figures.wrong else ""
    name = f"{part.form}, {part.behavior}, {part.operation}"
    _print([f"{figures.kills.total():>6} kills {figures.seconds:>5.0f} s  {name}{found}"])


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of: {', '.join(_PARTS)}; default: all")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="number of worker processes")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--kills", type=int, default=1000, help="kills: how many; 20 rows each")
    parser.add_argument("--concurrency", type=int, default=32, help="kills: the most requests in flight")
    parser.add_argument(
        "--behavior", nargs="+", choices=BEHAVIORS, default=list(BEHAVIORS), help="steps: only these behaviors"
    )
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS), help="steps: only this form")
    parser.add_argument("--examples", type=int, default=300, help="scenarios: how many of each kind and operation")
    parser.add_argument("--steps", type=int, default=20, help="scenarios: the most steps of each")
    parser.add_argument("--cuts", type=int, default=2000, help="power: how many cuts")
    return parser


def main() -> int:
    """Run the chosen parts, or all; returns the exit code."""
    parser = _arguments()
    asked = parser.parse_args()
    if unknown := [name for name in asked.parts if name not in _PARTS]:
        parser.error(f"unknown part {', '.join(unknown)}; the parts are {', '.join(_PARTS)}")
    errors = []
    for name in asked.parts or _PARTS:
        with tempfile.TemporaryDirectory() as folder:
            errors += _PARTS[name](Path(folder), asked)
    _print(errors)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
