"""Reads dates by declared formats only; nothing missing is ever filled in from today."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from importer.mapping import Edge, Formats, ResolvedValue
from importer.text.dates import COUNTS, month_numbers, tokens
from importer.text.normalize import normalize
from importer.transform.date_counts import date_of_count
from importer.transform.refusal import Refusal, in_mapping, quoted

FIRST_YEAR, LAST_YEAR = 1900, 2100
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
# Year, month, day in this order cannot be misread, so that this form needs no declaration.
_ISO = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?)?)?"
)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a text says of a date."""

    year: int
    month: int | None
    day: int | None


def date_reader(value: ResolvedValue) -> Callable[[str, bool], str | Refusal]:
    """A reader of dates into YYYY-MM-DD: by the declared formats, and YYYY-MM-DD always.

    A text that two declared formats read as different days is refused; so is a day that does not exist, and a
    text that says a month or year only where no rule for the rest is declared.
    """
    declared = value.formats.dates or ()
    patterns = [_pattern(date_format) for date_format in declared if date_format not in COUNTS]
    counts = [date_format for date_format in declared if date_format in COUNTS]
    calendar_words = _Words(month_numbers(value.formats.months or ("en",)), value.formats.pivot or FIRST_YEAR)

    def read(text: str, typed: bool) -> str | Refusal:
        iso = _ISO.fullmatch(text)
        matches = [iso] if iso else [pattern.fullmatch(text) for pattern in patterns]
        said = [calendar_words.parts(match) for match in matches if match]
        readings = [_complete(parts, text, value) for parts in said if parts]
        readings += [day for day in (date_of_count(text, count) for count in counts) if day]
        return _agreed(readings, text, value)

    return read


def _pattern(date_format: str) -> re.Pattern[str]:
    pieces = [_PATTERNS[token.code] if token.code else _literal(token.literal) for token in tokens(date_format)]
    return re.compile("".join(pieces), re.IGNORECASE)


def _literal(text: str) -> str:
    return r"\s+".join(re.escape(piece) for piece in re.split(r"\s+", text))


@dataclass(frozen=True, slots=True)
class _Words:
    """What months are called, and the year from which two-digit years count (formats that have them declare one)."""

    months: dict[str, int]
    pivot: int

    def parts(self, match: re.Match[str]) -> _Parts | None:
        """What a text says, or None where its month has no such name."""
        said = match.groupdict()
        month, name, day = said.get("month"), said.get("month_name"), said.get("day")
        number = int(month) if month else self.months.get(normalize(name)) if name else None
        if name and number is None:
            return None
        return _Parts(self._year(said), number, int(day) if day else None)

    def _year(self, said: dict[str, str | None]) -> int:
        short = said.get("short_year")
        if short is None:
            return int(said["year"] or 0)
        return self.pivot + (int(short) - self.pivot) % 100


def _complete(parts: _Parts, text: str, value: ResolvedValue) -> date | Refusal:
    if not FIRST_YEAR <= parts.year <= LAST_YEAR:
        message = f"{quoted(text)} is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        return Refusal("date-out-of-range", message, "correct the year")
    formats = value.formats
    if parts.month is None and formats.missing_month is None:
        return _incomplete(text, "month", value)
    if parts.day is None and formats.missing_day is None:
        return _incomplete(text, "day", value)
    if parts.month is not None and not 1 <= parts.month <= 12:
        return Refusal("date-impossible", f"{quoted(text)} has a month that does not exist", "correct the date")
    month = parts.month or (1 if formats.missing_month == "first" else 12)
    return _day(parts.year, month, parts.day or formats.missing_day or "first", text)


def _day(year: int, month: int, day: int | Edge, text: str) -> date | Refusal:
    try:
        last = calendar.monthrange(year, month)[1]
        return date(year, month, {"first": 1, "last": last}[day] if isinstance(day, str) else day)
    except ValueError:
        return Refusal("date-impossible", f"{quoted(text)} is a day that does not exist", "correct the date")


def _incomplete(text: str, lacking: str, value: ResolvedValue) -> Refusal:
    hint = f"write the whole date, or declare missing_{lacking}: first or last {in_mapping(value.place)}"
    return Refusal("date-incomplete", f"{quoted(text)} has no {lacking}", hint)


def _agreed(readings: list[date | Refusal], text: str, value: ResolvedValue) -> str | Refusal:
    days = sorted({reading for reading in readings if not isinstance(reading, Refusal)})
    if len(days) == 1:
        return days[0].isoformat()
    if days:
        message = f"{quoted(text)} can be read as {' and as '.join(day.isoformat() for day in days)}"
        hint = f"write it as YYYY-MM-DD, or keep one date format {in_mapping(value.place)}"
        return Refusal("date-ambiguous", message, hint)
    refusals = [reading for reading in readings if isinstance(reading, Refusal)]
    return refusals[0] if refusals else _unreadable(text, value.formats, value)


def _unreadable(text: str, formats: Formats, value: ResolvedValue) -> Refusal:
    if not formats.dates:
        hint = f"write it as YYYY-MM-DD, or declare its format under dates: {in_mapping(value.place)}"
        return Refusal(
            "date-unreadable",
            f"{quoted(text)} is no date YYYY-MM-DD, and no format is declared",
            _or_missing(text, hint),
        )
    message = f"{quoted(text)} is no date in the declared form {' or '.join(formats.dates)}"
    hint = f"write it as YYYY-MM-DD, or add its format under dates: {in_mapping(value.place)}"
    return Refusal("date-unreadable", message, _or_missing(text, hint))


def _or_missing(text: str, hint: str) -> str:
    """A word, as `soon`, is rather no date at all than one of another form."""
    return hint if any(sign.isdigit() for sign in text) else f"{hint}; if it says nothing, add it under missing:"
