"""A column with its header and values: how many there are, and what they look like."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TypeGuard

from importer.mapping import NO_WORDS, YES_WORDS, Header
from importer.models import Row
from importer.problems import Column, Problem
from importer.suggest.date_forms import DateForms, date_forms, fitting_formats
from importer.suggest.header_words import (
    CONCEPTS,
    NOT_IMPORTED,
    OTHER_SUBJECT_WORDS,
    concept_of,
    is_not_imported,
    key_of,
    likely_concept,
    mentions_phone,
    read_table,
    words_of,
)
from importer.text.cell_links import is_web_link
from importer.text.normalize import normalize

SIMILAR = "the header is similar"

# --- what texts look like -------------------------------------------------------------------------

_TABLE = read_table("value_words")
MISSING_OR_NAME = frozenset(map(normalize, _TABLE["missing_or_name"]))
MISSING_WORDS = frozenset(map(normalize, _TABLE["missing"])) | MISSING_OR_NAME
_YES = frozenset(map(normalize, (*YES_WORDS, *_TABLE["yes"])))
_NO = frozenset(map(normalize, (*NO_WORDS, *_TABLE["no"])))

NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[., '’\u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?")
_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]{2,}")
_URL = re.compile(r"(https?://)?([\w-]+\.)+[a-z]{2,}(/\S*)?", re.IGNORECASE)
_CLEAR_URL = re.compile(r"(https?://|www\.)\S+|([\w-]+\.)+[a-z]{2,}/\S*", re.IGNORECASE)  # neither cv.pdf nor Node.js
_PHONE = re.compile(r"[+(]?[\d][\d\s().\-/]{6,22}")
_DIALED = re.compile(r"[+0(].{8,}|\d{3}[-. ]\d{3}[-. ]\d{4}")
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,3}(?:([., '’\u00a0\u202f])\d{3})*|[+-]?\d+")
_DOCUMENT = re.compile(r"[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*")
_FILE_NAME = re.compile(r".*\.(pdf|docx?|odt|rtf|txt|jpe?g|png)", re.IGNORECASE)
_AMOUNT = re.compile(r"([^\d\s.,+-]*)\s*([+-]?\d(?:.*\d)?)\s*([^\d\s]*)", re.DOTALL)
_CURRENCY_WORD = re.compile(r"[^\W\d_]+|[^\w\s]")
_CURRENCIES: dict[str, str] = {normalize(word): code for code, words in _TABLE["currencies"].items() for word in words}


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
    code = _code_of(before or after)
    return Amount(number, before or after, code) if code and not (before and after) else Amount(text)


def currencies_in(text: str) -> dict[str, str]:
    """The currencies that a header or a question names, by code: `Salary (EUR)`."""
    return {code: word for word in reversed(_CURRENCY_WORD.findall(text)) if (code := _code_of(word))}


def _code_of(currency: str) -> str:
    return _CURRENCIES.get(normalize(currency.removesuffix(".")), "")


def json_items(text: str) -> list[object] | None:
    """The items of a list in JSON or Python notation, numbers as they are written; None for any other text."""
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return found if isinstance(found, list) else None


def _cells_of(item: Mapping[str, object], before: str = "") -> Iterator[tuple[str, str]]:
    """The keys of a JSON object with their texts; `school.name` for one inside another."""
    for key, value in item.items():
        if isinstance(value, dict):
            yield from _cells_of(value, f"{before}{key}.")
        elif not isinstance(value, list):
            yield f"{before}{key}", "" if value is None else str(value).strip()


def _is_phone(text: str) -> bool:
    return bool(_PHONE.fullmatch(text)) and 7 <= sum(character.isdigit() for character in text) <= 15


# --- a column -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnView:
    """A column with a sample of its values, and what they and its header indicate.

    `values`: each distinct text with its count, in order of first appearance, without blanks. `filled` counts all
    non-blank cells, including those whose text is not kept because there are too many. `ids`: all texts if nearly every
    cell has another one, so that they identify the rows; else None. `links`: cells with a link to a web address.
    """

    column: Column
    values: tuple[tuple[str, int], ...] = ()
    filled: int = 0
    ids: frozenset[str] | None = None
    links: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.values)

    # --- its header -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The header; in a header of two rows, only the lower name if no other column has it."""
        return self.column.lower or self.column.name

    @cached_property
    def key(self) -> str:
        return key_of(self.name)

    @cached_property
    def concept(self) -> str | None:
        """The concept (see CONCEPTS) of the header in the table of header words, or None."""
        return concept_of(self.name)

    @property
    def likely(self) -> str | None:
        """The likely concept (see CONCEPTS) from the words of the header, if `concept` is None."""
        return self._likely if self._likely in CONCEPTS else None

    @cached_property
    def imported(self) -> bool:
        """False if the header means something that the service does not use, or concerns another person or thing."""
        refused = self.concept is None and (self._is_refused or self._likely in NOT_IMPORTED)
        return not refused and bool(self.name.strip())

    @cached_property
    def _is_refused(self) -> bool:
        return is_not_imported(self.name) or bool(OTHER_SUBJECT_WORDS & set(words_of(self.name)))

    @cached_property
    def _likely(self) -> str | None:
        return None if self.concept or self._is_refused else likely_concept(self.name)

    # --- its values, without missing words; shares are from 0 to 1 ----------------------------------

    @cached_property
    def counts(self) -> tuple[tuple[str, int], ...]:
        return tuple(
            (text, count) for text, count in self.values if text != "[]" and normalize(text) not in MISSING_WORDS
        )

    @cached_property
    def total(self) -> int:
        return sum(count for _, count in self.counts)

    def share(self, test: Callable[[str], object]) -> float:
        """The share of cells whose text passes the test; 0 if there are none."""
        return sum(count for text, count in self.counts if test(text)) / self.total if self.total else 0.0

    def count_of(self, words: Container[str]) -> int:
        """How many cells contain one of these normalized words with a letter: `-` is no answer."""
        found = ((normalize(text), count) for text, count in self.values)
        return sum(count for word, count in found if word in words and any(map(str.isalnum, word)))

    @cached_property
    def emails(self) -> float:
        return self.share(_EMAIL.fullmatch)

    @property
    def linked(self) -> float:
        return self.links / self.filled if self.filled else 0.0

    @cached_property
    def urls(self) -> float:
        return self.share(_URL.fullmatch)

    def urls_of(self, site: str) -> float:
        """The share of web addresses of a site, for example `linkedin`."""
        return self.share(lambda text: _URL.fullmatch(text) and site in text.lower())

    @cached_property
    def phones(self) -> float:
        return self.share(_is_phone)

    @cached_property
    def dialed(self) -> float:
        """The share of texts that are clearly phone numbers, by their beginning or spacing."""
        return self.share(_DIALED.fullmatch)

    @cached_property
    def numbers(self) -> float:
        return self.share(lambda text: NUMBER.fullmatch(amount_of(text).number))

    @cached_property
    def whole_numbers(self) -> float:
        return self.share(lambda text: _WHOLE_NUMBER.fullmatch(amount_of(text).number))

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
        """The share of words for yes and no; here `yok` means no, not a missing value."""
        words = [(text, count) for text, count in self.values if is_yes(text) or is_no(text)]
        others = sum(count for text, count in self.counts if not (is_yes(text) or is_no(text)))
        found = sum(count for _, count in words)
        return found / (found + others) if found else 0.0

    @cached_property
    def inside(self) -> tuple[ColumnView, ...]:
        """The keys of the objects in its cells as columns, if nearly all cells are JSON lists of objects."""
        lists = [(json_items(text), count) for text, count in self.counts]
        objects = [(item, count) for items, count in lists for item in items or () if isinstance(item, dict)]
        if not objects or sum(count for items, count in lists if items is not None) < _KIND_SHARE * self.total:
            return ()
        found: dict[str, Counter[str]] = {}
        for item, count in objects:
            for key, text in _cells_of(item):
                found.setdefault(key, Counter())[text] += count
        counts = [
            (key, Counter({text: count for text, count in texts.items() if text})) for key, texts in found.items()
        ]
        return tuple(
            ColumnView(Column(index, "", key), tuple(texts.items()), texts.total())
            for index, (key, texts) in enumerate(counts)
        )

    @cached_property
    def several_words(self) -> float:
        return self.share(lambda text: len(text.split()) > 1)

    @cached_property
    def digits(self) -> float:
        """The share of texts with a digit, which names do not have."""
        return self.share(lambda text: any(character.isdigit() for character in text))


