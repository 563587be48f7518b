"""Two plots for the README: whole imports and their bound, and time and memory of growing files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import growth, whole
from benchmarks.contenders import OURS, OURS_FAST
from benchmarks.results import Results, Spread
from benchmarks.svg import Drawing
from benchmarks.tables import Measured, by, of_setting, spread

WHOLE_FILE = "performance-whole.svg"
GROWTH_FILE = "performance-growth.svg"
_OURS, _OTHERS, _BOUND, _GREY, _FAINT = "#0969da", "#8c959f", "#cf222e", "#57606a", "#d8dee4"
_STEP_COLORS = {"run": _OURS, "check": "#1a7f37", "second run": "#9a6700"}
_WIDTH = 760
_BAR, _GAP, _NAMES = 16, 6, 130


def write_plots(results: Results, folder: Path) -> list[Path]:
    """Write the plots of the measurements."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for part, name, draw in ((whole.PART, WHOLE_FILE, _whole), (growth.PART, GROWTH_FILE, _growth)):
        if results.parts.get(part):
            path = folder / name
            path.write_text(str(draw(results.parts[part])), encoding="utf-8")
            written.append(path)
    return written


# --- whole imports: a panel of bars for each setting ---------------------------------------------


def _whole(measured: Sequence[Measured]) -> Drawing:
    panels = {setting: by("who", found) for setting, found in of_setting(measured).items()}
    height = 40 + sum(44 + (_BAR + _GAP) * (len(found) - (whole.BOUND in found)) for found in panels.values())
    drawing = Drawing(_WIDTH, height)
    drawing.words(12, 22, "Seconds for a whole import; shorter is better", bold=True)
    drawing.line([(520, 18), (544, 18)], _BOUND, 2, "4 3")
    drawing.words(552, 22, "the lower bound of the service", color=_GREY)
    top = 40.0
    for setting, found in panels.items():
        top = _panel(drawing, top, setting, found)
    return drawing


def _panel(drawing: Drawing, top: float, setting: str, found: dict[str, list[Measured]]) -> float:
    """Draw one setting; returns where the next begins."""
    seconds = {who: spread(times, lambda one: one["seconds"]) for who, times in found.items()}
    bound = seconds.pop(whole.BOUND, None)
    scale = (_WIDTH - _NAMES - 90) / max(one.highest for one in (*seconds.values(), *([bound] if bound else [])))
    drawing.words(12, top + 14, setting, color=_GREY)
    y = first = top + 24
    for who, times in seconds.items():
        drawing.words(_NAMES, y + 12, who, anchor="end")
        color = _OURS if who in (OURS, OURS_FAST) else _OTHERS
        drawing.rectangle(_NAMES + 8, y, times.median * scale, _BAR, color)
        if len(times.values) > 1:
            ends = [(_NAMES + 8 + value * scale, y + _BAR / 2) for value in (times.lowest, times.highest)]
            drawing.line(ends, "#24292f", 1.5)
        drawing.words(_NAMES + 14 + times.highest * scale, y + 12, f"{times.median:.1f} s")
        y += _BAR + _GAP
    if bound:
        at = _NAMES + 8 + bound.median * scale
        drawing.line([(at, first - 4), (at, y)], _BOUND, 2, "4 3")
    return y + 20


# --- growth: time and memory against the number of rows ------------------------------------------


@dataclass(frozen=True, slots=True)
class _Axes:
    """The area of a plot, and the position of a value in it."""

    left: float
    top: float
    width: float
    height: float
    x: Callable[[float], float]
    y: Callable[[float], float]


def _growth(measured: Sequence[Measured]) -> Drawing:
    drawing = Drawing(_WIDTH, 300)
    steps = {step: by("rows", found) for step, found in by("step", measured).items() if step in _STEP_COLORS}
    sizes = sorted({rows for found in steps.values() for rows in found})
    seconds = {step: _medians(found, lambda one: one["seconds"]) for step, found in steps.items()}
    memory = {step: _medians(found, lambda one: one["peak"]) for step, found in steps.items()}
    times = [value for found in seconds.values() for value in found.values()]
    lowest, highest = 10 ** math.floor(math.log10(min(times))), 10 ** math.ceil(math.log10(max(times)))
    most = 50 * math.ceil(max(value for found in memory.values() for value in found.values()) * 1.1 / 50)
    left = _axes(drawing, 60, sizes, _log(lowest, highest))
    right = _axes(drawing, 440, sizes, lambda value: value / most)
    drawing.words(left.left, 22, "Seconds, by rows of the CSV", bold=True)
    drawing.words(right.left, 22, "Peak memory in MB, by rows of the CSV", bold=True)
    _marks(drawing, left, [10**power for power in range(round(math.log10(lowest)), round(math.log10(highest)) + 1)])
    _marks(drawing, right, [most * share / 5 for share in range(6)])
    for step, color in _STEP_COLORS.items():
        if step in steps:
            _curve(drawing, left, seconds[step], color)
            _curve(drawing, right, memory[step], color)
    for index, step in enumerate(step for step in _STEP_COLORS if step in steps):
        x = 60 + 110 * index
        drawing.dot(x, 284, _STEP_COLORS[step])
        drawing.words(x + 8, 288, step)
    return drawing


def _medians(found: dict[int, list[Measured]], value: Callable[[Measured], float]) -> dict[int, float]:
    return {rows: Spread(tuple(value(one) for one in same)).median for rows, same in sorted(found.items())}


def _log(lowest: float, highest: float) -> Callable[[float], float]:
    """The position of a value between two, from 0 to 1, on a logarithmic scale."""
    width = math.log10(highest / lowest) or 1.0
    return lambda value: math.log10(value / lowest) / width


def _axes(drawing: Drawing, left: float, sizes: Sequence[int], share: Callable[[float], float]) -> _Axes:
    width, height, top = 280.0, 190.0, 40.0
    along = _log(sizes[0], sizes[-1])
    axes = _Axes(
        left,
        top,
        width,
        height,
        x=lambda rows: left + 20 + along(rows) * (width - 40),
        y=lambda value: top + height * (1 - share(value)),
    )
    drawing.line([(left, top), (left, top + height), (left + width, top + height)], _GREY)
    for rows in sizes:
        drawing.words(axes.x(rows), top + height + 18, f"{rows:,}", anchor="middle", color=_GREY)
    return axes


def _marks(drawing: Drawing, axes: _Axes, values: Sequence[float]) -> None:
    for value in values:
        y = axes.y(value)
        drawing.line([(axes.left, y), (axes.left + axes.width, y)], _FAINT)
        drawing.words(axes.left - 6, y + 4, f"{value:g}", anchor="end", color=_GREY)


def _curve(drawing: Drawing, axes: _Axes, values: dict[int, float], color: str) -> None:
    points = [(axes.x(rows), axes.y(value)) for rows, value in values.items()]
    drawing.line(points, color, 2)
    for x, y in points:
        drawing.dot(x, y, color)
