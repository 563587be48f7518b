"""What a header says: its words, and the concept that the table of header words (header_words.toml) knows it for.

The words are without case, accents, punctuation, numbers and the endings that Turkish puts on a noun.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from importer.text.normalize import normalize

# What columns may hold, each with the phrases for it by language.
Phrases = Mapping[str, Mapping[str, Sequence[str]]]


@lru_cache
def read_table(name: str) -> dict[str, Any]:
    """A table of words beside this file."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


_TABLE = read_table("header_words")
LANGUAGES = ("en", "tr", "de")
CONCEPTS: Phrases = _TABLE["concepts"]
NOT_IMPORTED: Phrases = _TABLE["not_imported"]
ENTRY_PHRASES: Mapping[str, Phrases] = _TABLE["entry_fields"]  # by kind; EITHER_KIND: those that fit both
EITHER_KIND = "either"
ENTRY_QUALIFIERS = {kind: frozenset(words) for kind, words in _TABLE["entry_qualifiers"].items()}
FOREIGN_WORDS = frozenset(_TABLE["foreign"])
NOISE_WORDS = frozenset(_TABLE["noise"])
OF_QUESTION_TYPE: Mapping[str, str] = _TABLE["of_question_type"]
STANDS_IN: Mapping[str, str] = _TABLE["stands_in"]

# --- the words of a header ------------------------------------------------------------------------

_CAMEL = re.compile(r"(?<=[a-zçğıöşüäß])(?=[A-ZÇĞİÖŞÜÄ])")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = str.maketrans({"ä": "ae", "ß": "ss"})  # ö and ü are Turkish too: they lose their dots in either language
_YOUR = re.compile(r"(?<=[a-z]{2})[iu]?n[iu]z$")  # Adınız, numaranız
_ITS = re.compile(r"(?<=[a-z]{4})s?[iu]$")  # tarihi, numarası


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a header in order: `Telefon Numaranız *` is `telefon`, `numara`; `jobTitle2` is `job`, `title`."""
    return tuple(_stem(_plain(word)) for word in _WORD.findall(normalize(_CAMEL.sub(" ", text))))


@lru_cache(maxsize=8192)
def key_of(text: str) -> str:
    """What two headers that say the same have in common, spaces left out: `E mail` and `email` are one."""
    return "".join(words_of(text))


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.translate(_LETTERS))
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _stem(word: str) -> str:
    return _ITS.sub("", _YOUR.sub("", word))


def outside_brackets(header: str) -> str:
    """The header without what is in brackets."""
    return header.partition("(")[0].partition("[")[0]


# --- the table ------------------------------------------------------------------------------------


def phrases_in(table: Phrases) -> Iterator[tuple[str, str]]:
    """Each name of a table with each of its phrases, in every language."""
    for name, by_language in table.items():
        for phrases in by_language.values():
            for phrase in phrases:
                yield name, phrase


def index_of(table: Phrases) -> dict[str, str]:
    """What each phrase of a table stands for, by the key of the phrase."""
    return {key_of(phrase): name for name, phrase in phrases_in(table)}


_CONCEPT_OF = index_of(CONCEPTS)
_NOT_IMPORTED_OF = index_of(NOT_IMPORTED)


def concept_of(text: str) -> str | None:
    """What a header or a question asks for, None where the table of header words does not know it."""
    whole = next((found for key in _readings(text) if (found := _CONCEPT_OF.get(key))), None)
    if whole is not None or "/" not in text:
        return whole
    # Two ways to say it: `Name Surname / Ad Soyad`.
    parts = {concept_of(part) for part in text.split("/")}
    return parts.pop() if len(parts) == 1 else None


def is_not_imported(header: str) -> bool:
    """Whether the table says that a column with this header is of no use to the service."""
    return any(key in _NOT_IMPORTED_OF for key in _readings(header))


def phrases_for(concept: str | None) -> tuple[str, ...]:
    """The phrases for a concept in every language, those that are too short to compare left out."""
    by_language = CONCEPTS.get(concept or "", {})
    return tuple(phrase for phrases in by_language.values() for phrase in phrases if len(key_of(phrase)) > 3)


def _readings(text: str) -> tuple[str, ...]:
    """The keys to look a header up by: whole, without what is in brackets, without words that say nothing."""
    outside = outside_brackets(text)
    keys = (key_of(text), _bare_key_of(text), key_of(outside), _bare_key_of(outside))
    return tuple(key for key in dict.fromkeys(keys) if key)


def _bare_key_of(text: str) -> str:
    """The key without words that say nothing about the content (`Candidate e-mail` is `email`)."""
    return "".join(word for word in words_of(text) if word not in NOISE_WORDS)


def language_of(headers: Iterable[str]) -> str:
    """The language that most of the headers are in: en, tr or de."""
    wanted = Counter(map(key_of, headers))
    votes = Counter[str]()
    for by_language in (*CONCEPTS.values(), *NOT_IMPORTED.values()):
        for language, phrases in by_language.items():
            votes[language] += sum(wanted[key] for key in set(map(key_of, phrases)))
    return max(LANGUAGES, key=lambda language: votes[language])
