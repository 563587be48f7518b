"""A column with its header and a sample of its values, and what both indicate."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from importer.mapping import ColumnLookup
from importer.models import Row
from importer.problems import Column
from importer.suggest import cell_texts
from importer.suggest.cell_texts import is_no, is_yes
from importer.suggest.date_forms import DateForms, date_forms
from importer.suggest.header_words import (
    CONCEPTS,
    NOT_IMPORTED,
    OTHER_SUBJECT_WORDS,
    concept_of,
    key_of,
    likely_concept,
    not_imported_as,
    remark_in,
    words_of,
)
from importer.text.normalize import normalize

SIMILAR = "the header is similar"
_ITEM = re.compile(r"([^\[\]]*[^\[\]\s])\s*\[\d{1,4}\]", re.DOTALL)  # Engineer[0]
_MOST = 0.9  # of the cells must be lists of objects


def _share_of(test: Callable[[str], object]) -> cached_property[float]:
    """A property of a column: the share of its cells whose text passes the test."""
    return cached_property(lambda column: column.share(test))


@dataclass(frozen=True)
class ColumnView:
    """A column with a sample of its values, and what they and its header indicate.

    `values`: each distinct text with its count, in order of first appearance, without blanks. `filled` counts all
    non-blank cells, including those whose text is not kept because there are too many. `ids`: if nearly every cell has
    another text, so that they identify the rows, the hashes of all in ascending order. `links`: cells with a link to a
    web address.
    """

    column: Column
    values: tuple[tuple[str, int], ...] = ()
    filled: int = 0
    ids: array[int] | None = None
    links: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.values)

    def has_id(self, text: str) -> bool:
        """Whether one of the cells that identify the rows has this text."""
        found, wanted = self.ids or (), _hash(text)
        at = bisect_left(found, wanted)
        return at < len(found) and found[at] == wanted

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
        return None if OTHER_SUBJECT_WORDS.intersection(words_of(self.remark)) else concept_of(self.name)

    @cached_property
    def remark(self) -> str:
        """Words in brackets of its header that may make it something else, or ""."""
        return remark_in(self.name)

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
        return not_imported_as(self.name) is not None or bool(OTHER_SUBJECT_WORDS & set(words_of(self.name)))

    @cached_property
    def _likely(self) -> str | None:
        return None if self.concept or self._is_refused else likely_concept(self.name)

    # --- its values, without missing words; shares are from 0 to 1 ----------------------------------

    @cached_property
    def counts(self) -> tuple[tuple[str, int], ...]:
        return tuple(
            (text, count)
            for text, count in self.values
            if text != "[]" and normalize(text) not in cell_texts.MISSING_WORDS
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

    numbered_items = _share_of(_ITEM.search)  # Engineer[0], Lead[1]
    emails = _share_of(cell_texts.is_email)
    urls = _share_of(cell_texts.URL.fullmatch)
    phones = _share_of(cell_texts.is_phone)
    dialed = _share_of(cell_texts.DIALED.fullmatch)  # clearly phone numbers, by their beginning or spacing
    numbers = _share_of(lambda text: cell_texts.NUMBER.fullmatch(cell_texts.amount_of(text).number))
    whole_numbers = _share_of(lambda text: cell_texts.WHOLE_NUMBER.fullmatch(cell_texts.amount_of(text).number))
    documents = _share_of(cell_texts.DOCUMENT.fullmatch)
    files = _share_of(cell_texts.FILE_NAME.fullmatch)
    several_words = _share_of(lambda text: len(text.split()) > 1)
    digits = _share_of(lambda text: any(map(str.isdigit, text)))  # names have none

    @property
    def linked(self) -> float:
        return self.links / self.filled if self.filled else 0.0

    def urls_of(self, site: str) -> float:
        """The share of web addresses of a site, for example `linkedin`."""
        return self.share(lambda text: cell_texts.URL.fullmatch(text) and site in text.lower())

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
        lists = [(cell_texts.json_items(text), count) for text, count in self.counts]
        objects = [(item, count) for items, count in lists for item in items or () if isinstance(item, dict)]
        if not objects or sum(count for items, count in lists if items is not None) < _MOST * self.total:
            return ()
        found: dict[str, Counter[str]] = {}
        for item, count in objects:
            for key, text in cell_texts.texts_of(item):
                found.setdefault(key, Counter()).update({text: count} if text else {})
        return tuple(
            ColumnView(Column(index, "", key), tuple(texts.items()), texts.total())
            for index, (key, texts) in enumerate(found.items())
        )


@dataclass(frozen=True, slots=True)
class ListedItems:
    """The items of a column whose cells are lists. split: what separates them; numbered: each ends with its number."""

    column: ColumnView
    split: str
    numbered: bool


_SEPARATORS = (",", ";", "|", "\n")


def listed_items(view: ColumnView) -> ListedItems | None:
    """The items of nearly all cells: `Engineer[0], Lead[1]`, or lists in JSON or Python notation; None for others."""
    numbered = [separator for separator in _SEPARATORS if _share_of_items(view, separator) >= _MOST]
    if numbered:
        return ListedItems(_with_items(view, lambda text: _items(text, numbered[0])), numbered[0], numbered=True)
    lists = [(cell_texts.json_items(text), count) for text, count in view.counts]
    texts = sum(count for items, count in lists if items is not None and all(isinstance(one, str) for one in items))
    if view.total and texts >= _MOST * view.total:
        return ListedItems(_with_items(view, lambda text: map(str, cell_texts.json_items(text) or ())), "json", False)
    return None


def _items(text: str, separator: str) -> list[str]:
    found = [_ITEM.fullmatch(piece.strip()) for piece in text.split(separator)]
    return [item[1] for item in found if item] if all(found) else []


def _share_of_items(view: ColumnView, separator: str) -> float:
    return view.share(lambda text: _items(text, separator))


def _with_items(view: ColumnView, items_of: Callable[[str], Iterable[str]]) -> ColumnView:
    items = Counter[str]()
    for text, count in view.counts:
        for item in items_of(text):
            items[item] += count
    return replace(view, values=tuple(items.items()), filled=items.total(), ids=None)


class ColumnNames:
    """The names that a mapping file uses for the columns of one sheet."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._header = ColumnLookup(columns)

    def of(self, column: Column) -> str:
        """The header if it matches only this column, else the letter, for example `=C`."""
        name = " ".join(column.name.split())
        return name if self._header.candidates(name) == (column,) else f"={column.letter}"


