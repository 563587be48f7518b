"""Reads dates in the declared formats only; a missing part is never taken from today's date."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from importer.mapping import Edge, ResolvedValue
from importer.problems import Unread
from importer.text.dates import COUNTS, FIRST_YEAR, LAST_YEAR, month_numbers, tokens
from importer.text.normalize import normalize
from importer.transform.texts import InvalidValue, in_mapping, quoted

_PATTERNS = {
    "d": r"(?P<day>[0-9]{1,2})",
    "m": r"(?P<month>[0-9]{1,2})",
    "Y": r"(?P<year>[0-9]{4})",
    "y": r"(?P<short_year>[0-9]{2})",
    "b": r"(?P<month_name>[^\W\d_]+)\.?",
    "B": r"(?P<month_name>[^\W\d_]+)\.?",
    "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "f": "[0-9]{1,9}",
    "p": r"[ap]\.?m\.?",
}
# Year, month, day in this order is unambiguous and needs no declaration.
_ISO = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?)?)?"
)


def date_reader(value: ResolvedValue) -> Callable[[str, bool], str | InvalidValue]:
    """A reader of dates in the declared formats, or in YYYY-MM-DD, that returns YYYY-MM-DD.

    Not valid are a text that two declared formats read as different days, a date that does not exist, and a month or
    year alone where no rule for the missing part is declared.
    """
    declared = value.formats.dates or ()
    patterns = [_pattern(date_format) for date_format in declared if date_format not in COUNTS]
    counts = [date_format for date_format in declared if date_format in COUNTS]
    months = month_numbers(value.formats.months or ("en",))

    def read(text: str, typed: bool) -> str | InvalidValue:
        iso = _ISO.fullmatch(text)
        matches = [iso] if iso else [pattern.fullmatch(text) for pattern in patterns]
        readings = [_read_match(match.groupdict(), months, text, value) for match in matches if match]
        readings += [_read_count(text, count) for count in counts]
        return _agreed([reading for reading in readings if reading is not None], text, value)

    return read


def _pattern(date_format: str) -> re.Pattern[str]:
    pieces = [_PATTERNS[token.code] if token.code else _literal(token.literal) for token in tokens(date_format)]
    return re.compile("".join(pieces), re.IGNORECASE)


def _literal(text: str) -> str:
    return r"\s+".join(re.escape(piece) for piece in re.split(r"\s+", text))


# --- one reading ----------------------------------------------------------------------------------


def _read_match(
    parts: Mapping[str, str | None], months: Mapping[str, int], text: str, value: ResolvedValue
) -> date | InvalidValue | None:
    """The date that the matched parts give, or None where the month name is unknown."""
    name, digits, day, formats = parts.get("month_name"), parts.get("month"), parts.get("day"), value.formats
    month = int(digits) if digits else months.get(normalize(name)) if name else None
    if name and month is None:
        return None
    # Formats with two-digit years declare a pivot: the first of the hundred years that they can mean.
    pivot, short = formats.pivot or FIRST_YEAR, parts.get("short_year")
    year = int(parts.get("year") or 0) if short is None else pivot + (int(short) - pivot) % 100
    if not FIRST_YEAR <= year <= LAST_YEAR:
        message = f"{quoted(text)} is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        return InvalidValue("date-out-of-range", message, "correct the year")
    if month is None and formats.missing_month is None:
        return _incomplete(text, "month", value)
    if day is None and formats.missing_day is None:
        return _incomplete(text, "day", value)
    if month is None:
        month = 1 if formats.missing_month == "first" else 12
    if not 1 <= month <= 12:
        return InvalidValue("date-nonexistent", f"{quoted(text)} has a month that does not exist", "correct the date")
    return _day(year, month, int(day) if day else formats.missing_day or "first", text)


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
_SECONDS_OF_DAY = 86_400
_UNIX = date(1970, 1, 1)
_EXCEL_LEAP_BUG = 60  # Excel counts 29 February 1900, which did not exist


def _read_count(text: str, count: str) -> date | None:
    """The date of a count in one of COUNTS, or None where the text is not a count or the date is after LAST_YEAR."""
    match = _COUNT.fullmatch(text)
    if match is None:
        return None
    number = int(match.group(1))
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


def _agreed(readings: list[date | InvalidValue], text: str, value: ResolvedValue) -> str | InvalidValue:
    days = sorted({reading for reading in readings if not isinstance(reading, InvalidValue)})
    if len(days) == 1:
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
    if not any(character.isdigit() for character in text):
        # A word like `soon` is probably not a date in another format.
        hint = f"{hint}; if it means an empty cell, add it under missing:"
    return InvalidValue("date-invalid", message, hint, Unread(text, value.place))
