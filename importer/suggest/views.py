"""A column as the proposals see it: its header's meaning, and what its values look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from importer.models import Column
from importer.suggest.header_meaning import likely_concept
from importer.suggest.header_text import bare_key_of, key_of, words_of
from importer.suggest.header_words import CONCEPTS, FOREIGN_WORDS, LANGUAGES, NOT_IMPORTED
from importer.suggest.sampled import SampledColumn
from importer.suggest.value_kinds import ValueKinds

LIKE_IT = "the header is like it"


@dataclass(frozen=True)
class ColumnView:
    """A column with what its header and its values say."""

    sampled: SampledColumn
    kinds: ValueKinds
    concept: str | None  # of header_words.CONCEPTS
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


def _index(table: Mapping[str, Mapping[str, tuple[str, ...]]]) -> dict[str, str]:
    return {
        key_of(word): name for name, by_language in table.items() for words in by_language.values() for word in words
    }


_CONCEPT_OF = _index(CONCEPTS)
_NOT_IMPORTED = _index(NOT_IMPORTED)


def concept_of(text: str) -> str | None:
    """What a header or a question asks for, None where the table of header words does not know it."""
    whole = next((found for key in _readings(text) if (found := _CONCEPT_OF.get(key))), None)
    if whole is not None or "/" not in text:
        return whole
    # Two ways to say it: `Name Surname / Ad Soyad`.
    parts = {concept_of(part) for part in text.split("/")}
    return parts.pop() if len(parts) == 1 else None


def words_for(concept: str | None) -> tuple[str, ...]:
    """The header words of a concept in every language, those that are too short to compare left out."""
    by_language = CONCEPTS.get(concept or "", {})
    return tuple(word for words in by_language.values() for word in words if len(key_of(word)) > 3)


def _readings(text: str) -> tuple[str, ...]:
    """The keys to look a header up by: whole, without what is in brackets, without words that say nothing."""
    outside = text.partition("(")[0].partition("[")[0]
    keys = (key_of(text), bare_key_of(text), key_of(outside), bare_key_of(outside))
    return tuple(key for key in dict.fromkeys(keys) if key)


def view(sampled: SampledColumn) -> ColumnView:
    """The column with its meaning looked up."""
    name = sampled.column.name
    concept = concept_of(name)
    refused = concept is None and any(key in _NOT_IMPORTED for key in _readings(name))
    foreign = concept is None and bool(FOREIGN_WORDS & set(words_of(name)))
    likely = None if concept or refused or foreign else likely_concept(name)
    refused = refused or likely in NOT_IMPORTED
    imported = not refused and not foreign and bool(name.strip())
    return ColumnView(sampled, ValueKinds(sampled), concept, imported, likely if likely in CONCEPTS else None)


def language_of(views: tuple[ColumnView, ...]) -> str:
    """The language that most of the headers are in: en, tr or de."""
    votes = Counter[str]()
    for seen in views:
        for table in (CONCEPTS, NOT_IMPORTED):
            for by_language in table.values():
                votes.update(
                    language for language, words in by_language.items() if seen.key in {key_of(word) for word in words}
                )
    return max(LANGUAGES, key=lambda language: votes[language])