# --- a sample of the values -----------------------------------------------------------------------

_MAX_DISTINCT = 1_000
_SOME_BITS = 0x7FFF_FFFF  # of a hash: enough to count texts, and to find most of a thousand
_MAX_CHARACTERS = 1_000_000  # of these texts: long ones show as much in a few cells
_MAX_IDS = 300_000  # in one column; more take too much memory
_UNIQUE = 0.9  # of the filled cells must be different, so that they identify the rows


def sample_columns(columns: Sequence[Column], rows: Iterable[Row]) -> tuple[ColumnView, ...]:
    """The columns with a sample of their values; all rows are read."""
    sampler = Sampler(columns)
    for row in rows:
        sampler.add(row)
    return sampler.views()


def _hash(text: str) -> int:
    return hash(text) & _SOME_BITS


class Sampler:
    """Collects the values of rows."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._counts: list[Counter[str]] = [Counter() for _ in columns]
        self._filled = [0] * len(columns)
        self._characters = [0] * len(columns)
        self._hashes: list[array[int] | None] = [array("i") for _ in columns]
        self._links = [0] * len(columns)

    def add(self, row: Row) -> None:
        if any(one.code == "filtered" for one in row.problems):  # it repeats the header
            return
        for index, address in row.links:
            if index < len(self._links):
                self._links[index] += address.lower().startswith(("http://", "https://"))
        for index, cell in enumerate(row.cells):
            if cell and (text := cell.strip()):
                self._filled[index] += 1
                counts = self._counts[index]
                if text in counts:
                    counts[text] += 1
                elif len(counts) < _MAX_DISTINCT and self._characters[index] < _MAX_CHARACTERS:
                    counts[text] = 1
                    self._characters[index] += len(text)
                if (hashes := self._hashes[index]) is not None:
                    hashes.append(_hash(text))
                    if len(hashes) > _MAX_IDS or (len(hashes) == _MAX_DISTINCT > len(set(hashes)) / _UNIQUE):
                        self._hashes[index] = None

    def views(self) -> tuple[ColumnView, ...]:
        columns = _with_unique_names(self._columns)
        found = zip(columns, self._counts, self._filled, self._links, strict=True)
        return tuple(
            ColumnView(column, tuple(counts.items()), filled, self._ids(index), links)
            for index, (column, counts, filled, links) in enumerate(found)
        )

    def _ids(self, index: int) -> array[int] | None:
        """The hashes of a column in ascending order, if nearly all are different; they are not kept here any longer."""
        hashes, self._hashes[index] = self._hashes[index], None
        if not hashes:
            return None
        different = sorted(set(hashes))
        return array("i", different) if len(different) >= _UNIQUE * len(hashes) else None


def _with_unique_names(columns: Sequence[Column]) -> list[Column]:
    """The columns with a lower name only where it is clear without the upper one: not the phone of a referee."""
    count = Counter(normalize(column.lower) for column in columns)
    return [
        column
        if count[normalize(column.lower)] == 1 and not OTHER_SUBJECT_WORDS & set(words_of(column.name))
        else replace(column, lower="")
        for column in columns
    ]
