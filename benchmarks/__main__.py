"""The commands: python -m benchmarks PART. Without a part, or with --help: which ones there are."""

from __future__ import annotations

import argparse
import compileall
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.contenders import OURS, find_contenders
from benchmarks.documents import measure_documents
from benchmarks.faults import KINDS, PARTS, SHARES, measure_faults
from benchmarks.growth import measure_growth, measure_scaling
from benchmarks.place import Place, temporary_place
from benchmarks.planted import measure_planted
from benchmarks.progress import show
from benchmarks.results import Results, begin_results
from benchmarks.sink_process import ROOT
from benchmarks.spreadsheets import LOCALES, SOURCES, measure_spreadsheets
from benchmarks.tables import tables
from benchmarks.truth import measure_truth
from benchmarks.whole import Setting, measure_whole

RESULTS = Path("results/bench/results.json")
_LARGE = 1_000_000


def _numbers(text: str) -> list[float]:
    return [float(part) for part in _names(text)]


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _settings(wanted: argparse.Namespace) -> list[Setting]:
    plain = [Setting(delay, wanted.rows, wanted.concurrency) for delay in wanted.delays]
    return plain + [Setting(delay, wanted.tls_rows, wanted.concurrency, tls=True) for delay in wanted.tls_delays]


# --- the parts ----------------------------------------------------------------------------------


def _whole(wanted: argparse.Namespace, results: Results, place: Place) -> None:
    found = find_contenders(wanted.only)
    for reason in found.skipped:
        results.note(reason)
        show(reason)
    measure_whole(results, place, _settings(wanted), found.available, wanted.turns)


def _scaling(wanted: argparse.Namespace, results: Results, place: Place) -> None:
    measure_scaling(results, place, wanted.rows, turns=wanted.turns)


def _growth(wanted: argparse.Namespace, results: Results, place: Place) -> None:
    sizes = [int(size) for size in wanted.sizes] + ([_LARGE] if wanted.large else [])
    measure_growth(results, place, sizes, concurrency=wanted.concurrency, turns=wanted.turns)


def _faults(wanted: argparse.Namespace, results: Results, place: Place) -> list[str]:
    return measure_faults(
        results,
        place,
        wanted.parts,
        rows=wanted.rows,
        shares=wanted.shares,
        kinds=wanted.kinds,
        at_once=wanted.at_once,
        large=wanted.large,
    )


def _planted(wanted: argparse.Namespace, results: Results, place: Place) -> list[str]:
    return measure_planted(results, place, rows=wanted.rows, seed=wanted.seed)


def _all(wanted: argparse.Namespace, results: Results, place: Place) -> None:
    """Every part, in sizes that take ten minutes in total; at 100 ms, fewer rows show the same."""
    parser = _parser()
    large = ["--large"] if wanted.large else []
    normal = [
        ["whole", "--rows", "20000", "--delays", "0,20", "--tls-delays", "20"],
        ["whole", "--rows", "5000", "--delays", "100", "--tls-delays", ""],
        ["growth", *large],
        ["scaling"],
    ]
    small = [
        ["whole", "--rows", "500", "--tls-rows", "500"],
        ["growth", "--sizes", "500,1000", *large],
        ["scaling", "--rows", "500"],
    ]
    for command in small if wanted.small else normal:
        part = parser.parse_args([*command, "--turns", str(wanted.turns)])
        part.measure(part, results, place)


# --- the command line ---------------------------------------------------------------------------


def _measure(wanted: argparse.Namespace) -> None:
    compileall.compile_dir(ROOT / OURS, quiet=1)  # as pip does for the installed tools
    results = begin_results()
    began = time.monotonic()
    try:
        with temporary_place() as place:
            broken = wanted.measure(wanted, results, place)
    finally:  # results before an interruption are saved
        results.write(wanted.out)
    show("\n" + tables(results))
    show(f"{time.monotonic() - began:.0f} s; {wanted.out}")
    if broken:
        sys.exit("\n".join(broken))


def _spreadsheets(wanted: argparse.Namespace) -> None:
    if false := measure_spreadsheets(wanted.sources, wanted.locales):
        sys.exit(f"{len(false)} values were sent false")


def _documents(wanted: argparse.Namespace) -> None:
    with temporary_place() as place:
        measure_documents(place, wanted.people, wanted.largest, wanted.delay, wanted.turns)


