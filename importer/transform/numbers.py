"""Reads whole and decimal numbers with declared signs; digits are kept exactly."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from importer.mapping import ResolvedValue
from importer.transform.refusal import Refusal, in_mapping, quoted

_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})
_CANONICAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_MAX_LENGTH = 60


def integer_reader(value: ResolvedValue) -> Callable[[str, bool], str | Refusal]:
    """A reader of whole numbers. A number cell that holds 12.0 is 12; a text "12,0" is where its sign is declared.

    A text with three noughts, "12,000", may be thousands: it is refused where no sign of these is declared.
    """
    whole = _whole_pattern(value.formats.thousands)
    noughts = _noughts(value.formats.decimal, value.formats.thousands)

    def read(text: str, typed: bool) -> str | Refusal:
        number = _typed_number(text) if typed else None
        digits = noughts.sub("", text) if noughts is not None and not typed else text
        if number is None and not typed and len(text) <= _MAX_LENGTH and whole.fullmatch(_plain(digits)):
            number = Decimal(_without(_plain(digits), value.formats.thousands))
        if number is None or number != number.to_integral_value():
            return Refusal("integer-unreadable", f"{quoted(text)} is no whole number", _integer_hint(value))
        return format(number.to_integral_value() + 0, "f")  # + 0: no minus zero

    return read


def decimal_reader(value: ResolvedValue) -> Callable[[str, bool], str | Refusal]:
    """A reader of numbers with the declared decimal sign (a point where none is declared)."""
    sign, thousands = value.formats.decimal or ".", value.formats.thousands
    pattern = re.compile(_whole_pattern(thousands).pattern + rf"({re.escape(sign)}[0-9]+)?")

    def read(text: str, typed: bool) -> str | Refusal:
        number = _typed_number(text) if typed else None
        if number is None and not typed and len(text) <= _MAX_LENGTH and pattern.fullmatch(_plain(text)):
            number = Decimal(_without(_plain(text), thousands).replace(sign, "."))
        if number is None:
            message = f"{quoted(text)} is no number with the decimal sign '{sign}'"
            return Refusal("decimal-unreadable", message, _decimal_hint(value))
        return format(number, "f")

    return read


def _typed_number(text: str) -> Decimal | None:
    return Decimal(text) if len(text) <= _MAX_LENGTH and _CANONICAL.fullmatch(text) else None


def _whole_pattern(thousands: str | None) -> re.Pattern[str]:
    if thousands is None:
        return re.compile(r"[+-]?[0-9]+")
    sign = re.escape(_plain(thousands))
    return re.compile(rf"[+-]?(?:[0-9]{{1,3}}(?:{sign}[0-9]{{3}})+|[0-9]+)")


def _noughts(sign: str | None, thousands: str | None) -> re.Pattern[str] | None:
    """Decimals that say nothing."""
    if sign is None:
        return None
    return re.compile(re.escape(sign) + (r"0+\Z" if thousands else r"(?!000\Z)0+\Z"))


def _plain(text: str) -> str:
    return text.translate(_SPACES)


def _without(text: str, thousands: str | None) -> str:
    return text.replace(_plain(thousands), "") if thousands else text


def _integer_hint(value: ResolvedValue) -> str:
    place = in_mapping(value.place)
    if value.formats.thousands is None:
        return f"write it in digits, or declare thousands: {place}"
    without = "" if value.formats.decimal else f"; or, if it is 12,00, declare decimal: {place}"
    return f"write it in digits, with '{value.formats.thousands}' between thousands or without{without}"


def _decimal_hint(value: ResolvedValue) -> str:
    return f"write it in digits, or declare decimal: and thousands: {in_mapping(value.place)}"
