"""A value that a workbook stores, as the text that a person sees.

Dates are ISO whatever the cell's own format: `3/4/2021` on the screen is ambiguous, the stored date is not.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from importer.extract.number_format import plain_number

_PLAIN = 1e15  # below it, a whole number is its own 15 digits
_MIDNIGHT = time()
Value = str | bool | int | float | datetime | date | time | timedelta


def cell_text(value: Value) -> str:
    """The text of a stored value: no `.0`, no exponent, 15 digits; a time only where there is one."""
    return _WRITERS[type(value)](value)


def writer_of(kind: type) -> Callable[[Any], str]:
    """`cell_text` for values that are all of one type, without looking at each again."""
    return _WRITERS[kind]


def _number_text(value: float) -> str:
    return str(int(value)) if -_PLAIN < value < _PLAIN and value.is_integer() else plain_number(value)


class _Known(dict[Any, str]):
    """The texts of values of one type that were met before: dates come again and again, and are slow to write."""

    def __init__(self, write: Callable[[Any], str]) -> None:
        super().__init__()
        self._write = write

    def __missing__(self, value: Any) -> str:
        text = self._write(value)
        if len(self) < 1 << 16:
            self[value] = text
        return text


def _moment_text(value: datetime) -> str:
    value = _whole_second(value)
    return value.isoformat(" ") if value.time() != _MIDNIGHT else value.date().isoformat()


def _time_text(value: time) -> str:
    return _whole_second(datetime.combine(date(2000, 1, 1), value)).time().isoformat()


def _whole_second(value: datetime) -> datetime:
    """Serial numbers are floats: 14:30:00 comes as 14:29:59.999998."""
    return (value + timedelta(microseconds=500_000)).replace(microsecond=0) if value.microsecond else value


def _duration_text(value: timedelta) -> str:
    seconds = round(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours:02}:{rest // 60:02}:{rest % 60:02}"


_WRITERS: dict[type, Callable[[Any], str]] = {
    str: str,
    bool: {True: "TRUE", False: "FALSE"}.__getitem__,
    int: plain_number,
    float: _number_text,
    datetime: _Known(_moment_text).__getitem__,
    date: _Known(date.isoformat).__getitem__,
    time: _Known(_time_text).__getitem__,
    timedelta: _Known(_duration_text).__getitem__,
}
