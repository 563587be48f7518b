"""The value table of a choice: what cells say, and the option that each most likely means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from importer.mapping import Options
from importer.suggest.header_text import words_of
from importer.suggest.proposal import TableLine
from importer.suggest.value_words import VALUE_WORDS
from importer.text.closest import closest
from importer.text.normalize import normalize

MOST_LINES = 60  # a table longer than this is no choice
_SIGNS = (";", "|", "\n", ",", "/")
_NEARLY_SAME = 88  # of 100: a slip of the pen
_NO_WORD = re.compile(r"[\W\d_]+")


def table_of(values: Iterable[tuple[str, int]], options: Sequence[str]) -> tuple[TableLine, ...]:
    """A line for each text that is no option already, the most frequent first; without a target where none is near."""
    known = Options(options)
    counts = Counter[str]()
    written: dict[str, str] = {}
    for text, count in values:
        if known.find(text) is None:
            counts[normalize(text)] += count
            written.setdefault(normalize(text), text)
    lines = []
    for folded, count in counts.most_common(MOST_LINES):
        target, sure = _meant(written[folded], tuple(options))
        lines.append(TableLine(written[folded], target, count, sure))
    return tuple(lines)


def pieces_of(values: Iterable[tuple[str, int]], sign: str | None) -> tuple[tuple[str, int], ...]:
    """The texts between the signs, each with how often it occurs."""
    counts = Counter[str]()
    for text, count in values:
        for piece in text.split(sign) if sign else (text,):
            if piece.strip():
                counts[piece.strip()] += count
    return tuple(counts.items())


def splitting_sign(values: Iterable[tuple[str, int]], options: Sequence[str]) -> str | None:
    """The sign between several choices in one cell, None where there is none: the one that yields most options."""
    kept = tuple(values)
    known = Options(options)
    best, best_hits = None, 0
    for sign in _SIGNS:
        holding = tuple((text, count) for text, count in kept if sign in text and known.find(text) is None)
        hits = sum(count for piece, count in pieces_of(holding, sign) if not options or known.find(piece))
        if hits > best_hits:
            best, best_hits = sign, hits
    return best


@lru_cache(maxsize=4096)
def _meant(text: str, options: tuple[str, ...]) -> tuple[str | None, bool]:
    """The option that a text means and whether that is sure: by the table of value words, else by likeness."""
    key = _key(text)
    for option in options:
        words = VALUE_WORDS.get(option.casefold().replace(" ", "_")) or VALUE_WORDS.get(_key(option), "")
        if key and key in {_key(word) for word in words.split("|")}:
            return option, True
    near = closest(text, options)
    return near, near is not None and fuzz.ratio(_key(text), _key(near)) >= _NEARLY_SAME


@lru_cache(maxsize=8192)
def _key(text: str) -> str:
    return "".join(words_of(text)) or _NO_WORD.sub("", text.casefold())
