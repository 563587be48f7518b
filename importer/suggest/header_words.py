"""The meaning of a header: its words, its concept in the table of header words, and its likely concept.

Words are compared without case, accents, punctuation, numbers and Turkish possessive endings.
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

from importer.mapping import EntryKind
from importer.text.currencies import currency_code
from importer.text.normalize import normalize

# Names, each with its phrases by language.
Phrases = Mapping[str, Mapping[str, Sequence[str]]]


@lru_cache
def read_table(name: str) -> dict[str, Any]:
    """A table of words from a TOML file in this folder."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


_TABLE = read_table("header_words")
CONCEPTS: Phrases = _TABLE["concepts"]
NOT_IMPORTED: Phrases = _TABLE["not_imported"]
ENTRY_PHRASES: Mapping[str, Phrases] = _TABLE["entry_fields"]  # by kind; EITHER_KIND: phrases that fit both kinds
EITHER_KIND = "either"
ENTRY_QUALIFIERS = {kind: frozenset(words) for kind, words in _TABLE["entry_qualifiers"].items()}
OTHER_SUBJECT_WORDS = frozenset(_TABLE["other_subject"])
NOISE_WORDS = frozenset(_TABLE["noise"])
CONCEPT_OF_QUESTION_TYPE: Mapping[str, str] = _TABLE["concept_of_question_type"]
FALLBACK_CONCEPTS: Mapping[str, str] = _TABLE["fallback_concepts"]

# --- the words of a header ------------------------------------------------------------------------

