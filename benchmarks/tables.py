"""What was measured, as tables in Markdown: medians, with the lowest and highest in brackets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks import growth, whole
from benchmarks.contenders import OURS, OURS_FAST, PYCURL_LOOP, REQUESTS_LOOP
from benchmarks.results import Results, Spread

Measured = dict[str, Any]
BARE_LOOPS = {OURS: REQUESTS_LOOP, OURS_FAST: PYCURL_LOOP}
"""The bare sending loop over the same transport, which the CPU of an import is compared with."""


def tables(results: Results) -> str:
    """Tables of all measured parts."""
    machine = results.machine
    lines = [
        f"Measured on {machine['measured_at'][:10]}: {machine['cores']} cores, {machine['system']} {machine['kind']},"
        f" Python {machine['python']}.",
        "",
    ]
    for part, table in _TABLES.items():
        if part in results.parts:
            lines += [*table(results.parts[part]), ""]
    lines += [f"- {note}" for note in results.notes]
    return "\n".join(lines).rstrip() + "\n"


def of_setting(measured: Sequence[Measured]) -> dict[str, list[Measured]]:
    """The measurements of whole imports by setting, in the order in which they were made."""
    found: dict[str, list[Measured]] = {}
    for one in measured:
        setting = whole.Setting(one["delay"], one["rows"], one["concurrency"], one["tls"])
        found.setdefault(str(setting), []).append(one)
    return found


def by(key: str, measured: Sequence[Measured]) -> dict[Any, list[Measured]]:
    """The measurements grouped by one of their fields."""
    found: dict[Any, list[Measured]] = {}
    for one in measured:
        found.setdefault(one[key], []).append(one)
    return found


def spread(measured: Sequence[Measured], value: Callable[[Measured], float]) -> Spread:
    """One value of several measurements."""
    return Spread(tuple(value(one) for one in measured))


# --- one table for each part --------------------------------------------------------------------


def _whole(measured: Sequence[Measured]) -> Iterator[str]:
    yield "### Whole imports"
    for setting, found in of_setting(measured).items():
        yield from ["", f"{setting}:", "", *_setting(found)]


def _setting(measured: Sequence[Measured]) -> Iterator[str]:
    contenders = by("who", measured)
    bounds = {one["turn"]: one["seconds"] for one in contenders.pop(whole.BOUND, [])}
    cpu = {who: spread(found, _cpu_per_thousand).median for who, found in contenders.items()}
    yield from _head("", "seconds", "x the bound", "CPU s per 1,000 rows", "x the bare loop's CPU", "peak MB")
    if bounds:
        yield _line(whole.BOUND, _shown(Spread(tuple(bounds.values())), 2), "1", "", "", "")
    for who, found in contenders.items():
        with_bound = [one for one in found if one["turn"] in bounds]
        ratio = _shown(spread(with_bound, lambda one: one["seconds"] / bounds[one["turn"]]), 2) if with_bound else ""
        bare = BARE_LOOPS.get(who)
        times = f"{cpu[who] / cpu[bare]:.2f}" if bare in cpu else ""
        peak = f"{spread(found, lambda one: one['peak']).highest:.0f}"
        seconds = _shown(spread(found, lambda one: one["seconds"]), 2)
        yield _line(who, seconds, ratio, _shown(spread(found, _cpu_per_thousand), 2), times, peak)


def _cpu_per_thousand(one: Measured) -> float:
    return float(1000 * one["cpu_seconds"] / one["rows"])


def _growth(measured: Sequence[Measured]) -> Iterator[str]:
    yield from ["### Files of growing size", ""]
    yield from _head("step", "rows", "seconds", "rows a second", "peak MB", "time / rows", "memory")
    for step, found in by("step", measured).items():
        smaller: list[Measured] | None = None
        for rows, same in by("rows", found).items():
            seconds = spread(same, lambda one: one["seconds"])
            peak = spread(same, lambda one: one["peak"])
            grown = _grown(smaller, same) if smaller else ("", "")
            yield _line(
                step, f"{rows:,}", _shown(seconds, 2), f"{rows / seconds.median:,.0f}", f"{peak.highest:.0f}", *grown
            )
            smaller = same


def _grown(smaller: Sequence[Measured], larger: Sequence[Measured]) -> tuple[str, str]:
    """The growth from the next smaller file, in time per row and in memory."""

    def ratio(value: Callable[[Measured], float]) -> float:
        return spread(larger, value).median / spread(smaller, value).median

    return f"x {ratio(lambda one: one['seconds'] / one['rows']):.2f}", f"x {ratio(lambda one: one['peak']):.2f}"


def _scaling(measured: Sequence[Measured]) -> Iterator[str]:
    yield from ["### A check on one core and on all", ""]
    yield from _head("cores", "rows", "seconds", "compared with one core", "first line after", "memory (MB)")
    one_core = {one["turn"]: one["seconds"] for one in measured if one["cores"] == 1}
    for cores, found in by("cores", measured).items():
        ratio = spread(found, lambda one: one["seconds"] / one_core[one["turn"]])
        seconds = _shown(spread(found, lambda one: one["seconds"]), 2)
        first_line = _shown(spread(found, lambda one: one["first_line"]), 2)
        peak = _shown(spread(found, lambda one: one["peak"]), 0)
        yield _line(str(cores), f"{found[0]['rows']:,}", seconds, _shown(ratio, 2), f"{first_line} s", peak)


_TABLES: dict[str, Callable[[Sequence[Measured]], Iterator[str]]] = {
    whole.PART: _whole,
    growth.PART: _growth,
    growth.SCALING: _scaling,
}


# --- Markdown -----------------------------------------------------------------------------------


def _shown(found: Spread, places: int) -> str:
    median = f"{found.median:.{places}f}"
    if len(found.values) == 1:
        return median
    return f"{median} ({found.lowest:.{places}f} to {found.highest:.{places}f})"


def _head(*names: str) -> Iterator[str]:
    yield _line(*names)
    yield "|" + "---|" * len(names)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
