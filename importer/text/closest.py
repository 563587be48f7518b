"""The "did you mean" of messages: the known word that is closest to one that was typed."""

from __future__ import annotations

from collections.abc import Iterable

from importer.text.normalize import normalize

_NEAR_ENOUGH = 65  # of 100: below it, a proposal is more often wrong than right
_LONG_ENOUGH = 4  # letters
_SHOWN = 200  # characters of a word in a message


def closest(typed: str, known: Iterable[str]) -> str | None:
    """The known word most like the typed one, or None where none is like it."""
    from rapidfuzz import fuzz, process  # takes a while to load, and is wanted where something is wrong

    words = list(known)
    folded = normalize(typed)
    # A part is enough where it is long: "degree" finds "bachelors_degree", but "C" is no part of "Cobol".
    whole = process.extractOne(folded, words, scorer=fuzz.ratio, processor=normalize, score_cutoff=_NEAR_ENOUGH)
    if whole is None and len(folded) >= _LONG_ENOUGH:
        long_words = [word for word in words if len(normalize(word)) >= _LONG_ENOUGH]
        whole = process.extractOne(
            folded, long_words, scorer=fuzz.WRatio, processor=normalize, score_cutoff=_NEAR_ENOUGH
        )
    return str(whole[0]) if whole else None


def did_you_mean(typed: str, known: Iterable[str], listed: int = 12) -> str:
    """A hint that names the closest known word where there is one, and what is known: at most `listed` words."""
    words = [word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…" for word in known]
    near = closest(typed, words)
    shown = ", ".join(words[:listed]) + (", ..." if len(words) > listed else "")
    use = f"use one of {shown}" if words else ""
    if near is None:
        return use
    return f"did you mean '{near}'? {use}"
