"""Whole imports of one CSV: importer and its peers in turn, beside what the service allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.certificate import Certificate, make_certificate
from benchmarks.contenders import Contender, Job
from benchmarks.measuring import Failed, Spent, spend
from benchmarks.place import Place
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
    concurrency: int
    tls: bool = False

    def __str__(self) -> str:
        tls = "TLS, " if self.tls else ""
        return f"{self.rows:,} rows, {tls}answers after {self.delay:g} ms, concurrency {self.concurrency}"


def measure_whole(
    results: Results, place: Place, settings: Sequence[Setting], contenders: Sequence[Contender], turns: int
) -> None:
    """Each setting in turn; in it the bound and every contender, `turns` times around."""
    certificate = make_certificate(place.folder) if any(setting.tls for setting in settings) else None
    for setting in settings:
        if setting.tls and certificate is None:
            results.note("TLS was left out: there is no openssl on this machine to make a certificate with")
            continue
        with_tls = certificate if setting.tls else None
        say(str(setting))
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
    told = {
        "turn": turn,
        "delay": setting.delay,
        "rows": setting.rows,
        "concurrency": setting.concurrency,
        "tls": setting.tls,
    }
    bound = _bound(results, place, setting, certificate)
    if bound is not None:
        results.add(PART, **told, who=BOUND, seconds=bound)
        say(f"  {BOUND:<16} {bound:8.2f} s")
    for contender in contenders:
        try:
            spent, figures = _import_once(contender, place, setting, certificate)
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
        ratio = f"{spent.seconds / bound:6.2f} x the bound   " if bound is not None else ""
        say(
            f"  {contender.name:<16} {spent.seconds:8.2f} s   {ratio}{per_thousand:5.2f} CPU s per 1,000 rows"
            f"   {spent.peak:5.0f} MB   sending {figures.seconds:.2f} s"
        )


def _import_once(
    contender: Contender, place: Place, setting: Setting, certificate: Certificate | None
) -> tuple[Spent, Figures]:
    source = place.source(setting.rows)
    with place.own_folder() as folder, SinkProcess("--delay", str(setting.delay), certificate=certificate) as sink:
        call = contender.call(Job(source, place.mapping, sink.url, setting.concurrency, folder, certificate))
        spent = spend(call.command, call.environment, folder=folder)
    refuse_wrong(spent, sink.figures, setting.rows)
    return spent, sink.figures


def refuse_wrong(spent: Spent, figures: Figures, rows: int) -> None:
    """Raises Failed where not every row was taken exactly once."""
    if spent.exit_code or figures.taken != rows or figures.twice:
        told = f"exit code {spent.exit_code}, {figures.taken} of {rows} rows taken, {figures.twice} twice"
        raise Failed(f"{told}; it said: {spent.last_words}")


def _bound(results: Results, place: Place, setting: Setting, certificate: Certificate | None) -> float | None:
    """Seconds for so many rows; None where nothing tells."""
    if not have_wrk():
        results.note(HOW_TO_GET)
        return setting.rows * setting.delay / 1000 / setting.concurrency or None
    seconds = max(3.0, setting.delay / 10)  # a hundred rounds, so that one that is cut short does not matter
    with SinkProcess("--delay", str(setting.delay), certificate=certificate) as sink:
        return setting.rows / measure_bound(sink.url, setting.concurrency, seconds, place.folder).rate
