"""What the values of a column look like: e-mails, web addresses, phone numbers, numbers, dates, yes and no, names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from importer.mapping.constants import NO_WORDS, YES_WORDS
from importer.models import Column, Row
from importer.suggest.date_forms import DateForms, date_forms
from importer.suggest.header_words import read_table
from importer.text.normalize import normalize

# --- a look at the first rows ---------------------------------------------------------------------

_MOST_ROWS = 5_000
_MOST_DISTINCT = 1_000


@dataclass(frozen=True, slots=True)
class SampledColumn:
    """A column and its values: each distinct text once with its count, in order of first appearance; blanks left out.

    `filled` counts all cells that hold something, also those whose text is not kept because there are too many.
    """

    column: Column
    values: tuple[tuple[str, int], ...] = ()
    filled: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.values)


def sample_columns(columns: Sequence[Column], rows: Iterable[Row]) -> tuple[SampledColumn, ...]:
    """The columns with what the first 5,000 rows hold."""
    counts: list[Counter[str]] = [Counter() for _ in columns]
    filled = [0] * len(columns)
    for row in islice(rows, _MOST_ROWS):
        for index, cell in enumerate(row.cells):
            text = cell.strip()
            if text:
                filled[index] += 1
                if text in counts[index] or len(counts[index]) < _MOST_DISTINCT:
                    counts[index][text] += 1
    return tuple(
        SampledColumn(column, tuple(counts[position].items()), filled[position])
        for position, column in enumerate(columns)
    )


# --- what they look like --------------------------------------------------------------------------

_TABLE = read_table("value_words")
MISSING_OR_NAME = frozenset(map(normalize, _TABLE["missing_or_name"]))
MISSING_WORDS = frozenset(map(normalize, _TABLE["missing"])) | MISSING_OR_NAME
_YES = frozenset(map(normalize, (*YES_WORDS, *_TABLE["yes"])))
_NO = frozenset(map(normalize, (*NO_WORDS, *_TABLE["no"])))

NUMBER = re.compile(r"[+-]?\d[\d., '’\u00a0\u202f]*")
_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]{2,}")
_URL = re.compile(r"(https?://)?([\w-]+\.)+[a-z]{2,}(/\S*)?", re.IGNORECASE)
_PHONE = re.compile(r"[+(]?[\d][\d\s().\-/]{6,22}")
_WHOLE = re.compile(r"[+-]?\d{1,3}(?:([., '’\u00a0\u202f])\d{3})*|[+-]?\d+")
_DOCUMENT = re.compile(r"[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*")
_FILE_NAME = re.compile(r".*\.(pdf|docx?|odt|rtf|txt|jpe?g|png)", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnValues:
    """The values of one column (missing words left out) and what they look like. Shares are from 0 to 1."""

    sampled: SampledColumn

    @cached_property
    def counts(self) -> tuple[tuple[str, int], ...]:
        return tuple((text, count) for text, count in self.sampled.values if normalize(text) not in MISSING_WORDS)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.counts)

    @cached_property
    def total(self) -> int:
        return sum(count for _, count in self.counts)

    def share(self, test: Callable[[str], object]) -> float:
        """The share of cells whose text passes; 0 where there are none."""
        return sum(count for text, count in self.counts if test(text)) / self.total if self.total else 0.0

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
        return self.share(_FILE_NAME.fullmatch)

    @cached_property
    def dates(self) -> DateForms:
        return date_forms(self.counts)

    @cached_property
    def yes_no(self) -> float:
        """The share of words of yes and no, of all cells: `yok` is such a word and no missing value here."""
        total = sum(count for _, count in self.sampled.values)
        found = sum(count for text, count in self.sampled.values if is_yes(text) or is_no(text))
        return found / total if total else 0.0

    @cached_property
    def several_words(self) -> float:
        return self.share(lambda text: len(text.split()) > 1)

    @cached_property
    def digits(self) -> float:
        """The share of texts with a digit: names have none."""
        return self.share(lambda text: any(character.isdigit() for character in text))


def is_yes(text: str) -> bool:
    return normalize(text) in _YES


def is_no(text: str) -> bool:
    return normalize(text) in _NO


def _is_phone(text: str) -> bool:
    return bool(_PHONE.fullmatch(text)) and 7 <= sum(character.isdigit() for character in text) <= 15