_CAMEL = re.compile(r"(?<=[a-zçğıöşüäß])(?=[A-ZÇĞİÖŞÜÄ])")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = str.maketrans({"ä": "ae", "ß": "ss"})  # ö and ü are also Turkish, so they only lose their dots
_POSSESSIVE_YOUR = re.compile(r"(?<=[a-z]{2})[iu]?n[iu]z$")  # Adınız, numaranız
_POSSESSIVE_ITS = re.compile(r"(?<=[a-z]{4})s?[iu]$")  # tarihi, numarası


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a header in order: `Telefon Numaranız *` is `telefon`, `numara`; `jobTitle2` is `job`, `title`."""
    return tuple(_stem(_plain(word)) for word in _WORD.findall(normalize(_CAMEL.sub(" ", text))))


@lru_cache(maxsize=8192)
def key_of(text: str) -> str:
    """The key for comparing headers, without spaces: `E mail` and `email` have the same key."""
    return "".join(words_of(text))


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.translate(_LETTERS))
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _stem(word: str) -> str:
    return _POSSESSIVE_ITS.sub("", _POSSESSIVE_YOUR.sub("", word))


def outside_brackets(header: str) -> str:
    """The header without text in brackets."""
    return header.partition("(")[0].partition("[")[0]


# --- the table ------------------------------------------------------------------------------------


def phrases_in(table: Phrases) -> Iterator[tuple[str, str]]:
    """Each name of a table with each of its phrases, in all languages."""
    for name, by_language in table.items():
        for phrases in by_language.values():
            for phrase in phrases:
                yield name, phrase


def index_of(table: Phrases) -> dict[str, str]:
    """The name of each phrase of a table, by the key of the phrase."""
    return {key_of(phrase): name for name, phrase in phrases_in(table)}


_CONCEPT_OF = index_of(CONCEPTS)
_NOT_IMPORTED_OF = index_of(NOT_IMPORTED)
_LAST_NAME_FIRST = frozenset(map(key_of, _TABLE["last_name_first"]))
_TWO_LAST_NAMES = frozenset(key_of(phrase) for name in ("full_name", "bare_name") for phrase in CONCEPTS[name]["es"])


def concept_of(text: str) -> str | None:
    """The concept of a header or a question; None if the table of header words does not contain it."""
    whole = next((found for key in _readings(text) if (found := _CONCEPT_OF.get(key))), None)
    if whole is not None or "/" not in text:
        return whole
    # Two languages in one header: `Name Surname / Ad Soyad`.
    parts = {concept_of(part) for part in text.split("/")}
    return parts.pop() if len(parts) == 1 else None


def not_imported_as(text: str) -> str | None:
    """The name in NOT_IMPORTED of a header that the service does not use, unless a question asks for it."""
    return next((found for key in _readings(text) if (found := _NOT_IMPORTED_OF.get(key))), None)


def is_last_name_first(header: str) -> bool:
    """Whether the header of a full name names the last name first: `ФИО`, `Nachname Vorname`."""
    in_brackets = key_of(header.removeprefix(outside_brackets(header)))  # `Name (Last, First)`
    return not _LAST_NAME_FIRST.isdisjoint((*_readings(header), in_brackets))


def has_two_last_names(header: str) -> bool:
    """Whether the header of a full name is Spanish, so that most people have two last names."""
    return any(key in _TWO_LAST_NAMES for key in _readings(header))


def phrases_for(concept: str | None) -> tuple[str, ...]:
    """The phrases for a concept in all languages, except those that are too short to compare."""
    by_language = CONCEPTS.get(concept or "", {})
    return tuple(phrase for phrases in by_language.values() for phrase in phrases if len(key_of(phrase)) > 3)


def _readings(text: str) -> tuple[str, ...]:
    """The keys for looking up a header: whole, without text in brackets, without noise words."""
    outside = outside_brackets(text)
    keys = (key_of(text), _bare_key_of(text), key_of(outside), _bare_key_of(outside))
    return tuple(key for key in dict.fromkeys(keys) if key)


def _bare_key_of(text: str) -> str:
    """The key without noise words (`Candidate e-mail` is `email`)."""
    return "".join(word for word in words_of(text) if word not in NOISE_WORDS)


def language_of(headers: Iterable[str]) -> str:
    """The language of most headers, such as en, tr or de."""
    wanted = Counter(map(key_of, headers))
    votes = Counter({"en": 0})
    for by_language in (*CONCEPTS.values(), *NOT_IMPORTED.values()):
        for language, phrases in by_language.items():
            votes[language] += sum(wanted[key] for key in set(map(key_of, phrases)))
    return max(votes, key=lambda language: votes[language])


# --- the likely meaning of a header that is not a phrase of the table -----------------------------

# Without words that say nothing of the content (whose it is, how it is asked for), it must be a phrase of the table.

_SYNONYMS = read_table("synonyms")


def _plain_words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(plain for word in words for plain in words_of(word))


_UNITS = _plain_words(_SYNONYMS["neutral"]["units"])
_TIMES = {unit: _plain_words(words) for unit, words in _SYNONYMS["times"].items()}
_NEUTRAL = NOISE_WORDS.union(*map(_plain_words, _SYNONYMS["neutral"].values()))
_SAYS_NOTHING = (_NEUTRAL - _UNITS) | _plain_words(_SYNONYMS["harmless"]["remarks"])
_PHONE = _plain_words(_SYNONYMS["synonyms"]["phone"] + _SYNONYMS["synonyms"]["mobile"])
_CURRENT = _plain_words(_SYNONYMS["synonyms"]["current"] + _SYNONYMS["synonyms"]["last"])
_DATE_SHAPE = re.compile(r"[dmytjag.\\/ -]+|gün.ay.yıl", re.IGNORECASE)  # (dd.mm.yyyy)
_FIELDS = {kind: index_of(ENTRY_PHRASES[str(kind)]) for kind in (*EntryKind, EITHER_KIND)}


def remark_in(header: str) -> str:
    """The words in brackets of a header, if they may make it something else: a unit, another person or time.

    "" for what does not: `(required)`, `(EUR)`, `(dd.mm.yyyy)`, `(mobile)`, or a header that the table has as a whole.
    """
    remark = header[len(outside_brackets(header)) :].strip(" ()[]*:")
    if not remark or key_of(header) in _CONCEPT_OF or _DATE_SHAPE.fullmatch(remark):
        return ""
    words = [word for word in re.findall(r"[^\W\d_]+", remark) if currency_code(word) is None]
    plain = {word for one in words for word in words_of(one)}
    means_more = {word for word in plain - _SAYS_NOTHING - _PHONE if len(word) > 1 or word == "k"}  # (Y/N), and (k EUR)
    is_translation = concept_of(remark) == concept_of(outside_brackets(header)) is not None
    return remark if means_more and not is_translation else ""


def units_of_time(text: str) -> set[str]:
    """The units of time that a header or a question names: `Jahresgehalt` is by the year."""
    words = words_of(text)
    return {unit for unit, known in _TIMES.items() if not known.isdisjoint(words)}


def mentions_phone(header: str) -> bool:
    """Whether a word of the header means a phone: `Emergency phone`, `Tel. dienstlich`, `Annenin telefonu`."""
    return not _PHONE.isdisjoint(words_of(header))


def is_current(header: str) -> bool:
    """Whether a header is about the current or last entry: `Current Company`, `Son görev`."""
    return not _CURRENT.isdisjoint(words_of(header))


def likely_concept(header: str) -> str | None:
    """The likely name in CONCEPTS or NOT_IMPORTED, or None."""
    words = _telling_words(header)
    key = "".join(words)
    # One word is enough to propose a column, but not to exclude one.
    return _CONCEPT_OF.get(key) or (_NOT_IMPORTED_OF.get(key) if len(words) > 1 else None)


def likely_field(header: str) -> tuple[EntryKind, str] | None:
    """The entry kind and field that a header likely names; None if it names none, or if both kinds are possible."""
    words, found = _telling_words(header), {}
    for kind in EntryKind:
        says_kind = [word in ENTRY_QUALIFIERS[kind.value] | _CURRENT for word in words]
        begins = next((at for at, says in enumerate(says_kind) if not says), len(words))
        keys = ["".join(words[at:]) for at in range(begins + 1)]  # Work History Company: each may be a qualifier, too
        keys.append("".join(word for word, says in zip(words, says_kind, strict=True) if not says))
        fields = [*map(_FIELDS[kind].get, keys), *(_FIELDS[EITHER_KIND].get(key) for key in keys if key != keys[0])]
        if field := next(filter(None, fields), None):
            found[kind] = field
    return next(iter(found.items())) if len(found) == 1 else None


def _telling_words(header: str) -> list[str]:
    """The words outside brackets that say what a column has; none if it concerns another person or thing."""
    outside = outside_brackets(header)
    words = words_of(outside) or words_of(header)
    return [] if OTHER_SUBJECT_WORDS.intersection(words) else [word for word in words if word not in _NEUTRAL]
