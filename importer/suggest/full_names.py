"""The names of candidates: which columns hold them, and how a full name is split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from importer.suggest.columns import SIMILAR, ColumnView
from importer.suggest.header_words import has_two_last_names, is_last_name_first, read_table, words_of
from importer.suggest.proposal import Goal, Match, NameStyle
from importer.text.normalize import begins_with_last_name, words_in_capitals, wrong_word

_MIN_SHARE = 0.6  # of the names
_MAX_WORDS = 4  # of a name
# A column with only such a word as its header has the names, if the values look like names.
_PEOPLE = frozenset({"candidate", "applicant", "aday", "bewerber", "kandidat"})


def person_names(goals: tuple[Goal, Goal], views: Sequence[ColumnView]) -> list[Match]:
    """The matches for first and last name, as far as columns are found.

    `Name` is the last name next to `Vorname`, the first name next to `Surname`, and otherwise a full name.
    """
    first, last = _of(views, "first_name"), _of(views, "last_name")
    bare, full = _of(views, "bare_name"), _of(views, "full_name")
    pairs = ((first, last), (bare, last), (first, bare))
    pair = next((pair for pair in pairs if all(pair)), None)
    whole = full or (bare if bare and bare.several_words >= _MIN_SHARE else None)
    if whole is None:
        whole = next(
            (one for one in views if _PEOPLE.issuperset(words_of(one.name) or "-") and _are_full_names(one)), None
        )
    if pair is None and whole:
        return _parts_of(whole, goals)
    found = zip(goals, pair or (first, last), strict=True)
    matches = [Match(goal, (one,), _name_review_reason(one)) for goal, one in found if one]
    if prefix := last and _of(views, "last_name_prefix"):
        matches[-1] = replace(matches[-1], views=(prefix, *matches[-1].views), joined=" ")
    if second := last and _of(views, "second_last_name"):
        matches[-1] = replace(matches[-1], views=(*matches[-1].views, second), joined=" ")
    return matches


def likely_full_names(views: Sequence[ColumnView]) -> ColumnView | None:
    """The column that has full names by its header, else the only unknown column whose values look like them."""
    unknown = [one for one in views if not one.concept and _are_full_names(one) and one.share(_is_like_a_name) == 1]
    return _of(views, "full_name") or (unknown[0] if len(unknown) == 1 else None)


def _is_like_a_name(text: str) -> bool:
    words = text.split()  # `Zoë van Dyk`
    return len(words) <= _MAX_WORDS and words[0][0].isupper() and words[-1][0].isupper()


def _are_full_names(one: ColumnView) -> bool:
    return one.several_words >= _MIN_SHARE and max(one.digits, one.emails) < 1 - _MIN_SHARE


def _of(views: Sequence[ColumnView], concept: str) -> ColumnView | None:
    found = [one for one in views if one.concept == concept] or [one for one in views if one.likely == concept]
    return next((one for one in found if one.filled), found[0] if found else None)


def _name_review_reason(one: ColumnView) -> str:
    if max(one.digits, one.emails) >= 1 - _MIN_SHARE:
        return "the values do not look like names"
    return "" if one.concept else SIMILAR


def _parts_of(one: ColumnView, goals: tuple[Goal, Goal]) -> list[Match]:
    """The matches of a full name: first and last name."""
    review_reason = ""
    style = _name_style(one)
    if one.total and one.several_words < _MIN_SHARE:
        review_reason = "most values are one word and cannot be split"
    elif style.has_two_last_names and not style.in_capitals:
        words = "words before the comma" if style.is_last_name_first else "last two words"
        review_reason = f"the {words} are used as the last name"
    elif style.is_last_name_first:
        review_reason = "the last name seems to come first"
    elif not style.in_capitals and one.share(_surname_first) > 1 - _MIN_SHARE:
        review_reason = "the last name seems to come first, but the last word is used"
    elif not one.concept:
        review_reason = SIMILAR
    elif not style.in_capitals and one.share(lambda name: _has_more_words(name, style)):
        review_reason = "of three words, the last one is used as the last name"
    return [
        Match(goal, (one,), review_reason, part=part, style=style)
        for goal, part in zip(goals, ("first", "last"), strict=True)
    ]


# --- how full names are written -----------------------------------------------------------------------------------

_PARTICLES = frozenset(read_table("value_words")["particles"])
_SUFFIXES = frozenset(read_table("value_words")["name_suffixes"])
_MIN_CAPITALS = 0.8  # of the names: the run reports the others row by row


def _name_style(values: ColumnView) -> NameStyle:
    """The style of these full names."""
    in_capitals = values.share(_has_capitals) > _MIN_CAPITALS
    against_last = values.share(lambda name: _is_against(name, is_first=False))
    against_first = values.share(lambda name: _is_against(name, is_first=True))
    is_first = against_last > against_first or (against_last == against_first and is_last_name_first(values.name))
    is_first = is_first or values.share(lambda name: begins_with_last_name(name.split() or [""])) > _MIN_SHARE
    has_two = has_two_last_names(values.name)
    words = _words_of_last_names((text for text, _ in values.counts), in_capitals_too=has_two)
    return NameStyle(in_capitals, is_first and not in_capitals, *words, has_two)


def _is_against(name: str, *, is_first: bool) -> bool:
    """Whether the words of a name show that its last name is not the first or the last word."""
    return "," not in name and wrong_word(name.split(), is_first) is not None


def _words_of_last_names(names: Iterable[str], *, in_capitals_too: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The particles and suffixes in these names: `van der Berg`, `Polat Jr.`; also `DE LA FUENTE`, if so told."""
    particles, suffixes = dict[str, None](), dict[str, None]()
    for words in (name.split() for name in names if "," not in name):
        lower = (word.lower() if in_capitals_too and word.isupper() else word for word in words[1:-1])
        particles.update(dict.fromkeys(word for word in lower if word in _PARTICLES))
        suffixes.update(dict.fromkeys(word for word in words[2:] if word.casefold().rstrip(".") in _SUFFIXES))
    return tuple(particles), tuple(suffixes)


def _has_more_words(name: str, style: NameStyle) -> bool:
    """Whether a name has more than two words: the one between may be a middle name or belong to the last name."""
    return "," not in name and sum(word not in (*style.particles, *style.suffixes) for word in name.split()) > 2


def _has_capitals(name: str) -> bool:
    """`YILMAZ Ayşe`, `Ayşe YILMAZ`: some words, at the beginning or at the end, are in capitals."""
    found = words_in_capitals(words := name.split())
    return found is not None and found[1] - found[0] < len(words)


def _surname_first(name: str) -> bool:
    """`YILMAZ Ayşe`: the first word is in capitals, the last is not. Names with a comma need no check."""
    words = name.split()
    return len(words) > 1 and "," not in name and words[0].isupper() and len(words[0]) > 1 and not words[-1].isupper()
