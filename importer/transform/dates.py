"""Reads dates in the declared formats only; a missing part is never taken from today's date."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from importer.mapping import Edge, ResolvedValue
from importer.problems import Unread
from importer.text.dates import COUNTS, FIRST_YEAR, LAST_YEAR, MONTH_NUMBERS, tokens
from importer.text.normalize import normalize
from importer.transform.texts import InvalidValue, in_mapping, or_leave_out, plain_digits, quoted

DATE_IN_FUTURE = "date-in-future"  # the one problem of a row that passes with time
_PATTERNS = {
    "d": r"(?P<day>[0-9]{1,2})",
    "m": r"(?P<month>[0-9]{1,2})",
    "Y": r"(?P<year>[0-9]{4})",
    "y": r"(?P<short_year>[0-9]{2})",
    "b": r"(?P<month_name>[^\W\d_]+)\.?",
    "B": r"(?P<month_name>[^\W\d_]+)\.?",
    "H": "(?:[01]?[0-9]|2[0-3])",
    "I": "(?:0?[0-9]|1[0-2])",
    "M": "[0-5]?[0-9]",
    "S": "[0-6]?[0-9]",
    "f": "[0-9]{1,9}",
    "p": r"[ap]\.?m\.?",
}
# Year, month, day in this order is unambiguous and needs no declaration.
_ISO = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[ T](?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-6][0-9](?:\.[0-9]+)?)?(?: ?[AP]M)?"
    r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?)?)?)?",
    re.IGNORECASE,
)
_NUMBER_OF_MONTH = re.compile(r"(?:[0-9]{2}){1,2}[.,]1")  # a program that takes 2023.10 for a number shows 2023.1
_DIGITS = frozenset("dmyYHIMSf")  # the codes that match digits


def date_reader(value: ResolvedValue) -> Callable[[str, bool], str | InvalidValue]:
    """A reader of dates in the declared formats, or in YYYY-MM-DD, that returns YYYY-MM-DD.

    Accepts digits of any script, full-width forms, and direction marks between them. Not valid are a text that two
    formats read as different days (YYYY-MM-DD is one of them), a date or time that does not exist, a month or year
    alone where no rule for the missing part is declared, and a count that can be another kind of number.
    """
    declared = value.formats.dates or ()
    patterns = [_pattern(date_format) for date_format in declared if date_format not in COUNTS]
    counts = [date_format for date_format in declared if date_format in COUNTS]

    def read(text: str, typed: bool) -> str | InvalidValue:
        digits = plain_digits(text)
        iso = _ISO.fullmatch(digits)
        stored = typed and iso is not None and iso["day"] is not None  # a date cell, however the sheet shows it
        if _NUMBER_OF_MONTH.fullmatch(digits) and any(pattern.fullmatch(digits) for pattern in patterns):
            message = f"{quoted(text)} can be read as January and, as a number without its last zero, as October"
            year = f"{digits[:-2]}-" if len(digits) > len("19.1") else digits[:-1]
            hint = f"write it as {year}01 or as {year}10"
            if value.spec.join:
                hint = f"join its cells by another sign, with: '-' and dates: '%Y-%m' {in_mapping(value.place)}"
            return InvalidValue("date-ambiguous", message, hint)
        matches = [match for pattern in (() if stored else patterns) if (match := pattern.fullmatch(digits))]
        if iso and (iso["month"] or not matches):  # 2005 may be declared as May 2020
            matches.append(iso)
        readings = [_read_match(match.groupdict(), text, value) for match in matches]
        counted = (_read_count(digits, count) for count in counts)
        readings += [_Reading(day, day) for day in counted if day]
        return _agreed([reading for reading in readings if reading is not None], text, value)

    return read


def _pattern(date_format: str) -> re.Pattern[str]:
    found = tokens(date_format)
    pieces = []
    for index, token in enumerate(found):
        piece = _PATTERNS[token.code] if token.code else _literal(token.literal)
        # Digits that follow each other have their full width: 1112020 may be 1 November and 11 January.
        neighbors = found[max(index - 1, 0) : index] + found[index + 1 : index + 2]
        if token.code in _DIGITS and any(other.code in _DIGITS for other in neighbors):
            piece = piece.replace("{1,2}", "{2}").replace("?[", "[")
        pieces.append(piece)
    return re.compile("".join(pieces), re.IGNORECASE)


def _literal(text: str) -> str:
    return r"\s+".join(re.escape(piece) for piece in re.split(r"\s+", plain_digits(text)))


# --- one reading ----------------------------------------------------------------------------------


class _Reading(NamedTuple):
    """A date, and the first day that the text can mean: 2026 may be read as its last day, and begins in January."""

    day: date
    first: date


def _read_match(parts: Mapping[str, str | None], text: str, value: ResolvedValue) -> _Reading | InvalidValue | None:
    """The date that the matched parts give, or None where the month name is unknown."""
    name, digits, day, formats = parts.get("month_name"), parts.get("month"), parts.get("day"), value.formats
    month = int(digits) if digits else MONTH_NUMBERS.get(normalize(name)) if name else None
    if name and month is None:
        return None
    # Formats with two-digit years declare a pivot: the first of the hundred years that they can mean.
    pivot, short = formats.pivot or FIRST_YEAR, parts.get("short_year")
    year = int(parts.get("year") or 0) if short is None else pivot + (int(short) - pivot) % 100
    if not FIRST_YEAR <= year <= LAST_YEAR:
        message = f"{quoted(text)} is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        now = "if it means until now, add it under present:, " if value.field.is_end else ""
        hint = f"correct the year; {now}if it stands for no date, add it under missing: {in_mapping(value.place)}"
        return InvalidValue("date-nonexistent", message, hint)
    if month is None and formats.missing_month is None:
        return _incomplete(text, "month", value)
    if day is None and formats.missing_day is None:
        return _incomplete(text, "day", value)
    earliest_month = month or 1
    if month is None:
        month = 1 if formats.missing_month == "first" else 12
    if not 1 <= month <= 12:
        return InvalidValue("date-nonexistent", f"{quoted(text)} has a month that does not exist", "correct the date")
    read = _day(year, month, int(day) if day else formats.missing_day or "first", text)
    if isinstance(read, InvalidValue):
        return read
    return _Reading(read, read if day else date(year, earliest_month, 1))


def _incomplete(text: str, missing: str, value: ResolvedValue) -> InvalidValue:
    hint = f"write the full date, or set missing_{missing}: first or last {in_mapping(value.place)}"
    return InvalidValue("date-incomplete", f"{quoted(text)} has no {missing}", hint)


def _day(year: int, month: int, day: int | Edge, text: str) -> date | InvalidValue:
    try:
        last = calendar.monthrange(year, month)[1]
        return date(year, month, {"first": 1, "last": last}[day] if isinstance(day, str) else day)
    except ValueError:
        return InvalidValue("date-nonexistent", f"{quoted(text)} is a date that does not exist", "correct the date")


# --- dates stored as a count of days or seconds ---------------------------------------------------

_COUNT = re.compile(r"([0-9]{1,15})(?:\.[0-9]*)?")
_DAYS_SINCE_1900 = re.compile(r"[2-5][0-9]{4}")  # 1954 to 2064
_SECONDS_OF_DAY = 86_400
_UNIX = date(1970, 1, 1)
_EXCEL_LEAP_BUG = 60  # Excel counts 29 February 1900, which did not exist
_LIKE_A_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01]))?")
# Below are days in a column of seconds, seconds in one of milliseconds, and zeros for a blank.
_LEAST_COUNT = {"epoch": 2 * 86_400, "epoch_ms": 30 * 86_400_000}
_LEAST_WITH_FRACTION = 10_000  # 31.05 is a day and a month


def _read_count(text: str, count: str) -> date | None:
    """The date of a count in one of COUNTS, or None where the text is not a count or the date is after LAST_YEAR.

    Also None where the number is more likely a year, a date in digits, or a count in another unit.
    """
    match = _COUNT.fullmatch(text)
    if match is None or _LIKE_A_DATE.fullmatch(text):
        return None
    number = int(match.group(1))
    if number < _LEAST_COUNT.get(count, 0) or ("." in text and number < _LEAST_WITH_FRACTION):
        return None
    match count:
        case "excel":
            return (
                None
                if number in (0, _EXCEL_LEAP_BUG)
                else _after(date(1899, 12, 31), number - (number > _EXCEL_LEAP_BUG))
            )
        case "excel_1904":
            return _after(date(1904, 1, 1), number)
        case "epoch":
            return _after(_UNIX, number // _SECONDS_OF_DAY)
        case _:
            return _after(_UNIX, number // (_SECONDS_OF_DAY * 1000))


def _after(first: date, days: int) -> date | None:
    return first + timedelta(days) if days <= (date(LAST_YEAR, 12, 31) - first).days else None


# --- all readings ---------------------------------------------------------------------------------


def _agreed(readings: list[_Reading | InvalidValue], text: str, value: ResolvedValue) -> str | InvalidValue:
    valid = [reading for reading in readings if not isinstance(reading, InvalidValue)]
    days = sorted({reading.day for reading in valid})
    if len(days) == 1:
        if value.latest is not None and min(reading.first for reading in valid) > value.latest:
            may_be_right = "" if value.field.is_birth else f", or set future: allow {in_mapping(value.place)}"
            hint = f"correct the date{may_be_right}"
            return InvalidValue(DATE_IN_FUTURE, f"{quoted(text)} is in the future", hint)
        return days[0].isoformat()
    if days:
        message = f"{quoted(text)} can be read as {' and as '.join(day.isoformat() for day in days)}"
        hint = f"write it as YYYY-MM-DD, or keep only one date format {in_mapping(value.place)}"
        return InvalidValue("date-ambiguous", message, hint)
    invalid = [reading for reading in readings if isinstance(reading, InvalidValue)]
    return invalid[0] if invalid else _invalid(text, value)


def _invalid(text: str, value: ResolvedValue) -> InvalidValue:
    formats = " or ".join(value.formats.dates or ("YYYY-MM-DD",))
    message = f"{quoted(text)} is not a date in the format {formats}"
    hint = f"write it as YYYY-MM-DD, or add its format under dates: {in_mapping(value.place)}"
    if _DAYS_SINCE_1900.fullmatch(text):
        hint = "write it as YYYY-MM-DD; or, if it is a number of days, add excel (of a workbook with the 1904 date "
        hint += f"system: excel_1904) under dates: {in_mapping(value.place)}"
    if not any(character.isdigit() for character in text):  # a word like `soon` is not a date in another format
        until_now = "; if it means until now, add it under present:" if value.field.is_end else ""
        hint = (
            f"write it as YYYY-MM-DD, or give it a date under values: (with otherwise: keep) {in_mapping(value.place)}"
        )
        hint += until_now + or_leave_out(value)
    return InvalidValue("date-invalid", message, hint, Unread(text, value.place))
