"""What the values of a column look like: e-mails, web addresses, phone numbers, numbers, dates, yes and no, names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from importer.mapping import NO_WORDS, YES_WORDS
from importer.suggest.date_forms import DateForms, date_forms
from importer.suggest.sampled import SampledColumn
from importer.text.normalize import normalize

MISSING_WORDS = frozenset(
    normalize(word)
    for word in (
        "-", "--", "—", "–", ".", "?", "n/a", "n.a.", "yok", "k.A.", "keine Angabe", "belirtilmemiş", "not specified",
        "unknown", "bilinmiyor", "unbekannt", "(blank)", "(boş)", "none", "null", "nil", "na", "boş",
    )
)  # fmt: skip
# Of these, each is also somebody's name: only taken for a missing value where several columns hold it.
NAMES_TOO = frozenset(normalize(word) for word in ("none", "null", "nil", "na"))

MORE_YES = (
    "var",
    "wahr",
    "doğru",
    "i agree",
    "agreed",
    "accepted",
    "kabul",
    "kabul ediyorum",
    "onaylıyorum",
    "✓",
    "ok",
)
MORE_NO = ("yok", "falsch", "yanlış", "declined", "kabul etmiyorum", "✗")
_YES = frozenset(normalize(word) for word in (*YES_WORDS, *MORE_YES))
_NO = frozenset(normalize(word) for word in (*NO_WORDS, *MORE_NO))

_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]{2,}")
_URL = re.compile(r"(https?://)?([\w-]+\.)+[a-z]{2,}(/\S*)?", re.IGNORECASE)
_PHONE = re.compile(r"[+(]?[\d][\d\s().\-/]{6,22}")
NUMBER = re.compile(r"[+-]?\d[\d., '’\u00a0\u202f]*")
_WHOLE = re.compile(r"[+-]?\d{1,3}(?:([., '’\u00a0\u202f])\d{3})*|[+-]?\d+")
_DOCUMENT = re.compile(r"[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*")
FILE_NAME = re.compile(r".*\.(pdf|docx?|odt|rtf|txt|jpe?g|png)", re.IGNORECASE)


@dataclass(frozen=True)
class ValueKinds:
    """The values of one column (missing words left out) and what they look like. Shares are from 0 to 1."""

    sampled: SampledColumn

    @cached_property
    def values(self) -> tuple[tuple[str, int], ...]:
        return tuple((text, count) for text, count in self.sampled.values if normalize(text) not in MISSING_WORDS)

    @cached_property
    def total(self) -> int:
        return sum(count for _, count in self.values)

    def share(self, test: Callable[[str], object]) -> float:
        """The share of cells whose text passes; 0 where there are none."""
        return sum(count for text, count in self.values if test(text)) / self.total if self.total else 0.0

    @cached_property
    def emails(self) -> float:
        return self.share(_EMAIL.fullmatch)

    @cached_property
    def urls(self) -> float:
        return self.share(_URL.fullmatch)

    def urls_of(self, site: str) -> float:
        """The share of web addresses of a site (`linkedin`)."""
        return self.share(lambda text: _URL.fullmatch(text) and site in text.lower())

    @cached_property
    def phones(self) -> float:
        return self.share(_is_phone)

    @cached_property
    def numbers(self) -> float:
        return self.share(NUMBER.fullmatch)

    @cached_property
    def whole_numbers(self) -> float:
        return self.share(_WHOLE.fullmatch)

    @cached_property
    def documents(self) -> float:
        return self.share(_DOCUMENT.fullmatch)

    @cached_property
    def files(self) -> float:
        return self.share(FILE_NAME.fullmatch)

    @cached_property
    def dates(self) -> DateForms:
        return date_forms(self.values)

    @cached_property
    def yes_no(self) -> float:
        """The share of words of yes and no, of all cells: `yok` is such a word and no missing value here."""
        total = sum(count for _, count in self.sampled.values)
        found = sum(count for text, count in self.sampled.values if normalize(text) in _YES | _NO)
        return found / total if total else 0.0

    @cached_property
    def several_words(self) -> float:
        return self.share(lambda text: len(text.split()) > 1)

    @cached_property
    def digits(self) -> float:
        """The share of texts with a digit: names have none."""
        return self.share(lambda text: any(sign.isdigit() for sign in text))


def is_yes(text: str) -> bool:
    return normalize(text) in _YES


def is_no(text: str) -> bool:
    return normalize(text) in _NO


def _is_phone(text: str) -> bool:
    return bool(_PHONE.fullmatch(text)) and 7 <= sum(sign.isdigit() for sign in text) <= 15
