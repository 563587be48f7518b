"""A service with a rate limit that answers 429 beyond it: how much of the limit an import uses."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.contenders import Contender, Job
from benchmarks.measuring import Failed, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.results import Results
from benchmarks.sink_process import SinkProcess
from benchmarks.whole import check_complete

PART = "refusing"


@dataclass(frozen=True, slots=True)
class Limit:
    """A token bucket: `rate` a second, `burst` at once; `retry_after` of a 429, None for no header."""

    rate: float
    burst: float
    retry_after: str | None

    def __str__(self) -> str:
        header = f"Retry-After: {self.retry_after}" if self.retry_after else "no Retry-After"
        return f"{self.rate:g} a second, {self.burst:g} at once, {header}"


def measure_refusing(
    results: Results,
    place: Place,
    limits: list[Limit],
    contender: Contender,
    *,
    rows: int,
    concurrency: int,
    turns: int,
) -> None:
    """Measure an import under each limit."""
    for limit in limits:
        show(f"{rows:,} rows, concurrency {concurrency}, limit {limit}")
        for turn in range(turns):
            try:
                _measure(results, place, limit, contender, rows, concurrency, turn)
            except Failed as failure:
                results.note(f"{contender.name}, {limit}: {failure}")
                show(f"  failed: {failure}")


def _measure(
    results: Results, place: Place, limit: Limit, contender: Contender, rows: int, concurrency: int, turn: int
) -> None:
    arguments = ["--delay", "20", "--limit", str(limit.rate), "--burst", str(limit.burst), "--conflict"]
    if limit.retry_after:
        arguments += ["--retry-after", limit.retry_after]
    with place.own_folder() as folder, SinkProcess(*arguments) as sink:
        call = contender.call(Job(place.source(rows), place.mapping, sink.url, concurrency, folder))
        spent = spend(call.command, call.environment, folder=folder)
    figures = sink.figures
    check_complete(spent, figures, rows)
    used = figures.accepted / (limit.burst + limit.rate * figures.seconds)
    refused = figures.refused / figures.requests
    results.add(
        PART,
        turn=turn,
        who=contender.name,
        rate=limit.rate,
        burst=limit.burst,
        retry_after=limit.retry_after,
        rows=rows,
        concurrency=concurrency,
        ideal_seconds=max(0.0, rows - limit.burst) / limit.rate,
        seconds=figures.seconds,
        used=used,
        refused=refused,
        twice=figures.twice,
    )
    show(
        f"  {figures.seconds:.1f} s, {used:.1%} of the limit used, {refused:.1%} of requests got 429,"
        f" {figures.twice} sent twice"
    )
