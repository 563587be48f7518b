"""Which columns hold the first and the last name, or both in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from importer.suggest.views import LIKE_IT, ColumnView

# Between a first and a last name, in small letters: they belong to the last one.
PARTICLES = frozenset(
    [
        "van", "der", "den", "de", "von", "zu", "zum", "zur", "vom", "del", "della", "di", "da", "dos", "das", "du",
        "la", "le", "el", "al", "bin", "ibn", "ter", "ten",
    ]
)  # fmt: skip
SUFFIXES = frozenset(["jr", "sr", "ii", "iii", "iv"])
_MOST = 0.6  # of the names
_CAPITALS = 0.8  # of the names: the others will be told row by row


@dataclass(frozen=True, slots=True)
class NameHabits:
    """How the full names of a file are written: whether capitals mark the last name, words that belong to it."""

    in_capitals: bool = False
    particles: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()


PLAIN = NameHabits()


@dataclass(frozen=True, slots=True)
class NameColumn:
    """The column of a name, and which part of it where it holds a full name."""

    view: ColumnView
    part: str | None = None
    doubt: str = ""
    habits: NameHabits = PLAIN


def find_names(views: Sequence[ColumnView]) -> dict[str, NameColumn]:
    """The columns of `first_name` and `last_name`; what is not found is left out.

    `Name` is the last name beside `Vorname`, the first name beside `Surname`, and a full name where it is alone.
    """
    first, last = _of(views, "first_name"), _of(views, "last_name")
    bare, full = _of(views, "bare_name"), _of(views, "full_name")
    if first and last:
        return {"first_name": _plain(first), "last_name": _plain(last)}
    if last and bare:
        return {"first_name": _plain(bare), "last_name": _plain(last)}
    if first and bare:
        return {"first_name": _plain(first), "last_name": _plain(bare)}
    if full or (bare and bare.kinds.several_words >= _MOST):
        return _split(full or bare)
    return {name: _plain(seen) for name, seen in (("first_name", first), ("last_name", last)) if seen}


def _of(views: Sequence[ColumnView], concept: str) -> ColumnView | None:
    found = [seen for seen in views if seen.concept == concept] or [seen for seen in views if seen.likely == concept]
    return next((seen for seen in found if seen.sampled.filled), found[0] if found else None)


def _plain(seen: ColumnView) -> NameColumn:
    unlike = max(seen.kinds.digits, seen.kinds.emails)
    return NameColumn(
        seen, doubt=LIKE_IT * (not seen.concept) if unlike < 1 - _MOST else "the values do not look like names"
    )


def _split(seen: ColumnView | None) -> dict[str, NameColumn]:
    if seen is None:
        return {}
    doubt = ""
    capitals = seen.kinds.share(_has_capitals) > _CAPITALS
    if seen.kinds.total and seen.kinds.several_words < _MOST:
        doubt = "most values are one word and cannot be split"
    elif not capitals and seen.kinds.share(_surname_first) > 1 - _MOST:
        doubt = "the last name seems to stand first, and the last word is taken for it"
    elif not seen.concept:
        doubt = LIKE_IT
    habits = NameHabits(capitals, *_words_of_last_names(seen.kinds.values))
    return {
        "first_name": NameColumn(seen, "first", doubt, habits),
        "last_name": NameColumn(seen, "last", doubt, habits),
    }


def _words_of_last_names(values: Iterable[tuple[str, int]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The particles and the suffixes that occur: `van der Berg`, `Polat Jr.`."""
    particles, suffixes = dict[str, None](), dict[str, None]()
    for words in (text.split() for text, _ in values if "," not in text):
        particles.update(dict.fromkeys(word for word in words[1:-1] if word in PARTICLES))
        suffixes.update(dict.fromkeys(word for word in words[2:] if word.casefold().rstrip(".") in SUFFIXES))
    return tuple(particles), tuple(suffixes)


def _has_capitals(name: str) -> bool:
    """`YILMAZ Ayşe`, `Ayşe YILMAZ`: the words in capitals stand on one side, and there are others."""
    capital = [word.isupper() and len(word) > 1 and not word.endswith(".") for word in name.split()]
    return any(capital) and not all(capital) and capital in (sorted(capital), sorted(capital, reverse=True))


def _surname_first(name: str) -> bool:
    """`YILMAZ Ayşe`: the first word in capitals and the last not. A comma is read the right way round anyway."""
    words = name.split()
    return len(words) > 1 and "," not in name and words[0].isupper() and len(words[0]) > 1 and not words[-1].isupper()
