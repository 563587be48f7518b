r"""What a spreadsheet program shows of a number or a text by its number format ([MS-OI29500] and ECMA-376, 18.8.31).

A number stays one where it is an amount: without thousands separators and currency. Where a format makes a code of it
(`"EMP-"00000`, `\+90\ 000\ 000\ 00\ 00`, `[=1]"Yes"`), the text is what a person sees. What is not certain is not read.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Final

from importer.sources.cell_text import plain_number
from importer.text.currencies import currency_code, currency_of_format


class DateKind(Enum):
    """What a date format shows: a date, only a time of day, or hours that may be more than a day."""

    DATE = "date"
    TIME = "time"
    DURATION = "duration"


# The pieces of a format: a quoted text, an escaped character, what shows nothing, a bracket, a word, a placeholder.
_PIECE: Final = re.compile(
    r'"([^"]*)"?|\\(.)|[_*].|\[([^\]]*)\]|(General|E[+-]|[0#?]|[.,%/@])|(.)', re.DOTALL | re.IGNORECASE
)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)(-?[0-9]+(?:\.[0-9]+)?)")
_ELAPSED: Final = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_NOT_SHOWN: Final = re.compile(r'"[^"]*"?|\\.|[_*].|\[[^\]]*\]|General|E[+-]|AM/PM|A/P', re.DOTALL | re.IGNORECASE)
_TESTS: Final = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
_OF_AMOUNTS: Final = ("", "General", "0", "0.00", "#,##0", "#,##0.00")  # the usual ones, which change nothing
_DIGITS: Final = frozenset("0#?")
_PUNCTUATION: Final = frozenset(" \u00a0\u202f\u2009-–—−()./:,;'’+*_!|@")  # what leaves an amount as it is
_MINUS: Final = frozenset("-−(")
# Number 44 of the formats that a workbook need not contain, as openpyxl reads it, and as it is.
_ACCOUNTING: Final = {
    r'_("$"* #,##0.00_)_("$"* \(#,##0.00\)_("$"* "-"??_)_(@_)':
    r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)'
}  # fmt: skip
_MARKED: Final = re.compile(r"\[\$([^\]/-]+)")
_ENDS_NAME: Final = re.compile(r"\w-\s*$")
_JOINTS: Final = frozenset("-–—/:()")  # what stands between the digits of a code, and not of an amount


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
    """What a format shows of a date as YYYY-MM-DD: of `mmm-yy` the month. None: of a year alone it is not certain that
    it is a date: in a cell with the format `yyyy`, a typed 2019 is a day in 1905.
    """
    letters = _date_letters(number_format)
    return None if letters == {"y"} else value[:7] if letters == {"y", "m"} else value


@lru_cache(maxsize=4096)
def _date_letters(number_format: str) -> frozenset[str]:
    return frozenset(_NOT_SHOWN.sub("", number_format).lower()) & frozenset("ymdhs")


def changes_text(number_format: str) -> bool:
    """Whether `shown_number` or `shown_text` must apply the format."""
    return number_format not in _OF_AMOUNTS and date_kind(number_format) is None


@lru_cache(maxsize=65_536)
def shown_number(value: int | float, number_format: str) -> str | None:
    r"""A number as its format shows it, but an amount without separators and currency. None: it is not certain what a
    person sees, or it is more than that.

    >>> shown_number(7, "00000"), shown_number(0.125, "0%"), shown_number(5321234, r"\+90 000 00 00")
    ('00007', '12.5%', '+90 532 12 34')
    >>> shown_number(1, '[=1]"Yes";"No"'), shown_number(5, '0 "years"'), shown_number(5, '#,##0 "€"')
    ('Yes', None, '5')
    """
    section, is_negative = _section_for(value, number_format)
    plain, words = plain_number(value), section.words.strip() if section else ""
    if section is None or not section.parts:
        return None
    if not section.has_digits:
        is_zero = _PUNCTUATION.issuperset(words) or (value == 0 and section.currency and "-" in words)
        return plain if is_zero else words
    if section.is_code:
        sign = "-" if value < 0 and not is_negative else ""
        is_whole = value == int(value) or not _DIGITS.issuperset(section.codes)
        return sign + section.filled(plain_number(abs(value))).strip() if is_whole else None
    if not (_PUNCTUATION.issuperset(words) or section.currency) or section.is_scaled:
        return None
    hides_zero = value == 0 and not {"0", "?", "general", "@"}.intersection(section.codes)
    hides_sign = is_negative and _MINUS.isdisjoint(words)
    adds_sign = (value > 0 and not _MINUS.isdisjoint(section.before)) or "+" in words.removeprefix(section.before)
    if hides_zero or hides_sign or adds_sign:
        return None
    return plain_number(float(Decimal(repr(value)) * 100)) + "%" if "%" in section.codes else plain


def shown_currency(value: int | float, number_format: str) -> str:
    """The currency that a format shows with a number; "" if it shows none."""
    section, _ = _section_for(value, number_format)
    return section.currency if section else ""


def shown_text(value: str, number_format: str) -> str | None:
    """A text as the section of its format for texts shows it; None: it is hidden, or another one is shown."""
    *_, last = sections = _sections(number_format)
    if ("@" not in last.codes and len(sections) < 4) or last.codes == ["general"]:
        return value
    if last.codes != ["@"]:
        return None
    shown = "".join(text if is_literal else value for is_literal, text in last.parts)
    return value if shown.strip() == value.strip() else shown


@dataclass(frozen=True)
class _Section:
    """A section of a format. parts: literals, and single placeholders, each with whether it is a literal.

    What it shows is found once, and not for each cell.
    """

    text: str
    parts: tuple[tuple[bool, str], ...]
    condition: tuple[str, float] | None
    is_known: bool

    @cached_property
    def words(self) -> str:
        """The literals, and @."""
        return "".join(text for is_literal, text in self.parts if is_literal or text == "@")

    @cached_property
    def codes(self) -> list[str]:
        return [text for is_literal, text in self.parts if not is_literal]

    @cached_property
    def has_digits(self) -> bool:
        return any(code in _DIGITS or code in ("general", "@") for code in self.codes)

    @cached_property
    def is_scaled(self) -> bool:
        """Whether it shows thousands or millions: a comma follows the last digit, before or behind the point."""
        whole, _, fraction = "".join(self.codes).partition(".")
        return "," in fraction or (whole.endswith(",") and any(digit in whole for digit in _DIGITS))

    @cached_property
    def currency(self) -> str:
        """The currency that it shows; "" if none, or if it shows more: `k€`, or digits, which look like its own."""
        found = currency_of_format(self.text)
        if not found and self.words.strip() == self.before:  # `"R"0` is an amount; `0 "R"` may be of another unit
            found = self.before
        is_marked = found in _MARKED.findall(self.text)
        is_known = is_marked or currency_code(found) is not None
        return found if is_known and not any(map(str.isdecimal, self.words)) else ""

    @cached_property
    def before(self) -> str:
        """The literals before its first digit."""
        return "".join(text for _, text in takewhile(lambda part: part[0], self.parts)).strip()

    @cached_property
    def is_code(self) -> bool:
        """Whether it makes a code of a whole number, and not an amount."""
        if not (_DIGITS.issuperset(self.codes) or self.codes in (["general"], ["@"])):
            return False
        places = [at for at, (is_literal, _) in enumerate(self.parts) if not is_literal]
        inside = [at for at, (is_literal, _) in enumerate(self.parts[: places[-1]]) if is_literal and at > places[0]]
        inner = "".join(self.parts[at][1] for at in inside)
        is_named = places[0] > 0 and _ENDS_NAME.search(self.parts[places[0] - 1][1]) is not None  # "SR-"0
        has_words = not ((self.currency and not is_named) or _PUNCTUATION.issuperset(self.before + inner))
        # Signs between thousands, or lakhs, end three digits before the end: `#\ ##0`.
        is_split = bool(inside) and sum(place > inside[-1] for place in places) % 3 > 0
        is_joined = "+" in self.before or is_split or not _JOINTS.isdisjoint(inner)
        return self.codes.count("0") > 1 or has_words or is_joined

    def filled(self, digits: str) -> str:
        """The text with the digits in it, from the last placeholder on; the first one takes all that are left."""
        left, shown = digits if digits != "0" else "", []
        places = len(self.codes)
        for is_literal, text in reversed(self.parts):
            if is_literal:
                shown.append(text)
                continue
            places -= 1
            taken, left = (left, "") if not places else (left[-1:], left[:-1])
            shown.append(taken or {"0": "0", "?": " ", "general": digits, "@": digits}.get(text, ""))
        return "".join(reversed(shown))


def _section_for(value: float, number_format: str) -> tuple[_Section | None, bool]:
    """The section that shows a number, None if that is not certain; and whether it is that for negative ones."""
    sections = list(_sections(number_format))
    if len(sections) > 1 and "@" in sections[-1].codes:
        sections.pop()
    if not all(each.is_known for each in sections):
        return None, False
    if any(each.condition for each in sections):
        if value < 0:  # whether it shows a sign depends on the conditions
            return None, False
        fits = (one for one in sections if one.condition is None or _TESTS[one.condition[0]](value, one.condition[1]))
        return next(fits, None), False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    return sections[2 if value == 0 and len(sections) > 2 else 0], False


@lru_cache(maxsize=4096)
def _sections(number_format: str) -> tuple[_Section, ...]:
    texts = [""]
    for piece in _PIECE.finditer(_ACCOUNTING.get(number_format, number_format)):
        if piece[5] == ";":
            texts.append("")
        else:
            texts[-1] += piece[0]
    return tuple(map(_parsed, texts[:4]))


def _parsed(text: str) -> _Section:
    parts: list[tuple[bool, str]] = []
    condition, is_known, has_letters = None, True, False
    for quoted, escaped, bracket, code, other in _PIECE.findall(text):
        if quoted or escaped or other:
            has_letters = has_letters or other.isalpha()
            parts.append((True, quoted + escaped + other))
        elif code:
            parts.append((False, code.lower()))
        elif found := _CONDITION.fullmatch(bracket):
            condition = found[1], float(found[2])
        elif bracket.startswith("$") and (mark := bracket[1:].partition("-")[0]):
            parts.append((True, mark))
        elif bracket.upper().startswith("DBNUM"):
            is_known = False  # other digits
    section = _Section(text, tuple(parts), condition, is_known)
    return section if section.has_digits or not has_letters else replace(section, is_known=False)  # of a date: `aaa`
