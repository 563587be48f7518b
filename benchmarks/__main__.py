"""The commands: python -m benchmarks whole ..."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.contenders import contenders
from benchmarks.results import Results, begin_results
from benchmarks.whole import Setting, measure_whole

RESULTS = Path("results/bench/results.json")


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",") if part.strip()]


def _whole(wanted: argparse.Namespace, results: Results) -> None:
    settings = [Setting(delay, wanted.rows) for delay in wanted.delays]
    settings += [Setting(delay, wanted.tls_rows, tls=True) for delay in wanted.tls_delays]
    known = contenders()
    chosen = [one for one in known if not wanted.only or one.name in wanted.only.split(",")]
    measure_whole(results, settings, chosen, in_flight=wanted.in_flight, turns=wanted.turns)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures importer beside its peers.")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the figures go, as JSON")
    parts = parser.add_subparsers(required=True, metavar="PART")
    whole = parts.add_parser("whole", help="whole imports beside the bound and the peers")
    whole.add_argument("--rows", type=int, default=20_000)
    whole.add_argument("--delays", type=_numbers, default=[0, 20, 100], help="milliseconds until the service answers")
    whole.add_argument("--tls-rows", type=int, default=5_000)
    whole.add_argument("--tls-delays", type=_numbers, default=[20], help="the same over TLS; '' leaves it out")
    whole.add_argument("--in-flight", type=int, default=25)
    whole.add_argument("--turns", type=int, default=1)
    whole.add_argument("--only", help="names of contenders, with commas; default: all")
    whole.set_defaults(measure=_whole)
    return parser


def main() -> None:
    """Measure what was asked for, and keep the figures."""
    wanted = _parser().parse_args()
    results = begin_results()
    wanted.measure(wanted, results)
    results.write(wanted.out)


if __name__ == "__main__":
    main()
