"""A value that a workbook stores, as the text that a person sees.

Dates are ISO whatever the cell's own format: `3/4/2021` on the screen is ambiguous, the stored date is not.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal

Value = str | bool | int | float | datetime | date | time | timedelta

_DIGITS = 15  # what a spreadsheet keeps of a number
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[_*].')
_ZEROS = re.compile(r"[0 ()/.\-]*0[0 ()/.\-]*")
_DECIMALS = re.compile(r"[.,]|E[+-]", re.IGNORECASE)


def cell_text(value: Value, number_format: str = "General") -> str:
    """The text of a stored value: no `.0`, no exponent, 15 digits; zeros and percent as the number format says."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number_text(value, number_format)
    if isinstance(value, timedelta):
        return _duration_text(value)
    return _moment_text(value)


def plain_number(value: int | float) -> str:
    """A number without exponent and without `.0`, to the 15 digits that a spreadsheet keeps.

    >>> plain_number(905321234567.0), plain_number(0.1 + 0.2), plain_number(1e-7)
    ('905321234567', '0.3', '0.0000001')
    """
    if isinstance(value, int) and abs(value) < 10**_DIGITS:
        return str(value)
    text = f"{value:.{_DIGITS}g}"
    if "e" in text:
        text = format(Decimal(text), "f")
    return "0" if text == "-0" else text


def _number_text(value: int | float, number_format: str) -> str:
    if number_format == "General":
        return plain_number(value)
    section = number_format.split(";")[0]
    bare = _QUOTED.sub("", section)
    if "%" in bare:
        return plain_number(float(Decimal(repr(value)) * 100)) + "%"
    if value == int(value) and _ZEROS.fullmatch(bare) and not _DECIMALS.search(bare):
        return _leading_plus(section) + _with_zeros(int(value), bare.count("0"))
    return plain_number(value)


def _leading_plus(section: str) -> str:
    return "+" if re.match(r'\\\+|"\+"|\+', section) else ""


def _with_zeros(value: int, width: int) -> str:
    sign = "-" if value < 0 else ""
    return sign + plain_number(abs(value)).zfill(width)


def _moment_text(value: datetime | date | time) -> str:
    if isinstance(value, datetime):
        value = _whole_second(value)
        return value.strftime("%Y-%m-%d %H:%M:%S") if value.time() != time() else _date_text(value)
    if isinstance(value, time):
        return _whole_second(datetime.combine(date(2000, 1, 1), value)).strftime("%H:%M:%S")
    return _date_text(value)


def _date_text(value: date) -> str:
    return f"{value.year:04}-{value.month:02}-{value.day:02}"


def _whole_second(value: datetime) -> datetime:
    """Serial numbers are floats: 14:30:00 comes as 14:29:59.999998."""
    return (value + timedelta(microseconds=500_000)).replace(microsecond=0)


def _duration_text(value: timedelta) -> str:
    seconds = round(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours:02}:{rest // 60:02}:{rest % 60:02}"
