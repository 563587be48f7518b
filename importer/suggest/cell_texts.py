"""What the text of a cell looks like: words for yes, no and an empty cell, numbers with a currency, lists in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from importer.mapping import NO_WORDS, YES_WORDS
from importer.suggest.header_words import read_table
from importer.text.currencies import currency_code
from importer.text.literals import InvalidLiteral, Parsed, read_literal
from importer.text.normalize import normalize, normalized, pieces_with

_TABLE = read_table("value_words")
MISSING_OR_NAME = normalized(_TABLE["missing_or_name"])
MISSING_WORDS = normalized(_TABLE["missing"]) | MISSING_OR_NAME
_YES = normalized((*YES_WORDS, *_TABLE["yes"]))
_NO = normalized((*NO_WORDS, *_TABLE["no"]))

NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[., '’\u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?")
_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]{2,}")
URL = re.compile(r"(https?://)?([\w-]+\.)+[a-z]{2,}(/\S*)?", re.IGNORECASE)
CLEAR_URL = re.compile(r"(https?://|www\.)\S+|([\w-]+\.)+[a-z]{2,}/\S*", re.IGNORECASE)  # neither cv.pdf nor Node.js
_PHONE = re.compile(r"[+(]?[\d][\d\s().\-/]{6,22}")
DIALED = re.compile(r"[+0(].{8,}|\d{3}[-. ]\d{3}[-. ]\d{4}")
WHOLE_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:([., '’\u00a0\u202f])\d{3})*|\d+)(?:[.,]0{1,2})?")
DOCUMENT = re.compile(r"[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*")
FILE_NAME = re.compile(r".*\.(pdf|docx?|odt|rtf|txt|jpe?g|png)", re.IGNORECASE)
_AMOUNT = re.compile(r"([^\d\s.,+-]*)\s*([+-]?\d(?:.*\d)?)\s*([^\d\s]*)", re.DOTALL)
_CURRENCY_WORD = re.compile(r"[^\W\d_]+|[^\w\s]")

_FEW_WORDS = 5
_TOTAL_WORDS = normalized(_TABLE["totals"])


def is_email(text: str) -> bool:
    """Whether it is an e-mail address, or a few words with one: `Ada Nur <ada@example.com>`."""
    pieces = pieces_with("@", text) or [] if "@" in text else []
    return len(pieces) == 1 and _EMAIL.fullmatch(pieces[0]) is not None and len(text.split()) <= _FEW_WORDS


def is_missing(text: str) -> bool:
    """Whether a text is read as an empty cell: a word for it, or an empty list."""
    return text == "[]" or normalize(text) in MISSING_WORDS


def is_yes(text: str) -> bool:
    return normalize(text) in _YES


def is_no(text: str) -> bool:
    return normalize(text) in _NO


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, and the currency before or after it: as written, and its code; both "" if there is none."""

    number: str
    currency: str = ""
    code: str = ""


@lru_cache(maxsize=8192)
def amount_of(text: str) -> Amount:
    """`45.000 TL` and `$61,000` without their currency; a text with any other word stays as it is."""
    found = _AMOUNT.fullmatch(text)
    before, number, after = found.groups() if found else ("", text, "")
    code = code_of(before or after)
    return Amount(number, before or after, code) if code and not (before and after) else Amount(text)


def currencies_in(text: str) -> dict[str, str]:
    """The currencies that a header or a question names, by code: `Salary (EUR)`."""
    words = (word for word in reversed(_CURRENCY_WORD.findall(text)) if _is_clear(word))
    return {code: word for word in words if (code := code_of(word))}


def _is_clear(word: str) -> bool:
    """Whether a word of a sentence can be a currency: `all`, `le` and `try` are none there."""
    return not word.isalpha() or len(word) > _LONGEST_CODE or word.isupper() or not word.isascii()


_LONGEST_CODE = 3


def code_of(currency: str) -> str:
    """The ISO 4217 code of a currency; "" if it is none, or if several use its sign."""
    return currency_code(currency) or ""


def json_items(text: str) -> list[Parsed] | None:
    """The items of a list in JSON or Python notation, numbers as they are written; None for any other text."""
    try:
        found = read_literal(text) if text.startswith("[") else ""
    except InvalidLiteral:
        return None
    return found if isinstance(found, list) else None


def texts_of(item: Mapping[str, Parsed], before: str = "") -> Iterator[tuple[str, str]]:
    """The keys of a JSON object with their texts; `school.name` for one inside another."""
    for key, value in item.items():
        if isinstance(value, dict):
            yield from texts_of(value, f"{before}{key}.")
        elif isinstance(value, str):
            yield f"{before}{key}", value.strip()


def is_phone(text: str) -> bool:
    return bool(_PHONE.fullmatch(text)) and 7 <= sum(character.isdigit() for character in text) <= 15


def is_total(text: str) -> bool:
    """Whether a cell names a total: `Gesamt:`, `Total : 5 postes`."""
    return normalize(text.partition(":")[0]) in _TOTAL_WORDS
