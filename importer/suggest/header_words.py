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
    return any(key in _LAST_NAME_FIRST for key in _readings(header))


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

# Synonyms are replaced by one word, German compounds are split, and neutral words are removed. Known phrases must then
# cover all remaining words and agree; an unknown word leaves the meaning open.

_Words = frozenset[str]
_LINKS = ("", "s", "n", "en", "es", "er", "e")  # linking letters between the parts of a German compound
_SHORTEST_PART = 3  # letters
_SHORTEST_COMPOUND = 7


def _plain_words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(plain for word in words for plain in words_of(word))


_SYNONYMS = read_table("synonyms")
_STANDS_FOR = {plain: name for name, words in _SYNONYMS["synonyms"].items() for plain in _plain_words(words)}
_NEUTRAL = NOISE_WORDS.union(*map(_plain_words, _SYNONYMS["neutral"].values()))
_SINGLE = frozenset(
    words[0]
    for table in (CONCEPTS, NOT_IMPORTED, *ENTRY_PHRASES.values())
    for _, phrase in phrases_in(table)
    if len(words := words_of(phrase)) == 1
)
_KNOWN = frozenset(_STANDS_FOR) | _NEUTRAL | _SINGLE


@lru_cache(maxsize=8192)
def _tokens(text: str) -> tuple[_Words, int]:
    """The words of a text with synonyms replaced, without neutral words; and the number of removed words."""
    found, removed = set[str](), 0
    for word in _joined_mail(words_of(text)):
        for part in _parts(word):
            if len(part) == 1 or (part in _NEUTRAL and part not in _STANDS_FOR):
                removed += 1
            else:
                found.add(_STANDS_FOR.get(part, part))
    return frozenset(found), removed


_UNITS = _plain_words(_SYNONYMS["neutral"]["units"])
_HARMLESS = _plain_words(_SYNONYMS["harmless"]["remarks"])
_SAYS_NOTHING = (_NEUTRAL - _UNITS) | _HARMLESS | {"phone", "mobile", "email", "no"}
_DATE_SHAPE = re.compile(r"[dmytjag.\\/ -]+|gün.ay.yıl", re.IGNORECASE)  # (dd.mm.yyyy)


def remark_in(header: str) -> str:
    """The words in brackets of a header, if they may make it something else: a unit, another person or time.

    "" for what does not: `(required)`, `(EUR)`, `(dd.mm.yyyy)`, `(mobile)`, or a header that the table has as a whole.
    """
    remark = header[len(outside_brackets(header)) :].strip(" ()[]*:")
    if not remark or key_of(header) in _CONCEPT_OF or _DATE_SHAPE.fullmatch(remark):
        return ""
    words = [word for word in re.findall(r"[^\W\d_]+", remark) if currency_code(word) is None]
    plain = {_STANDS_FOR.get(word, word) for one in words for word in words_of(one)}
    means_more = {word for word in plain - _SAYS_NOTHING if len(word) > 1 or word == "k"}  # (Y/N), and (k EUR)
    is_translation = concept_of(remark) == concept_of(outside_brackets(header)) is not None
    return remark if means_more and not is_translation else ""


def mentions_phone(header: str) -> bool:
    """Whether a word of the header means a phone: `Emergency phone`, `Tel. dienstlich`, `Annenin telefonu`."""
    return not _tokens(header)[0].isdisjoint(("phone", "mobile"))


