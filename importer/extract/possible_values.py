"""The values that a spreadsheet program, in any locale, may take a text for when it opens a CSV, and their forms.

`0012` becomes 12, `1-2` a date, `45.000` 45 or 45000. What the program saves then differs from the text, although no
person changed it. In a known form, a text has one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from importer.text.dates import LANGUAGES, month_numbers
from importer.text.normalize import normalize

_SPACES: Final = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})
_TRUE: Final = ("true", "wahr", "vrai", "doğru", "verdadero", "vero", "verdadeiro", "waar", "prawda")
_FALSE: Final = ("false", "falsch", "faux", "yanlış", "falso", "onwaar", "fałsz")
_WORDS: Final = {normalize(word): word in _TRUE for word in (*_TRUE, *_FALSE)}
_MONTHS: Final = month_numbers(list(LANGUAGES))
_TIME = re.compile(r"(?:^|[ T,]+)(\d{1,3}):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(?: ?([ap])\.?m\.?)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"([ ./,-]+|(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d]))")  # MAR1 is a date to some programs
_AMOUNT = re.compile(r"(?:[$€£₺¥]|tl|try|eur|usd|gbp) ?|(?: ?(?:[$€£₺¥]|tl|try|eur|usd|gbp))$", re.IGNORECASE)
_NUMBERS: Final = {
    f"1{thousands}000{decimal}0": re.compile(
        rf"([+-]?)([0-9]*|[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+)"
        rf"(?:{re.escape(decimal)}([0-9]*))?(?:E([+-]?[0-9]{{1,3}}))?( ?%)?",
        re.IGNORECASE,
    )
    for decimal in ".,"
    for thousands in ("", ".", ",", " ", "'")
    if decimal != thousands
}
_STORED_DIGITS = 15
_DAY = 86_400  # seconds


class Moment(NamedTuple):
    """A date, with the digits of its year that are known and a day of 0 if it has none; a time alone has month 0."""

    year: str
    month: int
    day: int
    seconds: int


class Number(NamedTuple):
    """A number. `digits`: how many of them are reliable. A percentage is not the number without the sign."""

    value: Decimal
    digits: int
    is_percent: bool


Value = Moment | Number | bool


class Reading(NamedTuple):
    """A value of a text; the form in which a program that writes it so writes others, "" if that is unknown; and the
    text that Row writes for it, "" if a part of it is unknown.

    A form is an example or has codes: `1.000,0`, `words`, `DD/MM/YYYY`, `MMM-YY`. Of a time it says nothing.
    """

    value: Value
    form: str
    text: str


@lru_cache(maxsize=65_536)
def readings(text: str) -> tuple[Reading, ...]:
    """Every value of the text in any locale, in each form; none if it is only text.

    >>> sorted({str(each.value.value) for each in readings("45.000")})
    ['45000', '45.000']
    """
    plain = text.translate(_SPACES).strip()
    if (value := _WORDS.get(normalize(plain))) is not None:
        return (Reading(value, "words", str(value).upper()),)
    if not any(each.isdecimal() for each in plain):
        return ()
    return (*_moments(plain), *_numbers(plain))


def same(before: Value, after: Value) -> bool:
    """Whether a program that took a text for the value `before` may save `after`."""
    match before, after:
        case Moment(), Moment():
            years = before.year.endswith(after.year) or after.year.endswith(before.year)
            days = before.day == after.day or (before.day == 0 and after.day == 1)
            return years and days and before.month == after.month and before.seconds == after.seconds
        case Number(), Number():
            digits = min(before.digits, after.digits)
            difference = abs(before.value - after.value)
            exact = digits > _STORED_DIGITS
            return before.is_percent == after.is_percent and (
                not difference if exact else difference <= abs(before.value).scaleb(1 - digits)
            )
        case bool(), bool():
            return before == after
    return False


def _moments(text: str) -> Iterator[Reading]:
    seconds, time = 0, _TIME.search(text)
    if time:
        hours, half = int(time[1]), (time[4] or "").lower()
        hours = hours % 12 + (12 if half == "p" else 0) if half else hours
        seconds = hours * 3600 + int(time[2]) * 60 + int(time[3] or 0)
        text = text[: time.start()]
        if not text:
            yield Reading(Moment("", 0, 0, seconds), "", "")
            return
    parts = _BETWEEN.split(normalize(text).rstrip(" ./,-"))
    if not parts[0] or len(parts) not in (3, 5):  # a sign is in front, or there are not two or three parts
        return
    for order in ("MD", "DM", "YM", "MY") if len(parts) == 3 else ("YMD", "DMY", "MDY"):
        part = dict(zip(order, parts[::2], strict=True))
        year, month, day = part.get("Y", ""), part["M"], part.get("D", "")
        known = year.isdecimal() and len(year) == 4
        number = _MONTHS.get(month, int(month) if month.isdecimal() and len(month) < 3 else 0)
        if (day and not (day.isdecimal() and len(day) < 3)) or (
            year and not (year.isdecimal() and len(year) in (1, 2, 4))
        ):
            continue
        try:
            date = datetime(int(year) if known else 2000, number, int(day or 1)) + timedelta(seconds=seconds)
        except (ValueError, OverflowError):
            continue
        value = Moment(year, number, int(day or 0), seconds)
        written = date.isoformat(" ").removesuffix(" 00:00:00") if known and day and seconds < _DAY else ""
        between = [
            mark.lstrip(".") if name.isalpha() else mark for name, mark in zip(parts[::2], parts[1::2], strict=False)
        ]
        for codes in product(*(_codes(kind, part[kind]) for kind in order)):
            form = "".join(code + mark for code, mark in zip(codes, (*between, ""), strict=True))
            yield Reading(value, form, written)


def _codes(kind: str, part: str) -> tuple[str, ...]:
    """The codes of a year, month or day, as it is written; 10 and 11 are the same with and without padding."""
    if kind == "Y" or not part.isdecimal():
        return ("MMM" if kind == "M" else kind * len(part),)
    return (kind * len(part),) if int(part) < 10 else (kind, kind * 2)


def _numbers(text: str) -> Iterator[Reading]:
    bare = _AMOUNT.sub("", text)
    if bare.startswith("(") and bare.endswith(")"):
        bare = f"-{bare[1:-1]}"
    for form, pattern in _NUMBERS.items():
        match = pattern.fullmatch(bare)
        if match is None or not (match[2] or match[3]):
            continue
        sign, whole, decimals, exponent, percent = match.groups(default="")
        digits = re.sub("[^0-9]", "", whole)
        number = Decimal(f"{sign}{digits or 0}.{decimals or 0}E{exponent or 0}")
        shown = len((digits + decimals).strip("0"))
        # Only of these are digits missing: of a shortened number, and of one with more than a workbook stores.
        known = shown if exponent else _STORED_DIGITS - 1 if len(digits) > _STORED_DIGITS else _STORED_DIGITS + 1
        value = Number(number, known, bool(percent))
        if bare != text or exponent or percent == " %" or not whole or match[3] == "":
            yield Reading(value, "", "")
        else:  # as Row writes it but for the separators
            plain = f"{number:f}".rstrip("0").removesuffix(".")
            yield Reading(value, form, f"{'+' if sign == '+' else ''}{plain}{percent}")
