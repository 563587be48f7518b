"""The commands: python -m benchmarks whole | growth | refusing ..."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.contenders import OURS, field_of_contenders
from benchmarks.growth import measure_growth
from benchmarks.place import Place, temporary_place
from benchmarks.refusing import Limit, measure_refusing
from benchmarks.results import Results, begin_results
from benchmarks.telling import say
from benchmarks.whole import Setting, measure_whole

RESULTS = Path("results/bench/results.json")


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",") if part.strip()]


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _whole(wanted: argparse.Namespace, results: Results, place: Place) -> None:
    settings = [Setting(delay, wanted.rows, wanted.in_flight) for delay in wanted.delays]
    settings += [Setting(delay, wanted.tls_rows, wanted.in_flight, tls=True) for delay in wanted.tls_delays]
    found = field_of_contenders(wanted.only)
    for why in found.left_out:
        results.note(why)
        say(why)
    measure_whole(results, place, settings, found.contenders, wanted.turns)


def _growth(wanted: argparse.Namespace, results: Results, place: Place) -> None:
    sizes = [int(size) for size in wanted.sizes] + ([1_000_000] if wanted.large else [])
    measure_growth(results, place, sizes, in_flight=wanted.in_flight, turns=wanted.turns)


def _refusing(wanted: argparse.Namespace, results: Results, place: Place) -> None:
    limits = [Limit(wanted.rate, wanted.burst, said) for said in ("1", None)]
    for contender in field_of_contenders([OURS]).contenders:
        measure_refusing(
            results, place, limits, contender, rows=wanted.rows, in_flight=wanted.in_flight, turns=wanted.turns
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures importer beside its peers.")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the figures go, as JSON")
    parts = parser.add_subparsers(required=True, metavar="PART")

    def part(name: str, text: str) -> argparse.ArgumentParser:
        found = parts.add_parser(name, help=text)
        found.add_argument("--in-flight", type=int, default=25)
        found.add_argument("--turns", type=int, default=1)
        return found

    whole = part("whole", "whole imports beside the bound and the peers")
    whole.add_argument("--rows", type=int, default=20_000)
    whole.add_argument("--delays", type=_numbers, default=[0, 20, 100], help="milliseconds until the service answers")
    whole.add_argument("--tls-rows", type=int, default=5_000)
    whole.add_argument("--tls-delays", type=_numbers, default=[20], help="the same over TLS; '' leaves it out")
    whole.add_argument("--only", type=_names, default=[], help="names of contenders, with commas; default: all")
    whole.set_defaults(measure=_whole)
    growth = part("growth", "time and memory of files of growing size")
    growth.add_argument("--sizes", type=_numbers, default=[10_000, 100_000], help="numbers of rows")
    growth.add_argument("--large", action="store_true", help="also 1,000,000 rows")
    growth.set_defaults(measure=_growth)
    refusing = part("refusing", "a service that answers 429 beyond a rate")
    refusing.add_argument("--rows", type=int, default=1_000)
    refusing.add_argument("--rate", type=float, default=50, help="requests a second that it allows")
    refusing.add_argument("--burst", type=float, default=50, help="how many it allows at once after a quiet time")
    refusing.set_defaults(measure=_refusing)
    return parser


def main() -> None:
    """Measure what was asked for, and keep the figures."""
    wanted = _parser().parse_args()
    results = begin_results()
    with temporary_place() as place:
        wanted.measure(wanted, results, place)
    results.write(wanted.out)


if __name__ == "__main__":
    main()