class ColumnNames:
    """The names that a mapping file uses for the columns of one sheet."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._header = Header(columns)

    def of(self, column: Column) -> str:
        """The header if it matches only this column, else the letter, for example `=C`."""
        name = " ".join(column.name.split())
        return name if self._header.candidates(name) == (column,) else f"={column.letter}"


# --- a sample of the values -----------------------------------------------------------------------

_MAX_DISTINCT = 1_000
_MAX_IDS = 300_000  # in one column; more take too much memory
_FEW = 20  # repeated cells at the top of a file decide nothing
_UNIQUE = 0.9  # of the filled cells must be different, so that they identify the rows
_TOTAL_WORDS = frozenset(map(normalize, _TABLE["totals"]))


def sample_columns(columns: Sequence[Column], rows: Iterable[Row]) -> tuple[ColumnView, ...]:
    """The columns with a sample of their values; all rows are read."""
    sampler = _Sampler(columns)
    for row in rows:
        sampler.add(row)
    return sampler.views()


class _Sampler:
    """Collects the values of rows."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._counts: list[Counter[str]] = [Counter() for _ in columns]
        self._filled = [0] * len(columns)
        self._ids: list[set[str] | None] = [set() for _ in columns]
        self._links = [0] * len(columns)

    def add(self, row: Row) -> None:
        for index, address in row.links:
            if index < len(self._links):
                self._links[index] += is_web_link(address)
        for index, cell in enumerate(row.cells):
            if cell and (text := cell.strip()):
                self._filled[index] += 1
                counts = self._counts[index]
                if text in counts or len(counts) < _MAX_DISTINCT:
                    counts[text] += 1
                if (ids := self._ids[index]) is not None:
                    ids.add(text)
                    if len(ids) > _MAX_IDS or len(ids) + _FEW < _UNIQUE * self._filled[index]:
                        self._ids[index] = None

    def views(self) -> tuple[ColumnView, ...]:
        columns = _with_unique_names(self._columns)
        found = zip(columns, self._counts, self._filled, self._ids, self._links, strict=True)
        return tuple(
            ColumnView(
                column, tuple(counts.items()), filled, frozenset(ids) if _is_unique(ids, filled) else None, links
            )
            for column, counts, filled, ids, links in found
        )


