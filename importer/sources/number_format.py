r"""What a spreadsheet program shows of a number or a text by its number format.

An amount has no thousands separators, and its currency behind it; of digits with texts around them (`"EMP-"00000`)
the text is what a person sees. All other formats are not read, so their cells are refused where they are mapped.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from itertools import dropwhile
from typing import Final, NamedTuple

from importer.sources.cell_text import plain_number
from importer.text.currencies import currency_code


class DateKind(Enum):
    """What a date format shows: a date, only a time of day, or hours that may be more than a day."""

    DATE = "date"
    TIME = "time"
    DURATION = "duration"


# The pieces of a format: a text, a character to show, the mark of a currency, a bracket, what shows nothing, a code.
_PIECE: Final = re.compile(
    r'"([^"]*)"?|\\(.)|\[\$([^\]-]*)[^\]]*\]|(\[[^\]]*\])|[_*].|(General|E[+-]|[0#?.,%/@;])|(.)',
    re.DOTALL | re.IGNORECASE,
)
_ELAPSED: Final = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_NOT_SHOWN: Final = re.compile(r'"[^"]*"?|\\.|[_*].|\[[^\]]*\]|General|E[+-]|AM/PM|A/P', re.DOTALL | re.IGNORECASE)
_COLOR: Final = re.compile(r"\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\]", re.IGNORECASE)
_OF_AMOUNTS: Final = ("", "General", "0", "0.00", "#,##0", "#,##0.00")  # the usual ones, which change nothing
_AMOUNT: Final = re.compile(r"general|@|[#?]*[0#?](?:[,#?0]*[0#?])?(?:\.[0#?]+)?%?", re.IGNORECASE)
_CODE: Final = re.compile(r"general|@|[0#?]+", re.IGNORECASE)
# Number 44 of the formats that a workbook need not contain, as openpyxl reads it, and as it is.
_ACCOUNTING: Final = {
    r'_("$"* #,##0.00_)_("$"* \(#,##0.00\)_("$"* "-"??_)_(@_)':
    r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)'
}  # fmt: skip
_BESIDE: Final = str.maketrans("", "", " \u00a0\u202f'’-−()")  # signs that leave an amount as it is


@lru_cache(maxsize=4096)
def date_kind(number_format: str) -> DateKind | None:
    """What a format shows of a date; None if it is not the format of a date."""
    if _ELAPSED.search(re.sub(r'"[^"]*"?|\\.', "", number_format)):
        return DateKind.DURATION
    letters = {letter for letter in _NOT_SHOWN.sub("", number_format).lower() if letter in "ymdhs"}
    if letters & set("yd") or letters == {"m"}:
        return DateKind.DATE
    return DateKind.TIME if letters else None


def shown_date(value: str, number_format: str) -> str | None:
    """What a format shows of a date as YYYY-MM-DD: of `mmm-yy` the month. None: it is not certain which date is meant.

    In a cell with the format `yyyy`, a typed 2019 is a day in 1905; Excel makes `19-Sep` of a typed `Sep 19`, with the
    year of that day behind it.
    """
    kind = date_kind(number_format)
    letters = {letter for letter in _NOT_SHOWN.sub("", number_format).lower() if letter in "ymdhs"}
    if kind is DateKind.TIME or (kind is DateKind.DATE and ("y" not in letters or letters == {"y"})):
        return None
    return value[:7] if letters == {"y", "m"} else value


def changes_text(number_format: str) -> bool:
    """Whether `shown_number` or `shown_text` must apply the format."""
    return number_format not in _OF_AMOUNTS and date_kind(number_format) is None


class _Section(NamedTuple):
    """A section of a format: its codes, its literals, and both in their order, each with whether it is a literal."""

    codes: str
    words: str
    parts: tuple[tuple[bool, str], ...]
    currency: str  # "" if the words are none
    is_known: bool

    @property
    def is_code(self) -> bool:
        """Whether it makes a code of a whole number: with zeros in front, or with texts where no thousands end."""
        if not _CODE.fullmatch(self.codes):
            return False
        inside = "".join(" " if is_literal else "0" for is_literal, _ in self.parts).strip()
        is_split = " " in inside and len(inside.rpartition(" ")[2]) % 3 > 0
        return self.codes.count("0") > 1 or is_split or re.search("0[#?]", self.codes) is not None


@lru_cache(maxsize=65_536)
def shown_number(value: int | float, number_format: str) -> str | None:
    r"""A number as its format shows it, an amount without separators and currency; None: that is not certain.

    >>> shown_number(7, "00000"), shown_number(0.125, "0%"), shown_number(5321234, r"\+90 000 00 00")
    ('00007', '12.5%', '+90 532 12 34')
    >>> shown_number(5, '#,##0 "€"'), shown_number(5, '#,##0 "k€"')
    ('5', None)
    """
    section, is_negative = _section_for(value, number_format)
    codes, words = section.codes, section.words
    if not section.is_known:
        return None
    if not codes and value == 0 and words.replace(section.currency, "").strip() in ("-", "–"):
        return "0"
    beside = words.translate(_BESIDE)
    if _AMOUNT.fullmatch(codes) and (not beside or section.currency) and not section.is_code:
        hides = value == 0 and not {"0", "?"}.intersection(codes) and codes.lower() not in ("general", "@")
        has_sign = value != 0 and not {"-", "−", "("}.isdisjoint(words)
        if hides or has_sign is not is_negative:
            return None
        return plain_number(float(Decimal(repr(value)) * 100)) + "%" if "%" in codes else plain_number(value)
    if not _CODE.fullmatch(codes) or value != int(value) or is_negative:
        return None
    if words and not set(words) - set(" \u00a0\u202f.,'’") and not section.is_code:  # `#\.##0` may show thousands
        return None
    return "-" * (value < 0) + _filled(section.parts, plain_number(abs(value))).strip()


def _filled(parts: tuple[tuple[bool, str], ...], digits: str) -> str:
    """The text with the digits in it, from the last placeholder on; the first one takes all that are left."""
    places = sum(not is_literal for is_literal, _ in parts)
    left, shown = digits if digits != "0" else "", []
    for is_literal, text in reversed(parts):
        if is_literal:
            shown.append(text)
            continue
        places -= 1
        taken, left = (left[-1:], left[:-1]) if places else (left, "")
        shown.append(taken or {"0": "0", "?": " ", "#": ""}.get(text, digits))
    return "".join(reversed(shown))


def shown_currency(value: int | float, number_format: str) -> str:
    """The currency that a format shows with a number; "" if it shows none."""
    return _section_for(value, number_format)[0].currency


def shown_text(value: str, number_format: str) -> str | None:
    """A text as the section of its format for texts shows it; None: it is hidden, or another one is shown."""
    *_, last = sections = _sections(number_format)
    if ("@" not in last.codes and len(sections) < 4) or last.codes.lower() == "general":
        return value
    if last.codes != "@":
        return None
    shown = "".join(text if is_literal else value for is_literal, text in last.parts)
    return value if shown.strip() == value.strip() else shown


def _section_for(value: float, number_format: str) -> tuple[_Section, bool]:
    """The section that shows a number, and whether it is that for negative ones."""
    sections = list(_sections(number_format))
    if len(sections) > 1 and "@" in sections[-1].codes:
        sections.pop()
    if not all(each.is_known for each in sections):  # a condition decides which one it is
        return sections[0]._replace(is_known=False), False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    return sections[2 if value == 0 and len(sections) > 2 else 0], False


@lru_cache(maxsize=4096)
def _sections(number_format: str) -> tuple[_Section, ...]:
    sections = list[_Section]()
    parts, marks, is_known = list[tuple[bool, str]](), list[str](), True
    pieces = _PIECE.findall(_ACCOUNTING.get(number_format, number_format))
    for text, escaped, mark, bracket, code, other in (*pieces, ("", "", "", "", ";", "")):
        if code == ";":
            codes = "".join(each for is_literal, each in parts if not is_literal)
            words = "".join(each for is_literal, each in parts if is_literal)
            name = words.translate(_BESIDE)
            behind = [each for is_literal, each in dropwhile(lambda part: part[0], parts) if is_literal]
            is_unit = name.lower() in _UNITS and any(map(str.isalpha, "".join(behind)))  # `0 "R"`, and not `"R"0`
            is_currency = name in marks or (currency_code(name) is not None and not is_unit)
            is_known = is_known and (bool(codes) or not any(map(str.isalpha, words)))
            sections.append(_Section(codes, words, tuple(parts), name if name and is_currency else "", is_known))
            parts, marks, is_known = [], [], True
        elif code:
            parts.append((False, code))
        elif bracket:
            is_known = is_known and _COLOR.fullmatch(bracket) is not None
        elif shown := text + escaped + mark + other:
            parts.append((True, shown))
            marks += [mark] * bool(mark)
    return tuple(sections)


_UNITS: Final = frozenset(("km", "ft", "dm", "kn", "r", "gs", "rm"))  # in a number format these are no currencies
