"""What a declared date format may be made of: the codes of strptime that need no locale, or a word for a count."""

from __future__ import annotations

import re
from dataclasses import dataclass

CODES: dict[str, str] = {
    "d": "day, 1 or 01",
    "m": "month, 1 or 01",
    "Y": "year, 2024",
    "y": "year, 24: which century is said by pivot",
    "b": "month by name, Jan or January",
    "B": "month by name, Jan or January",
    "H": "hour, 0 to 23",
    "I": "hour, 1 to 12",
    "M": "minute",
    "S": "second",
    "f": "fraction of a second",
    "p": "AM or PM",
}
# Formats that are no codes but one word: dates that are kept as a count.
COUNTS: dict[str, str] = {
    "excel": "days since 1900, as a spreadsheet keeps a date",
    "excel_1904": "days since 1904, as old spreadsheets of a Macintosh do",
    "epoch": "seconds since 1970, in UTC",
    "epoch_ms": "milliseconds since 1970, in UTC",
}
_TOKEN = re.compile(r"%(.?)|([^%]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FormatToken:
    """A piece of a format: a code letter, or a literal text."""

    code: str | None
    literal: str


def tokens(date_format: str) -> tuple[FormatToken, ...]:
    """The pieces of a format, in order; `%%` is the literal `%`.

    Raises:
        ValueError: the format has an unknown code, no year, or a part twice. The message says what, for a person.
    """
    found: list[FormatToken] = []
    for match in _TOKEN.finditer(date_format):
        code, literal = match.group(1), match.group(2)
        if literal is not None:
            found.append(FormatToken(None, literal))
        elif code == "%":
            found.append(FormatToken(None, "%"))
        elif code in CODES:
            found.append(FormatToken(code, ""))
        else:
            raise ValueError(f"the date format '{date_format}' has the unknown code '%{code}'")
    _check_parts(date_format, [token.code for token in found if token.code])
    return tuple(found)


def has_short_year(date_format: str) -> bool:
    """Whether a format that `tokens` takes, or one of COUNTS, has a year of two digits."""
    return date_format not in COUNTS and any(token.code == "y" for token in tokens(date_format))


def _check_parts(date_format: str, codes: list[str]) -> None:
    for name, letters in (("day", "d"), ("month", "mbB"), ("year", "Yy")):
        count = sum(code in letters for code in codes)
        if count > 1:
            raise ValueError(f"the date format '{date_format}' has the {name} twice")
        if name == "year" and not count:
            raise ValueError(f"the date format '{date_format}' has no year")
        if name == "month" and not count and "d" in codes:
            raise ValueError(f"the date format '{date_format}' has a day and no month")
    for code in set(codes):
        if codes.count(code) > 1:
            raise ValueError(f"the date format '{date_format}' has '%{code}' twice")
