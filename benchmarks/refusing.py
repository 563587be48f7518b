"""A service that allows so many requests a second and answers 429 beyond: how much of that an import uses."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.contenders import Contender, Job
from benchmarks.measuring import Failed, spend
from benchmarks.place import Place
from benchmarks.results import Results
from benchmarks.sink_process import SinkProcess
from benchmarks.telling import say
from benchmarks.whole import refuse_wrong

PART = "refusing"


@dataclass(frozen=True, slots=True)
class Limit:
    """A token bucket: `rate` a second, `burst` at once; `retry_after` is what a 429 says, None for nothing."""

    rate: float
    burst: float
    retry_after: str | None

    def __str__(self) -> str:
        says = f"Retry-After: {self.retry_after}" if self.retry_after else "no Retry-After"
        return f"{self.rate:g} a second, {self.burst:g} at once, {says}"


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
    """An import under each limit."""
    for limit in limits:
        say(f"{rows:,} rows, {concurrency} in flight, a service that allows {limit}")
        for turn in range(turns):
            try:
                _measure(results, place, limit, contender, rows, concurrency, turn)
            except Failed as failure:
                results.note(f"{contender.name}, {limit}: {failure}")
                say(f"  failed: {failure}")


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
    refuse_wrong(spent, figures, rows)
    used = figures.taken / (limit.burst + limit.rate * figures.seconds)
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
    say(
        f"  {figures.seconds:.1f} s, {used:.1%} of what is allowed was used, {refused:.1%} of requests refused,"
        f" {figures.twice} sent twice"
    )
