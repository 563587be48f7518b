"""A column as the proposals see it: what its header and its values say, how a mapping names it, and names of people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from importer.mapping import Header
from importer.models import Column
from importer.suggest.column_values import ColumnValues, SampledColumn
from importer.suggest.header_meaning import likely_concept
from importer.suggest.header_words import (
    CONCEPTS,
    FOREIGN_WORDS,
    NOT_IMPORTED,
    concept_of,
    is_not_imported,
    key_of,
    read_table,
    words_of,
)

SIMILAR = "the header is like it"


@dataclass(frozen=True)
class ColumnView:
    """A column with what its header and its values say."""

    sampled: SampledColumn
    values: ColumnValues
    concept: str | None  # of CONCEPTS
    imported: bool  # False: its header says that it is of no use to the service, or is about somebody else
    likely: str | None = None  # what the words of its header make likely, where `concept` is None

    @property
    def column(self) -> Column:
        return self.sampled.column

    @property
    def name(self) -> str:
        return self.sampled.column.name

    @cached_property
    def key(self) -> str:
        return key_of(self.name)


def view(sampled: SampledColumn) -> ColumnView:
    """The column with its meaning looked up."""
    name = sampled.column.name
    concept = concept_of(name)
    refused = concept is None and is_not_imported(name)
    foreign = concept is None and bool(FOREIGN_WORDS & set(words_of(name)))
    likely = None if concept or refused or foreign else likely_concept(name)
    refused = refused or likely in NOT_IMPORTED
    imported = not refused and not foreign and bool(name.strip())
    return ColumnView(sampled, ColumnValues(sampled), concept, imported, likely if likely in CONCEPTS else None)


class ColumnNames:
    """The names by which a mapping file finds the columns of one sheet again."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._header = Header(columns)

    def of(self, column: Column) -> str:
        """The header where it means this column only, else the letter as `=C`."""
        name = " ".join(column.name.split())
        return name if self._header.candidates(name) == (column,) else f"={column.letter}"


# --- which columns hold the names of people -------------------------------------------------------

_TABLE = read_table("value_words")
_PARTICLES = frozenset(_TABLE["particles"])
_SUFFIXES = frozenset(_TABLE["name_suffixes"])
_MOST = 0.6  # of the names
_CAPITALS = 0.8  # of the names: the others will be told row by row


@dataclass(frozen=True, slots=True)
class NameHabits:
    """How the full names of a file are written: whether capitals mark the last name, words that belong to it."""

    in_capitals: bool = False
    particles: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()


PLAIN = NameHabits()


@dataclass(frozen=True, slots=True)
class NameColumn:
    """The column of a name, and which part of it where it holds a full name."""

    view: ColumnView
    part: str | None = None
    doubt: str = ""
    habits: NameHabits = PLAIN


def find_names(views: Sequence[ColumnView]) -> dict[str, NameColumn]:
    """The columns of `first_name` and `last_name`; what is not found is left out.

    `Name` is the last name beside `Vorname`, the first name beside `Surname`, and a full name where it is alone.
    """
    first, last = _of(views, "first_name"), _of(views, "last_name")
    bare, full = _of(views, "bare_name"), _of(views, "full_name")
    if first and last:
        return {"first_name": _plain(first), "last_name": _plain(last)}
    if last and bare:
        return {"first_name": _plain(bare), "last_name": _plain(last)}
    if first and bare:
        return {"first_name": _plain(first), "last_name": _plain(bare)}
    whole = full or (bare if bare and bare.values.several_words >= _MOST else None)
    if whole:
        return _split(whole)
    return {name: _plain(found) for name, found in (("first_name", first), ("last_name", last)) if found}


def _of(views: Sequence[ColumnView], concept: str) -> ColumnView | None:
    found = [one for one in views if one.concept == concept] or [one for one in views if one.likely == concept]
    return next((one for one in found if one.sampled.filled), found[0] if found else None)


def _plain(one: ColumnView) -> NameColumn:
    if max(one.values.digits, one.values.emails) >= 1 - _MOST:
        return NameColumn(one, doubt="the values do not look like names")
    return NameColumn(one, doubt="" if one.concept else SIMILAR)


def _split(one: ColumnView) -> dict[str, NameColumn]:
    doubt = ""
    capitals = one.values.share(_has_capitals) > _CAPITALS
    if one.values.total and one.values.several_words < _MOST:
        doubt = "most values are one word and cannot be split"
    elif not capitals and one.values.share(_surname_first) > 1 - _MOST:
        doubt = "the last name seems to stand first, and the last word is taken for it"
    elif not one.concept:
        doubt = SIMILAR
    habits = NameHabits(capitals, *_words_of_last_names(one.values.texts))
    return {
        "first_name": NameColumn(one, "first", doubt, habits),
        "last_name": NameColumn(one, "last", doubt, habits),
    }


def _words_of_last_names(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The particles and the suffixes that occur: `van der Berg`, `Polat Jr.`."""
    particles, suffixes = dict[str, None](), dict[str, None]()
    for words in (name.split() for name in names if "," not in name):
        particles.update(dict.fromkeys(word for word in words[1:-1] if word in _PARTICLES))
        suffixes.update(dict.fromkeys(word for word in words[2:] if word.casefold().rstrip(".") in _SUFFIXES))
    return tuple(particles), tuple(suffixes)


def _has_capitals(name: str) -> bool:
    """`YILMAZ Ayşe`, `Ayşe YILMAZ`: the words in capitals stand on one side, and there are others."""
    capital = [word.isupper() and len(word) > 1 and not word.endswith(".") for word in name.split()]
    return any(capital) and not all(capital) and capital in (sorted(capital), sorted(capital, reverse=True))


def _surname_first(name: str) -> bool:
    """`YILMAZ Ayşe`: the first word in capitals and the last not. A comma is read the right way round anyway."""
    words = name.split()
    return len(words) > 1 and "," not in name and words[0].isupper() and len(words[0]) > 1 and not words[-1].isupper()
