"""What a header most likely means where no phrase of the table is the header as a whole: its words one by one.

Each word becomes the one that stands for its synonyms, a German compound is taken apart, and words that say nothing are
left out. Known phrases must then cover all that is left and agree; a word that nobody knows leaves the header open.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from importer.mapping import EntryKind
from importer.suggest.header_words import (
    CONCEPTS,
    EITHER_KIND,
    ENTRY_PHRASES,
    ENTRY_QUALIFIERS,
    FOREIGN_WORDS,
    NOISE_WORDS,
    NOT_IMPORTED,
    STANDS_IN,
    Phrases,
    outside_brackets,
    phrases_in,
    read_table,
    words_of,
)

_Words = frozenset[str]
_LINKS = ("", "s", "n", "en", "es", "er", "e")  # what German puts between the parts of a compound
_SHORTEST_PART = 3  # letters
_SHORTEST_COMPOUND = 7


def _plain(words: Iterable[str]) -> frozenset[str]:
    return frozenset(plain for word in words for plain in words_of(word))


_TABLE = read_table("synonyms")
_STANDS_FOR = {plain: name for name, words in _TABLE["synonyms"].items() for plain in _plain(words)}
_NEUTRAL = NOISE_WORDS.union(*map(_plain, _TABLE["neutral"].values()))
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
