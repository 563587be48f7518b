"""The values that a spreadsheet program, in any locale, may take a text for when it opens a CSV.

`0012` becomes 12, `1-2` a date, `45.000` 45 or 45000. What the program saves then differs from the text, although no
person changed it. In a known format, a text has one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from importer.text.dates import LANGUAGES, month_numbers
from importer.text.normalize import normalize

SPACES: Final = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})
TRUE: Final = frozenset(
    map(normalize, ("true", "wahr", "vrai", "doğru", "verdadero", "vero", "verdadeiro", "waar", "prawda"))
)
FALSE: Final = frozenset(map(normalize, ("false", "falsch", "faux", "yanlış", "falso", "onwaar", "fałsz")))
SEPARATORS: Final = [
    (decimal, thousands) for decimal in ".," for thousands in ("", ".", ",", " ", "'") if decimal != thousands
]
_MONTHS: Final = month_numbers(list(LANGUAGES))
_TIME = re.compile(r"(?:^|[ T,]+)(\d{1,3}):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(?: ?([ap])\.?m\.?)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"[ ./,-]+")
_INSIDE = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")  # MAR1 is a date to some programs
_AMOUNT = re.compile(r"(?:[$€£₺¥]|tl|try|eur|usd|gbp) ?|(?: ?(?:[$€£₺¥]|tl|try|eur|usd|gbp))$", re.IGNORECASE)
_NUMBERS: Final = {
    separators: re.compile(
        rf"([+-]?)([0-9]*|[0-9]{{1,3}}(?:{re.escape(separators[1])}[0-9]{{3}})+)"
        rf"(?:{re.escape(separators[0])}([0-9]*))?(?:E([+-]?[0-9]{{1,3}}))?( ?%)?",
        re.IGNORECASE,
    )
    for separators in SEPARATORS
}
_STORED_DIGITS = 15


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


@lru_cache(maxsize=65_536)
def possible_values(text: str) -> frozenset[Value]:
    """Every value of the text in any locale; empty if it is only text.

    >>> sorted(str(each.value) for each in possible_values("45.000"))
    ['45000', '45.000']
    """
    text = text.translate(SPACES).strip()
    word = normalize(text)
    if word in TRUE or word in FALSE:
        return frozenset([word in TRUE])
    if not any(each.isdecimal() for each in text):
        return frozenset()
    return frozenset((*_moments(text), *_numbers(text)))


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


def _moments(text: str) -> Iterator[Moment]:
    seconds, time = 0, _TIME.search(text)
    if time:
        hours, half = int(time[1]), (time[4] or "").lower()
        hours = hours % 12 + (12 if half == "p" else 0) if half else hours
        seconds = hours * 3600 + int(time[2]) * 60 + int(time[3] or 0)
        text = text[: time.start()]
        if not text:
            yield Moment("", 0, 0, seconds)
            return
    parts = [part for part in _BETWEEN.split(_INSIDE.sub(" ", normalize(text))) if part]
    if text.startswith(("-", "+")) or len(parts) not in (2, 3):
        return
    for year, month, day in _orders(parts):
        number = _MONTHS.get(month, int(month) if month.isdecimal() and len(month) < 3 else 0)
        is_day = not day or (day.isdecimal() and len(day) < 3 and 1 <= int(day) <= 31)
        is_year = not year or (year.isdecimal() and len(year) in (1, 2, 4))
        if 1 <= number <= 12 and is_day and is_year:
            yield Moment(year, number, int(day or 0), seconds)


def _orders(parts: list[str]) -> Iterator[tuple[str, str, str]]:
    """The parts as year, month and day; "" for one that is missing."""
    if len(parts) == 3:
        first, second, third = parts
        yield from ((first, second, third), (third, second, first), (third, first, second))
    else:
        first, second = parts
        yield from (("", first, second), ("", second, first), (first, second, ""), (second, first, ""))


def _numbers(text: str) -> Iterator[Number]:
    text = _AMOUNT.sub("", text)
    if text.startswith("(") and text.endswith(")"):
        text = f"-{text[1:-1]}"
    for each in _NUMBERS.values():
        match = each.fullmatch(text)
        if match and (match[2] or match[3]):
            digits = re.sub("[^0-9]", "", match[2])
            value = Decimal(f"{match[1]}{digits or 0}.{match[3] or 0}E{match[4] or 0}")
            shown = len((digits + (match[3] or "")).strip("0"))
            # Only of these are digits missing: of a shortened number, and of one with more than a workbook stores.
            known = shown if match[4] else _STORED_DIGITS - 1 if len(digits) > _STORED_DIGITS else _STORED_DIGITS + 1
            yield Number(value, known, bool(match[5]))


# --- the one value of a text in a known format ------------------------------------------------------


DATE: Final = re.compile(
    r"([0-9]{1,4})([./-])([0-9]{1,2})\2([0-9]{1,4})"
    r"(?:[ ,]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?: ?([ap])\.?m\.?)?)?",
    re.IGNORECASE,
)
_ORDERS = {"year first": (0, 1, 2), "day first": (2, 1, 0), "month first": (2, 0, 1)}  # positions of year, month, day
# Of a date: its order, and its separator with the padding of month and day. Of a number: its separators. Or "words".
Format = tuple[str, str]


@lru_cache(maxsize=65_536)
def readings(text: str) -> dict[Format, str]:
    """The values of a text, as Row writes them, by possible format. Two-digit years have no reading."""
    word = normalize(text)
    if word in TRUE or word in FALSE:
        return {("words", ""): "TRUE" if word in TRUE else "FALSE"}
    if date := DATE.fullmatch(text):
        return dict(_dates(date))
    text = text.translate(SPACES)
    matches = ((separators, each.fullmatch(text)) for separators, each in _NUMBERS.items())
    return {separators: _number(match) for separators, match in matches if match and _is_exact(match)}


def _dates(match: re.Match[str]) -> Iterator[tuple[Format, str]]:
    parts = (match[1], match[3], match[4])
    hour, minute, second = (int(part or 0) for part in match.group(5, 6, 7))
    if match[8]:
        hour = hour % 12 + (12 if match[8] in "pP" else 0)
    for order, (year, month, day) in _ORDERS.items():
        if len(parts[year]) == 4 and len(parts[month]) <= 2 and len(parts[day]) <= 2:
            try:
                moment = datetime(int(parts[year]), int(parts[month]), int(parts[day]), hour, minute, second)
            except ValueError:
                continue
            value = moment.isoformat(" ").removesuffix(" 00:00:00")
            padded = ((len(part) == 2,) if int(part) < 10 else (True, False) for part in (parts[month], parts[day]))
            yield from (((order, f"{match[2]} {style}"), value) for style in product(*padded))


def _is_exact(match: re.Match[str]) -> bool:
    """Whether a number has all its digits, and is written as Row writes it but for the separators."""
    return bool(match[2]) and match[3] != "" and not match[4] and match[5] != " %"


def _number(match: re.Match[str]) -> str:
    sign, whole, decimals, _, percent = match.groups(default="")
    number = Decimal(f"{'-' if sign == '-' else ''}{re.sub('[^0-9]', '', whole)}.{decimals or 0}")
    text = f"{number:f}"
    return f"{sign if sign == '+' else ''}{text.rstrip('0').removesuffix('.')}{percent}"