def _is_unique(ids: set[str] | None, filled: int) -> TypeGuard[set[str]]:
    return ids is not None and len(ids) >= _UNIQUE * filled > 0


def _with_unique_names(columns: Sequence[Column]) -> list[Column]:
    """The columns with a lower name only where it is clear without the upper one: not the phone of a referee."""
    count = Counter(normalize(column.lower) for column in columns)
    return [
        column
        if count[normalize(column.lower)] == 1 and not OTHER_SUBJECT_WORDS & set(words_of(column.name))
        else replace(column, lower="")
        for column in columns
    ]


# --- the kinds of a sheet's columns, for `importer inspect` ----------------------------------------

_KIND_SHARE = 0.9  # of the filled cells must be of the kind
_DIALED_SHARE = 0.5  # of the values must be clearly phone numbers, if the header is not about phones
_SAMPLES = 3
_PROBLEMS = 20


class ColumnKind(StrEnum):
    """The likely kind of the values of a column."""

    EMPTY = "empty"
    TEXT = "text"
    E_MAIL = "e-mail"
    PHONE = "phone"
    DATE = "date"
    URL = "URL"
    YES_NO = "yes/no"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column: the number of filled cells, up to three different values, and their likely kind.

    `formats`: the date formats of its cells, in the notation of mapping files, the most frequent first. `ambiguous`:
    any one of them fits all dates, because day and month cannot be distinguished; otherwise all are needed.
    """

    column: Column
    filled: int
    samples: tuple[str, ...]
    kind: ColumnKind
    formats: tuple[str, ...] = ()
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class SheetProfile:
    """A sheet: the number of non-blank rows and of rows with problems, the first problems, and the columns.

    `total`: the first cell of the last row, if this row seems to be a total of the others.
    """

    rows: int
    last_row: int
    rows_with_problems: int
    problems: tuple[Problem, ...]
    views: tuple[ColumnView, ...]
    total: str | None = None

    @property
    def columns(self) -> tuple[ColumnProfile, ...]:
        """The columns with the kinds of their values."""
        return tuple(map(_profile_column, self.views))


def profile_sheet(columns: Sequence[Column], rows: Iterable[Row], header_row: int) -> SheetProfile:
    """Profile a sheet; all rows are read."""
    count, with_problems = 0, 0
    last: Row | None = None
    problems: list[Problem] = []
    sampler = _Sampler(columns)
    for row in rows:
        count += 1
        last = row
        with_problems += bool(row.problems)
        problems.extend(row.problems[: _PROBLEMS - len(problems)])
        sampler.add(row)
    views = sampler.views()
    total = _total_in(last, views) if last else None
    return SheetProfile(count, last.number if last else header_row, with_problems, tuple(problems), views, total)


def _total_in(last: Row, views: Sequence[ColumnView]) -> str | None:
    """The first cell of the last row, if it is a word for a total, most others are blank, and no other row has it."""
    filled = [(index, cell.strip()) for index, cell in enumerate(last.cells) if cell.strip()]
    index, text = filled[0] if filled else (0, "")
    is_total = normalize(text.rstrip(": ")) in _TOTAL_WORDS and 2 * len(filled) <= len(last.cells)
    return text if is_total and dict(views[index].values).get(text, 1) == 1 else None


def _profile_column(one: ColumnView) -> ColumnProfile:
    dates = fitting_formats(one.counts)
    kind = ColumnKind.DATE if dates.formats else _kind_of(one)
    samples = one.texts[:_SAMPLES]
    return ColumnProfile(one.column, one.filled, samples, kind, dates.formats, dates.ambiguous)


def _kind_of(one: ColumnView) -> ColumnKind:
    shares = {
        ColumnKind.PHONE: one.phones if mentions_phone(one.name) or one.dialed >= _DIALED_SHARE else 0.0,
        ColumnKind.E_MAIL: one.emails,
        ColumnKind.URL: one.share(_CLEAR_URL.fullmatch),
        ColumnKind.NUMBER: one.numbers,
        ColumnKind.YES_NO: one.yes_no,  # after NUMBER, because 1 and 0 are also words for yes and no
    }
    if not one.total:
        return ColumnKind.EMPTY
    return next((kind for kind, share in shares.items() if share >= _KIND_SHARE), ColumnKind.TEXT)
