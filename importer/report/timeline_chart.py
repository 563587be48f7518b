"""The time line of report.html: when the service answered what, and the longer times without an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from importer.models import Timeline
from importer.report.summary import Summary
from importer.text.dates import in_words

_ANSWER_COLORS: Final = {"201": "good", "409": "there", "400": "wrong", "413": "wrong", "422": "wrong"}
_OTHER_ANSWER: Final = "open"  # 429, 5xx, no response: the request is repeated
_STACKED: Final = ("good", "there", "wrong", "open")  # from the bottom
_QUIET_INTERVALS, _QUIET_SECONDS = 3, 2  # of a time without an answer that is told


@dataclass(frozen=True, slots=True)
class _Part:
    color: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class _Interval:
    x: float
    parts: tuple[_Part, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    label: str
    count: int
    color: str


@dataclass(frozen=True, slots=True)
class TimelineChart:
    """The stacked bars of the time line, on 100 units of height and one of width for each interval."""

    intervals: list[_Interval]
    begins: str
    ends: str
    sentence: str
    pauses: list[str]
    answers: list[_Answer]


def timeline_chart(summary: Summary) -> TimelineChart | None:
    """The chart of when the service answered what; None if it answered nothing."""
    timeline, totals = summary.timeline or Timeline(1, ()), Counter[str]()
    for each in timeline.intervals:
        totals.update(each)
    if not totals:
        return None
    highest = max(sum(each.values()) for each in timeline.intervals)
    intervals = [_interval(index, each, highest) for index, each in enumerate(timeline.intervals)]
    end = summary.started_at + timedelta(seconds=timeline.step * len(intervals))
    seconds, requests = round(timeline.step * len(intervals)), totals.total()
    sentence = (
        f"{requests:,} request{'' if requests == 1 else 's'} in {in_words(max(seconds, 1))}; each bar is "
        f"{in_words(timeline.step)}, the highest {highest:,} request{'' if highest == 1 else 's'}."
    )
    answers = [_Answer(_answer_label(status), count, _answer_color(status)) for status, count in totals.most_common()]
    return TimelineChart(
        intervals,
        f"{summary.started_at:%H:%M:%S}",
        f"{end:%H:%M:%S}",
        sentence,
        list(_pauses(summary, timeline)),
        answers,
    )


def _interval(index: int, answers: Mapping[str, int], highest: int) -> _Interval:
    parts, y = [], 100.0
    for color in _STACKED:
        count = sum(number for status, number in answers.items() if _answer_color(status) == color)
        if count:
            height = 100 * count / highest
            y -= height
            parts.append(_Part(color, round(y, 2), round(height, 2)))
    return _Interval(index + 0.05, tuple(parts))


def _pauses(summary: Summary, timeline: Timeline) -> Iterator[str]:
    """The longer times without an answer, with what came before, such as responses with 429."""
    quiet = 0
    before: Mapping[str, int] = {}
    for index, answers in enumerate(timeline.intervals):
        if not answers:
            quiet += 1
            continue
        if before and quiet >= _QUIET_INTERVALS and quiet * timeline.step >= _QUIET_SECONDS:
            start, end = (summary.started_at + timedelta(seconds=timeline.step * at) for at in (index - quiet, index))
            others = Counter({status: n for status, n in before.items() if _answer_color(status) == _OTHER_ANSWER})
            after = f", after {_answer_label(others.most_common(1)[0][0])}" if others else ""
            yield f"No requests were answered from {start:%H:%M:%S} to {end:%H:%M:%S}{after}."
        quiet, before = 0, answers


def _answer_color(status: str) -> str:
    return _ANSWER_COLORS.get(status, _OTHER_ANSWER)


def _answer_label(status: str) -> str:
    """`201 created`, `503 service unavailable`, `no response`."""
    if not status.isdigit():
        return status
    outcome = {"201": "created", "409": "already exists", "400": "rejected"}.get(status)
    if outcome is None:
        try:
            outcome = HTTPStatus(int(status)).phrase.lower()
        except ValueError:
            outcome = ""
    return f"{status} {outcome}".rstrip()
