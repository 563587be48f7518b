r"""What a spreadsheet program shows of a number or a text by its number format ([MS-OI29500] and ECMA-376, 18.8.31).

A number stays one where it is an amount: without thousands separators, currencies and units. Where a format makes a
code of it (`"EMP-"00000`, `\+90\ 000\ 000\ 00\ 00`, `[=1]"Yes"`), the text is what a person sees. Where neither is
certain, `Shown.differs` says that a person sees more, or something else.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from itertools import chain
from typing import Final

from importer.sources.cell_text import plain_number
from importer.text.currencies import currency_of_format


class DateKind(Enum):
    """What a date format shows: a date, only a time of day, or hours that may be more than a day."""

    DATE = "date"
    TIME = "time"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Shown:
    """What is read of a cell. `differs`: a person sees more than that, or something else."""

    text: str
    differs: bool = False


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
_DIGITS: Final = frozenset("0#?")
_PUNCTUATION: Final = frozenset(" \u00a0\u202f\u2009-–—−()./:,;'’+*<>=_!|~")  # what leaves an amount as it is
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


@lru_cache(maxsize=4096)
def changes_text(number_format: str) -> bool:
    """Whether `shown_number` or `shown_text` must apply the format: a person sees something else than the value."""
    if not number_format or date_kind(number_format) is not None:
        return False
    return bool(currency_of_format(number_format)) or not all(map(_leaves_amounts, _sections(number_format)))


@lru_cache(maxsize=65_536)
def shown_number(value: int | float, number_format: str) -> Shown:
    r"""A number as its format shows it, but an amount without separators, currency and unit.

    >>> shown_number(7, "00000").text, shown_number(0.125, "0%").text, shown_number(5321234, r"\+90 000 00 00").text
    ('00007', '12.5%', '+90 532 12 34')
    >>> shown_number(1, '[=1]"Yes";"No"').text, shown_number(5, '0 "years"'), shown_number(5, '#,##0 "€"')
    ('Yes', Shown(text='5', differs=True), Shown(text='5', differs=False))
    """
    plain = plain_number(value)
    section = _section_for(value, number_format)
    if section is None:
        return Shown(plain, differs=True)
    if section.is_percent:
        return Shown(plain_number(float(Decimal(repr(value)) * 100)) + "%", section.has_words)
    if not section.parts or (value == 0 and section.hides_zero):
        return Shown(plain, differs=True)
    if not section.has_digits:
        text = section.text.strip()
        return Shown(plain) if _PUNCTUATION.issuperset(text) else Shown(text)
    if section.is_code(is_whole=value == int(value)) and not currency_of_format(number_format):
        sign = "-" if value < 0 and not section.is_negative else ""
        return Shown(sign + section.filled(plain_number(abs(value))).strip())
    is_amount = _is_amount(section) or bool(currency_of_format(number_format) and not section.is_scaled)
    is_rounded = section.zeros > 1 and section.is_whole_number
    return Shown(plain, is_rounded or not is_amount)


def shown_text(value: str, number_format: str) -> Shown:
    """A text as the section of its format for texts shows it."""
    section = next((each for each in _sections(number_format) if each.is_for_texts), None)
    if section is None or not value:
        return Shown(value)
    before, at, after = section.text.partition("@")
    if not at:  # the section hides the text, or shows another
        return Shown(value, differs=True)
    return Shown(value) if _PUNCTUATION.issuperset(before + after) else Shown(before + value + after)


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of a format. `parts`: literals, and single placeholders; `is_negative`: for negative numbers only."""

    parts: tuple[tuple[bool, str], ...]  # whether it is a literal, and its text
    condition: tuple[str, float] | None
    is_known: bool
    is_for_texts: bool = False
    is_negative: bool = False

    @property
    def text(self) -> str:
        """The literals, and @."""
        return "".join(text for is_literal, text in self.parts if is_literal or text == "@")

    @property
    def codes(self) -> list[str]:
        return [text for is_literal, text in self.parts if not is_literal]

    @property
    def zeros(self) -> int:
        return self.codes.count("0")

    @property
    def has_digits(self) -> bool:
        return any(code in _DIGITS or code == "general" for code in self.codes)

    @property
    def is_percent(self) -> bool:
        return "%" in self.codes

    @property
    def hides_zero(self) -> bool:
        return self.has_digits and not {"0", "general", "?"}.intersection(self.codes)

    @property
    def is_whole_number(self) -> bool:
        return _DIGITS.issuperset(self.codes) and "@" not in self.codes

    @property
    def is_scaled(self) -> bool:
        """Whether it shows thousands or millions: a comma follows the last digit before the point."""
        whole = "".join(self.codes).partition(".")[0]
        return whole.endswith(",") and any(digit in whole for digit in _DIGITS)

    @property
    def has_words(self) -> bool:
        return not _PUNCTUATION.issuperset(self.text.replace("@", ""))

    def is_code(self, *, is_whole: bool) -> bool:
        """Whether it makes a code of a whole number, and not an amount."""
        codes = self.codes
        if not is_whole or not (self.is_whole_number or codes == ["general"]):
            return False
        first = next(at for at, (is_literal, _) in enumerate(self.parts) if not is_literal)
        last = max(at for at, (is_literal, _) in enumerate(self.parts) if not is_literal)
        before = "".join(text for _, text in self.parts[:first])
        inner = "".join(text for is_literal, text in self.parts[first:last] if is_literal)
        return (
            self.zeros > 1
            or "+" in before
            or not _PUNCTUATION.issuperset(before + inner)
            or not _JOINTS.isdisjoint(inner)
        )

    def filled(self, digits: str) -> str:
        """The text with the digits in it, from the last placeholder on; the first one takes all that are left."""
        left, shown = digits if digits != "0" else "", []
        places = sum(not is_literal for is_literal, _ in self.parts)
        for is_literal, text in reversed(self.parts):
            if is_literal:
                shown.append(text)
                continue
            places -= 1
            taken, left = (left, "") if not places else (left[-1:], left[:-1])
            shown.append(taken or {"0": "0", "?": " ", "general": digits}.get(text, ""))
        return "".join(reversed(shown))


