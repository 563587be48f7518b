"""Reads dates that are kept as a count of days or seconds."""

from __future__ import annotations

import re
from datetime import date, timedelta

_NUMBER = re.compile(r"([0-9]{1,15})(?:\.[0-9]*)?")
_LAST = date(2100, 12, 31)
_DAY = 86_400  # seconds
_UNIX = date(1970, 1, 1)
_EXCEL_GHOST = 60  # 29 February 1900, which Excel counts and which never was


def date_of_count(text: str, count: str) -> date | None:
    """The day that a count of date_format.COUNTS stands for, or None where the text is no such number up to 2100."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    number = int(match.group(1))
    match count:
        case "excel":
            return None if number in (0, _EXCEL_GHOST) else _after(date(1899, 12, 31), number - (number > _EXCEL_GHOST))
        case "excel_1904":
            return _after(date(1904, 1, 1), number)
        case "epoch":
            return _after(_UNIX, number // _DAY)
        case _:
            return _after(_UNIX, number // (_DAY * 1000))


def _after(first: date, days: int) -> date | None:
    return first + timedelta(days) if days <= (_LAST - first).days else None
