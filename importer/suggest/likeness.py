"""How like two texts of a header or a question are, from 0 to 100."""

from __future__ import annotations

from rapidfuzz import fuzz

from importer.suggest.header_text import joined

_SHORT = 5  # letters: below it, a word is part of too many others


def likeness(header: str, name: str) -> float:
    """The likeness of the words, in any order; a header that is part of a longer question counts somewhat less."""
    left, right = joined(header), joined(name)
    if not left or not right:
        return 0.0
    whole = fuzz.token_sort_ratio(left, right)
    if min(len(left), len(right)) < _SHORT:
        return float(whole)
    return max(float(whole), 0.9 * fuzz.token_set_ratio(left, right))
