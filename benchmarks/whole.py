"""Whole imports of one CSV: importer and its peers in turn, beside what the service allows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.candidates import write_mapping, write_source
from benchmarks.certificate import Certificate, make_certificate
from benchmarks.contenders import Contender, Job
from benchmarks.measuring import Failed, Spent, spend
from benchmarks.results import Results
from benchmarks.sink import Figures
from benchmarks.sink_process import SinkProcess
from benchmarks.telling import say
from benchmarks.wrk import HOW_TO_GET, have_wrk, measure_bound

PART = "whole"
BOUND = "bound"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in which all are measured: `delay` of the service in milliseconds, rows, with TLS or without."""

    delay: float
    rows: int
    tls: bool = False

    def __str__(self) -> str:
        return f"{self.rows:,} rows, {'TLS, ' if self.tls else ''}answers after {self.delay:g} ms"


@dataclass(frozen=True, slots=True)
class _Place:
    folder: Path
    mapping: Path
    certificate: Certificate | None
    in_flight: int


def measure_whole(
    results: Results, settings: Sequence[Setting], contenders: Sequence[Contender], *, in_flight: int, turns: int
) -> None:
    """Each setting in turn; in it the bound and every contender, `turns` times around."""
    with tempfile.TemporaryDirectory(prefix="importer-bench-") as name:
        folder = Path(name)
        certificate = make_certificate(folder) if any(setting.tls for setting in settings) else None
        place = _Place(folder, write_mapping(folder / "mapping.yaml"), certificate, in_flight)
        for setting in settings:
            if setting.tls and certificate is None:
                results.note("TLS was left out: there is no openssl on this machine to make a certificate with")
                continue
            _measure_setting(results, setting, contenders, place, turns)


def _measure_setting(
    results: Results, setting: Setting, contenders: Sequence[Contender], place: _Place, turns: int
) -> None:
    source = write_source(place.folder / f"{setting.rows}.csv", setting.rows)
    told = {"delay": setting.delay, "rows": setting.rows, "tls": setting.tls, "in_flight": place.in_flight}
    say(f"{setting}, {place.in_flight} in flight")
    for _ in range(turns):
        seconds = _bound(results, setting, place)
        results.add(PART, **told, who=BOUND, seconds=seconds)
        say(f"  {BOUND:<16} {seconds:8.2f} s")
        for contender in contenders:
            try:
                spent, figures = import_once(contender, setting, source, place)
            except Failed as failure:
                results.note(f"{contender.name}, {setting}: {failure}")
                say(f"  {contender.name:<16} failed: {failure}")
                continue
            results.add(
                PART,
                **told,
                who=contender.name,
                seconds=spent.seconds,
                cpu_seconds=spent.cpu_seconds,
                peak=spent.peak,
                sending_seconds=figures.seconds,
                connections=figures.connections,
            )
            per_thousand = 1000 * spent.cpu_seconds / setting.rows
            say(
                f"  {contender.name:<16} {spent.seconds:8.2f} s   {spent.seconds / seconds:5.2f} x the bound"
                f"   {per_thousand:5.2f} CPU s per 1,000 rows   {spent.peak:5.0f} MB   sending {figures.seconds:.2f} s"
            )


def import_once(contender: Contender, setting: Setting, source: Path, place: _Place) -> tuple[Spent, Figures]:
    """One whole import.

    Raises:
        Failed: it did not send every row exactly once.
    """
    folder = Path(tempfile.mkdtemp(dir=place.folder))
    certificate = place.certificate if setting.tls else None
    try:
        with SinkProcess("--delay", str(setting.delay), certificate=certificate) as sink:
            call = contender.call(Job(source, place.mapping, sink.url, place.in_flight, folder, certificate))
            spent = spend(call.command, call.environment, folder=folder)
    finally:
        shutil.rmtree(folder)
    refuse_wrong(spent, sink.figures, setting.rows)
    return spent, sink.figures


def refuse_wrong(spent: Spent, figures: Figures, rows: int) -> None:
    """Raises Failed where not every row was taken exactly once."""
    if spent.exit_code or figures.taken != rows or figures.twice:
        told = f"exit code {spent.exit_code}, {figures.taken} of {rows} rows taken, {figures.twice} twice"
        raise Failed(f"{told}; it said: {spent.output[-1500:]}")


def _bound(results: Results, setting: Setting, place: _Place) -> float:
    """Seconds for so many rows."""
    if not have_wrk():
        results.note(HOW_TO_GET)
        return setting.rows * setting.delay / 1000 / place.in_flight or float("nan")
    certificate = place.certificate if setting.tls else None
    seconds = max(3.0, setting.delay / 10)  # a hundred rounds, so that one that is cut short does not matter
    with SinkProcess("--delay", str(setting.delay), certificate=certificate) as sink:
        return setting.rows / measure_bound(sink.url, place.in_flight, seconds, place.folder).rate
