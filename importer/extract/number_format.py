"""The number formats that change the digits a person sees: leading zeros, a leading plus, percent."""

from __future__ import annotations

import re
from decimal import Decimal

_DIGITS = 15  # what a spreadsheet keeps of a number
_UNSEEN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[_*].')
_ONLY_ZEROS = re.compile(r"[0 ()/\-+]*0[0 ()/\-+]*")
_PLUS = re.compile(r'(?:\[[^\]]*\])*(?:\\\+|"\+"|\+)')


def changes_text(number_format: str) -> bool:
    """Whether `formatted_number` needs to know this format, so that all other cells can be read without it."""
    section = number_format.split(";")[0]
    bare = _UNSEEN.sub("", section)
    return "%" in bare or (bool(_ONLY_ZEROS.fullmatch(bare)) and (bare.count("0") > 1 or bool(_PLUS.match(section))))


def formatted_number(value: int | float, number_format: str) -> str:
    """A number as its format shows its digits; separators and currency signs are left out, digits never.

    >>> formatted_number(7, "00000"), formatted_number(0.125, "0%"), formatted_number(905321234567, '"+"0')
    ('00007', '12.5%', '+905321234567')
    """
    section = number_format.split(";")[0]
    bare = _UNSEEN.sub("", section)
    if "%" in bare:
        return plain_number(float(Decimal(repr(value)) * 100)) + "%"
    if value != int(value) or not _ONLY_ZEROS.fullmatch(bare):
        return plain_number(value)
    sign = "-" if value < 0 else "+" if _PLUS.match(section) else ""
    return sign + plain_number(abs(value)).zfill(bare.count("0"))


def plain_number(value: int | float) -> str:
    """A number without exponent and without `.0`, to the 15 digits that a spreadsheet keeps.

    >>> plain_number(905321234567.0), plain_number(0.1 + 0.2), plain_number(1e-7)
    ('905321234567', '0.3', '0.0000001')
    """
    text = f"{value:.{_DIGITS}g}"
    if "e" in text:
        text = format(Decimal(text), "f")
    return "0" if text == "-0" else text


def has_lost_digits(value: int | float) -> bool:
    """Whether a stored number has more digits than a spreadsheet keeps: some of them are zeros that nobody typed."""
    return bool(abs(value) >= 10**_DIGITS)
