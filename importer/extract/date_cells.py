"""Dates and times that readers return wrongly: numbers that no date has, and dates as text (ISO 8601).

Excel counts days from 1 January 1900 = 1 and believes that 29 February 1900 = 60 exists, or from 1 January 1904 = 0.
It shows #### for a number that no date has, and 00.01.1900 for 0. calamine (0.9) returns a time of day for both.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, time, timedelta
from functools import lru_cache
from typing import Final

from importer.extract.cell_flags import CellStyles, Fault
from importer.extract.cell_text import Value, plain_number, quoted
from importer.extract.number_format import DateKind
from importer.problems import Problem

_FIRST_OF_1904: Final = datetime(1904, 1, 1)
_DAY_0: Final = datetime(1899, 12, 30)
_LEAP_DAY_1900: Final = 60
_END: Final = 2_958_466  # the day after 31 December 9999
_BETWEEN_SYSTEMS: Final = 1_462  # days from one first day to the other
_NARROW: Final = "####"
_TYPE_IT: Final = "type the right date into the cell, or clear the cell"
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?)?|\d\d:\d\d:\d\d(?:\.\d+)?", re.ASCII)
_DURATION: Final = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?", re.ASCII)


def corrected_date(serial: float, styles: CellStyles, style: int) -> Fault | Value | None:
    """What is read of a number in a cell with the format of a date; None if every reader does it right.

    >>> times = CellStyles(dates={3: DateKind.TIME})
    >>> corrected_date(-1, times, 3).text, corrected_date(0, times, 3), corrected_date(44270, times, 3)
    ('####', None, None)
    """
    shown, kind, is_1904 = plain_number(serial), styles.dates[style], styles.is_1904
    end = _END - _BETWEEN_SYSTEMS if is_1904 else _END
    if serial >= end or (serial < 0 and not (is_1904 and kind is DateKind.DURATION)):
        reason = "is below zero" if serial < 0 else "is after the last possible day"
        message = f"the cell shows a date or time as {_NARROW}, because its number, {shown}, {reason}"
        return _fault(_NARROW, message)
    if kind is not DateKind.DATE:
        return None
    if is_1904:
        return _FIRST_OF_1904 + timedelta(days=serial) if serial < 1 else None
    if serial < 1:
        return _fault("1900-01-00", f"the cell shows the day 00.01.1900, because its number is {shown}")
    if math.floor(serial) == _LEAP_DAY_1900:
        return _fault("1900-02-29", "the cell shows 29 February 1900, a day that does not exist")
    return None


def date_of(serial: float, styles: CellStyles, style: int) -> Value:
    """The date, time or duration of a number for which `corrected_date` is None.

    >>> times = CellStyles(dates={3: DateKind.DATE})
    >>> str(date_of(59, times, 3)), str(date_of(44270, times, 3))
    ('1900-02-28 00:00:00', '2021-03-15 00:00:00')
    """
    kind, length = styles.dates[style], timedelta(days=serial)
    if kind is DateKind.DURATION:
        return length
    if kind is DateKind.TIME and serial < 1:
        return (_FIRST_OF_1904 + length).time()
    if styles.is_1904:
        return _FIRST_OF_1904 + length
    return (_DAY_0 if serial > _LEAP_DAY_1900 else _DAY_0 + timedelta(days=1)) + length


@lru_cache(maxsize=4096)
def iso_date(text: str) -> Fault | Value | None:
    """What is read of a date, time or duration that a cell stores as text; None if every reader does it right.

    A `Z` at its end is left out: spreadsheet programs show date and time as they are written. An offset is a fault.
    """
    if duration := _DURATION.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in duration.groups()[1:])
        length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return -length if duration[1] else length
    bare = text.removesuffix("Z")
    try:
        if not _ISO.fullmatch(bare):
            raise ValueError
        value = time.fromisoformat(bare) if bare[2] == ":" else datetime.fromisoformat(bare)
    except ValueError:
        return _fault(text, f"{quoted(text)} is not a date or time that every program reads in the same way")
    if bare == text:
        return None
    return value.date() if isinstance(value, datetime) and len(bare) == len("2021-03-15") else value


def is_in_utc(text: str) -> bool:
    """Whether a date stored as text names the time zone UTC."""
    return text.endswith("Z")


def _fault(text: str, message: str) -> Fault:
    return Fault(text, Problem("cell-error", message, _TYPE_IT))