def _is_amount(section: _Section) -> bool:
    """Whether a number in this section is read without the format."""
    if section.is_for_texts:
        return section.text.partition("@")[1] == "@" and not section.has_words
    is_plain = section.is_known and section.has_digits and not section.is_percent
    is_marked = not section.is_negative or not {"-", "(", "−"}.isdisjoint(section.text)
    return is_plain and is_marked and not (section.has_words or section.is_scaled or section.is_code(is_whole=True))


def _leaves_amounts(section: _Section) -> bool:
    """Whether every number, also 0, is read without the format; of a section for texts, every text."""
    return _is_amount(section) and (section.is_for_texts or not section.hides_zero)


def _section_for(value: float, number_format: str) -> _Section | None:
    """The section that shows a number; None if that is not certain."""
    sections = [each for each in _sections(number_format) if not each.is_for_texts]
    if not all(each.is_known for each in sections):
        return None
    if not sections:
        return _parsed("General")
    if any(each.condition for each in sections):
        if value < 0 and any(each.has_digits for each in sections):
            return None  # whether it shows a sign depends on the conditions
        conditional, others = (sections[:-1], sections[-1:]) if not sections[-1].condition else (sections, [])
        if not all(each.condition for each in conditional):
            return None
        holding = (
            each for each in conditional if each.condition and _TESTS[each.condition[0]](value, each.condition[1])
        )
        return next(chain(holding, others), None)
    if len(sections) == 1 or value > 0 or (value == 0 and len(sections) == 2):
        return sections[0]
    return sections[1] if value < 0 else sections[2]


@lru_cache(maxsize=4096)
def _sections(number_format: str) -> tuple[_Section, ...]:
    """The sections, that for texts last."""
    texts, at = [""], 0
    for piece in _PIECE.finditer(number_format):
        if piece[5] == ";":
            texts.append("")
        else:
            texts[-1] += piece[0]
    sections = [_parsed(text) for text in texts[:4]]
    is_by_condition = any(each.condition for each in sections)
    named = []
    for at, each in enumerate(sections):
        is_for_texts = at == 3 or (at == len(sections) - 1 and "@" in each.codes)
        is_negative = at == 1 and not is_for_texts and not is_by_condition
        named.append(_Section(each.parts, each.condition, each.is_known, is_for_texts, is_negative))
    return tuple(named)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> _Section:
    parts: list[tuple[bool, str]] = []
    condition, is_known = None, True
    for quoted, escaped, bracket, code, other in _PIECE.findall(text):
        if quoted or escaped or other:
            parts.append((True, quoted + escaped + other))
        elif code:
            parts.append((False, code.lower()))
        elif found := _CONDITION.fullmatch(bracket):
            condition = found[1], float(found[2])
        elif bracket.startswith("$"):
            parts.append((True, bracket[1:].partition("-")[0]))
        elif bracket.upper().startswith("DBNUM"):
            is_known = False  # other digits
    return _Section(tuple((is_literal, one) for is_literal, one in parts if one), condition, is_known)
