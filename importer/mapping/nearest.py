"""The "did you mean" of messages: the known word that is nearest to one that was typed."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from importer.mapping.fold import fold

_NEAR_ENOUGH = 65  # of 100: below it, a proposal is more often wrong than right


def nearest(typed: str, known: Iterable[str]) -> str | None:
    """The known word most like the typed one, or None where none is like it."""
    found = process.extractOne(typed, list(known), scorer=fuzz.WRatio, processor=fold, score_cutoff=_NEAR_ENOUGH)
    return str(found[0]) if found else None


def did_you_mean(typed: str, known: Iterable[str], listed: int = 12) -> str:
    """A hint that names the nearest known word where there is one, and what is known: at most `listed` words."""
    words = list(known)
    near = nearest(typed, words)
    shown = ", ".join(words[:listed]) + (", ..." if len(words) > listed else "")
    use = f"use one of {shown}" if words else ""
    if near is None:
        return use
    return f"did you mean '{near}'? {use}"