def _truth(wanted: argparse.Namespace) -> None:
    with temporary_place() as place:
        truth = measure_truth(place.folder, wanted.cells, wanted.seed)
    show("\n".join(truth.lines(wanted.show)))
    if truth.broken:
        sys.exit("\n".join(truth.broken))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures importer and its peers.")
    parts = parser.add_subparsers(required=True, metavar="PART")

    def part(name: str, text: str, measure: Callable[..., list[str] | None]) -> argparse.ArgumentParser:
        found = parts.add_parser(name, help=text)
        found.add_argument("--out", type=Path, default=RESULTS, help="file for the figures (JSON)")
        found.add_argument("--turns", type=int, default=1, help="how often each is measured")
        found.set_defaults(measure=measure, do=_measure)
        return found

    everything = part("all", "all parts in their normal sizes", _all)
    everything.add_argument("--small", action="store_true", help="a quick test that everything works, in two minutes")
    everything.add_argument("--large", action="store_true", help=f"also {_LARGE:,} rows")
    whole = part("whole", "whole imports, compared with the bound and the peers", _whole)
    whole.add_argument("--rows", type=int, default=20_000)
    whole.add_argument("--delays", type=_numbers, default=[0, 20, 100], help="milliseconds until the service answers")
    whole.add_argument("--tls-rows", type=int, default=5_000)
    whole.add_argument("--tls-delays", type=_numbers, default=[20], help="the same over TLS; '' leaves it out")
    whole.add_argument("--only", type=_names, default=[], help="names of contenders, with commas; default: all")
    growth = part("growth", "time and memory of files of growing size", _growth)
    growth.add_argument("--sizes", type=_numbers, default=[10_000, 100_000], help="numbers of rows")
    growth.add_argument("--large", action="store_true", help=f"also {_LARGE:,} rows")
    scaling = part("scaling", "one check on one core and on all cores", _scaling)
    scaling.add_argument("--rows", type=int, default=100_000)
    faults = part(
        "faults", "runs finish by themselves: random faults, limits, outages; exit code 1 if one does not", _faults
    )
    faults.add_argument("--parts", type=_names, default=list(PARTS), help=f"some of {','.join(PARTS)}")
    faults.add_argument("--rows", type=int, default=1_000, help="random faults: how many rows")
    faults.add_argument("--shares", type=_numbers, default=list(SHARES), help="random faults: shares from 0 to 1")
    faults.add_argument("--kinds", type=str, nargs="+", choices=list(KINDS), default=list(KINDS))
    faults.add_argument("--at-once", type=int, default=3, help="random faults: concurrent imports")
    faults.add_argument("--large", action="store_true", help="also 10,000 rows, 600 s in real time, more seeds")
    planted = part("planted", "one planted fault a row: each is found, all others accepted", _planted)
    planted.add_argument("--rows", type=int, default=20_000, help="rows with a fault; half as many others are added")
    planted.add_argument("--seed", type=int, default=18)
    for found in (whole, growth):
        found.add_argument("--concurrency", type=int, default=25)
    documents = parts.add_parser("documents", help="CVs of a migration: time compared with curl, memory")
    documents.add_argument("--people", type=int, default=5_000)
    documents.add_argument("--largest", type=int, default=10_000_000, help="bytes of a file")
    documents.add_argument("--delay", type=float, default=50, help="milliseconds until the service answers")
    documents.add_argument("--turns", type=int, default=1)
    documents.set_defaults(do=_documents)
    spreadsheets = parts.add_parser(
        "spreadsheets",
        help="results opened and saved by LibreOffice, then imported; exit code 1 if a value is sent false",
    )
    spreadsheets.add_argument("--sources", type=_names, default=list(SOURCES), help=f"some of {','.join(SOURCES)}")
    spreadsheets.add_argument("--locales", type=_names, default=list(LOCALES), help=f"some of {','.join(LOCALES)}")
    spreadsheets.set_defaults(do=_spreadsheets)
    truth = parts.add_parser("truth", help="cells whose meaning is known: how many are sent true, refused, sent false")
    truth.add_argument("--cells", type=int, default=50_000)
    truth.add_argument("--seed", type=int, default=1)
    truth.add_argument("--show", type=int, default=3, help="examples of each kind that is false or refused")
    truth.set_defaults(do=_truth)
    return parser


def main() -> None:
    """Run the command."""
    wanted = _parser().parse_args()
    try:
        wanted.do(wanted)
    except KeyboardInterrupt:
        sys.exit("interrupted; the results so far are saved")


if __name__ == "__main__":
    main()