def _joined_mail(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with `e`, `posta` joined to one word."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "e" and word.startswith(("mail", "posta")):
            joined[-1] = f"e{word}"
        else:
            joined.append(word)
    return tuple(joined)


def _parts(word: str) -> tuple[str, ...]:
    """The known parts of an unknown compound: `bewerbername`, `handynummer`."""
    if word in _KNOWN or len(word) < _SHORTEST_COMPOUND:
        return (word,)
    for cut in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        head, tail = word[:cut], word[cut:]
        parts = (head.removesuffix(link) for link in _LINKS if head.endswith(link)) if tail in _KNOWN else ()
        known = next((part for part in parts if part in _KNOWN), None)
        if known is not None:
            return (known, tail)
    return (word,)


class _PhraseSets:
    """The phrases of a table as sets of words, without sets that have two meanings."""

    def __init__(self, *tables: Phrases) -> None:
        found: dict[_Words, tuple[int, str]] = {}
        for name, phrase in (pair for table in tables for pair in phrases_in(table)):
            words, removed = _tokens(phrase)
            before = found.get(words)
            # A single word that remains of several is not enough: `can start from` is not `start`.
            if not words or (removed and len(words) == 1) or (before is not None and before[0] < removed):
                continue
            same = before is None or before[0] > removed or before[1] == name
            found[words] = (removed, name if same else "")
        self._meaning = {words: name for words, (_, name) in found.items() if name}

    def covering(self, words: _Words) -> str | None:
        """The one meaning of the phrases that cover these words, or None."""
        whole = self._meaning.get(words)
        if whole is not None or len(words) < 2:
            return whole
        inside = [phrase for phrase in self._meaning if phrase < words]
        largest = [phrase for phrase in inside if not any(phrase < other for other in inside)]
        if not largest or frozenset().union(*largest) != words:
            return None
        names = {self._meaning[phrase] for phrase in largest}
        names -= {FALLBACK_CONCEPTS[name] for name in names if name in FALLBACK_CONCEPTS}
        if len(names) > 1:
            names.discard("location")  # `location_city` is the city
        return names.pop() if len(names) == 1 else None

    def longest_match(self, words: _Words, others: _Words) -> str | None:
        """The one meaning of the longest phrase in these words, if the remaining words are all in `others`."""
        fitting = [phrase for phrase in self._meaning if phrase <= words and words - phrase <= others]
        longest = max(map(len, fitting), default=0)
        names = {self._meaning[phrase] for phrase in fitting if len(phrase) == longest}
        return names.pop() if len(names) == 1 else None


_CONCEPTS = _PhraseSets(CONCEPTS, NOT_IMPORTED)
_KIND_FIELDS = {kind: _PhraseSets(ENTRY_PHRASES[kind.value]) for kind in EntryKind}
_EITHER = _PhraseSets(ENTRY_PHRASES[EITHER_KIND])
_KIND_WORDS = {
    kind: frozenset(_STANDS_FOR.get(word, word) for word in ENTRY_QUALIFIERS[kind.value])
    | {"history", "last", "current"}
    for kind in EntryKind
}


def likely_concept(header: str) -> str | None:
    """The likely name in CONCEPTS or NOT_IMPORTED; None if a word is unknown or the words do not agree."""
    words, _ = _tokens(_outside(header))
    if not words or words & OTHER_SUBJECT_WORDS:
        return None
    found = _CONCEPTS.covering(words)
    # One word is enough to propose a column, but not to exclude one.
    return found if len(words) > 1 or found in CONCEPTS else None


def likely_field(header: str) -> tuple[EntryKind, str] | None:
    """The entry kind and field that a header likely names; None if it names none, or if both kinds are possible."""
    words, _ = _tokens(_outside(header))
    if not words or words & OTHER_SUBJECT_WORDS:
        return None
    found = {}
    for kind in EntryKind:
        field = _KIND_FIELDS[kind].longest_match(words, _KIND_WORDS[kind])
        if field is None and words & _KIND_WORDS[kind]:
            field = _EITHER.longest_match(words, _KIND_WORDS[kind])
        if field is not None:
            found[kind] = field
    return next(iter(found.items())) if len(found) == 1 else None


def is_current(header: str) -> bool:
    """Whether a header is about the current or last entry: `Current Company`, `Son görev`."""
    return bool(_tokens(header)[0] & {"current", "last"})


def _outside(header: str) -> str:
    """The header without text in brackets, unless nothing else remains."""
    outside = outside_brackets(header)
    return outside if words_of(outside) else header
