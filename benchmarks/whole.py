"""Whole imports of one CSV: importer and its peers in turn, compared with the bound of the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.certificate import Certificate, make_certificate
from benchmarks.contenders import Contender, Job
from benchmarks.measuring import Failed, Usage, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink import Figures
from benchmarks.sink_process import SinkProcess
from benchmarks.wrk import HOW_TO_GET, have_wrk, measure_bound

PART = "whole"
BOUND = "bound"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of the measurement: `delay` of the service in milliseconds, rows, concurrency, TLS."""

    delay: float
    rows: int
    concurrency: int
    tls: bool = False

    def __str__(self) -> str:
        tls = "TLS, " if self.tls else ""
        return f"{self.rows:,} rows, {tls}responses after {self.delay:g} ms, concurrency {self.concurrency}"


def measure_whole(
    results: Results, place: Place, settings: Sequence[Setting], contenders: Sequence[Contender], turns: int
) -> None:
    """Measure each setting: the bound and every contender, `turns` times."""
    certificate = make_certificate(place.folder) if any(setting.tls for setting in settings) else None
    for setting in settings:
        if setting.tls and certificate is None:
            results.note("TLS was skipped: there is no openssl on this machine to create a certificate")
            continue
        with_tls = certificate if setting.tls else None
        show(str(setting))
        for turn in range(turns):
            _measure_turn(results, place, setting, contenders, with_tls, turn)


def _measure_turn(
    results: Results,
    place: Place,
    setting: Setting,
    contenders: Sequence[Contender],
    certificate: Certificate | None,
    turn: int,
) -> None:
    common = {
        "turn": turn,
        "delay": setting.delay,
        "rows": setting.rows,
        "concurrency": setting.concurrency,
        "tls": setting.tls,
    }
    bound = _bound(results, place, setting, certificate)
    if bound is not None:
        results.add(PART, **common, who=BOUND, seconds=bound)
        show(f"  {BOUND:<16} {bound:8.2f} s")
    for contender in contenders:
        try:
            spent, figures = _import_once(contender, place, setting, certificate)
        except Failed as failure:
            results.note(f"{contender.name}, {setting}: {failure}")
            show(f"  {contender.name:<16} failed: {failure}")
            continue
        results.add(
            PART,
            **common,
            who=contender.name,
            seconds=spent.seconds,
            cpu_seconds=spent.cpu_seconds,
            peak=spent.peak,
            sending_seconds=figures.seconds,
            connections=figures.connections,
        )
        per_thousand = 1000 * spent.cpu_seconds / setting.rows
        ratio = f"{spent.seconds / bound:6.2f} x the bound   " if bound is not None else ""
        show(
            f"  {contender.name:<16} {spent.seconds:8.2f} s   {ratio}{per_thousand:5.2f} CPU s per 1,000 rows"
            f"   {spent.peak:5.0f} MB   sending {figures.seconds:.2f} s"
        )


def _import_once(
    contender: Contender, place: Place, setting: Setting, certificate: Certificate | None
) -> tuple[Usage, Figures]:
    source = place.source(setting.rows)
    with place.own_folder() as folder, SinkProcess("--delay", str(setting.delay), certificate=certificate) as sink:
        call = contender.call(Job(source, place.mapping, sink.url, setting.concurrency, folder, certificate))
        spent = spend(call.command, call.environment, folder=folder)
    check_complete(spent, sink.figures, setting.rows)
    return spent, sink.figures


def check_complete(spent: Usage, figures: Figures, rows: int) -> None:
    """Raise Failed if not every row was accepted exactly once."""
    if spent.exit_code or figures.accepted != rows or figures.twice:
        result = f"exit code {spent.exit_code}, {figures.accepted} of {rows} rows accepted, {figures.twice} twice"
        raise Failed(f"{result}; its output: {spent.last_output}")


def _bound(results: Results, place: Place, setting: Setting, certificate: Certificate | None) -> float | None:
    """The least seconds for the rows of the setting, or None if unknown."""
    if not have_wrk():
        results.note(HOW_TO_GET)
        return setting.rows * setting.delay / 1000 / setting.concurrency or None
    seconds = max(3.0, setting.delay / 10)  # a hundred rounds, so that an incomplete one does not matter
    with SinkProcess("--delay", str(setting.delay), certificate=certificate) as sink:
        return setting.rows / measure_bound(sink.url, setting.concurrency, seconds, place.folder).rate
