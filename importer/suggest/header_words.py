"""What a header says: its words, the concept that the table of header words knows it for, and what it likely means.

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

from importer.mapping import EntryKind
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


# --- what a header most likely means where no phrase of the table is the header as a whole ---------

# Each word becomes the one that stands for its synonyms, a German compound is taken apart, and words that say nothing
# are left out. Known phrases must then cover all that is left and agree; a word that nobody knows leaves it open.

_Words = frozenset[str]
_LINKS = ("", "s", "n", "en", "es", "er", "e")  # what German puts between the parts of a compound
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
    """The words that say something, each as the one that stands for it, and how many were left out."""
    found, left_out = set[str](), 0
    for word in _joined_mail(words_of(text)):
        for part in _parts(word):
            if len(part) == 1 or (part in _NEUTRAL and part not in _STANDS_FOR):
                left_out += 1
            else:
                found.add(_STANDS_FOR.get(part, part))
    return frozenset(found), left_out


def mentions_phone(header: str) -> bool:
    """Whether one of its words means a phone: `Emergency phone`, `Tel. dienstlich`, `Annenin telefonu`."""
    return not _tokens(header)[0].isdisjoint(("phone", "mobile"))


def _joined_mail(words: tuple[str, ...]) -> tuple[str, ...]:
    """`e`, `posta` is one word."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "e" and word.startswith(("mail", "posta")):
            joined[-1] = f"e{word}"
        else:
            joined.append(word)
    return tuple(joined)


def _parts(word: str) -> tuple[str, ...]:
    """The known parts of a compound that is not known itself: `bewerbername`, `handynummer`."""
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
    """The phrases of a table as sets of words; a set that two meanings have equally is of neither."""

    def __init__(self, *tables: Phrases) -> None:
        found: dict[_Words, tuple[int, str]] = {}
        for name, phrase in (pair for table in tables for pair in phrases_in(table)):
            words, left_out = _tokens(phrase)
            before = found.get(words)
            # One word that is left of several says too little: `can start from` is not `start`.
            if not words or (left_out and len(words) == 1) or (before is not None and before[0] < left_out):
                continue
            same = before is None or before[0] > left_out or before[1] == name
            found[words] = (left_out, name if same else "")
        self._meaning = {words: name for words, (_, name) in found.items() if name}

    def covering(self, words: _Words) -> str | None:
        """The one meaning of the phrases that these words are made of, None where they are not."""
        whole = self._meaning.get(words)
        if whole is not None or len(words) < 2:
            return whole
        inside = [phrase for phrase in self._meaning if phrase < words]
        largest = [phrase for phrase in inside if not any(phrase < other for other in inside)]
        if not largest or frozenset().union(*largest) != words:
            return None
        names = {self._meaning[phrase] for phrase in largest}
        names -= {STANDS_IN[name] for name in names if name in STANDS_IN}
        if len(names) > 1:
            names.discard("location")  # `location_city` is the city
        return names.pop() if len(names) == 1 else None

    def beside(self, words: _Words, others: _Words) -> str | None:
        """The one meaning of the longest phrase among these words that leaves only words of `others`."""
        fitting = [phrase for phrase in self._meaning if phrase <= words and words - phrase <= others]
        longest = max(map(len, fitting), default=0)
        names = {self._meaning[phrase] for phrase in fitting if len(phrase) == longest}
        return names.pop() if len(names) == 1 else None


_CONCEPTS = _PhraseSets(CONCEPTS, NOT_IMPORTED)
_OWN_FIELDS = {kind: _PhraseSets(ENTRY_PHRASES[kind.value]) for kind in EntryKind}
_EITHER = _PhraseSets(ENTRY_PHRASES[EITHER_KIND])
_OF_KIND = {
    kind: frozenset(_STANDS_FOR.get(word, word) for word in ENTRY_QUALIFIERS[kind.value])
    | {"history", "last", "current"}
    for kind in EntryKind
}


def likely_concept(header: str) -> str | None:
    """What a header is likely about, of CONCEPTS or NOT_IMPORTED; None where a word is unknown or they do not agree."""
    words, _ = _tokens(_outside(header))
    if not words or words & FOREIGN_WORDS:
        return None
    found = _CONCEPTS.covering(words)
    # One word is enough to hope for a column, and not enough to leave one out.
    return found if len(words) > 1 or found in CONCEPTS else None


def likely_field(header: str) -> tuple[EntryKind, str] | None:
    """The kind of entry and its field that a header likely names; None where it names none, or may be of both kinds."""
    words, _ = _tokens(_outside(header))
    if not words or words & FOREIGN_WORDS:
        return None
    found = {}
    for kind in EntryKind:
        field = _OWN_FIELDS[kind].beside(words, _OF_KIND[kind])
        if field is None and words & _OF_KIND[kind]:
            field = _EITHER.beside(words, _OF_KIND[kind])
        if field is not None:
            found[kind] = field
    return next(iter(found.items())) if len(found) == 1 else None


def is_held(header: str) -> bool:
    """Whether a header speaks of the present or the last of several: `Current Company`, `Son görev`."""
    return bool(_tokens(header)[0] & {"current", "last"})


def _outside(header: str) -> str:
    """The header without what is in brackets, unless all of it is."""
    outside = outside_brackets(header)
    return outside if words_of(outside) else header
