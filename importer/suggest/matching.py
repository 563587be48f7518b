"""Brings columns and goals together: by exact name, by the table of header words, by similarity, by the kind of values.

Each step takes only what the steps before left over, so that what is surer goes first. A column goes to one goal;
only a full name goes to two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rapidfuzz import fuzz

from importer.mapping import Kind
from importer.suggest.columns import SIMILAR, ColumnView
from importer.suggest.header_words import STANDS_IN, key_of, phrases_for, words_of
from importer.suggest.proposal import Goal
from importer.suggest.value_settings import PLAIN, NameHabits, doubt_about, is_like, name_habits, surname_first

_SIMILAR_ENOUGH = 80.0  # of 100: proposed, to be checked
_NEAR = 65.0  # named in a comment
_SHORT = 5  # letters: below it, a word is part of too many others
_ADDRESS_PARTS = ("street", "postcode", "city", "country")
_TEXTS = (Kind.LINE, Kind.TEXT, Kind.NAME)
_ALTERNATIVES = ("phone", "email")


@dataclass(frozen=True, slots=True)
class Match:
    """A goal and its columns: the first filled in and valid one counts, or all joined with `joined`."""

    goal: Goal
    views: tuple[ColumnView, ...]
    doubt: str = ""
    joined: str | None = None
    part: str | None = None  # of a full name: first or last
    habits: NameHabits = PLAIN  # of a full name


class Matcher:
    """The state of the matching: what each goal has, and which columns are taken."""

    def __init__(self, goals: Sequence[Goal], views: Sequence[ColumnView], reserved: frozenset[int]) -> None:
        self._goals = tuple(goals)
        self._views = tuple(view for view in views if view.column.index not in reserved)
        self._taken: set[int] = set()
        self._found: dict[Goal, Match] = {}

    def run(self) -> tuple[Match, ...]:
        """All matches, in the order of the goals."""
        self._match_exact_names()
        self._match_names_of_people()
        self._match_concepts()
        self._match_address()
        self._match_stand_ins()
        self._match_likely_concepts()
        self._match_similar_names()
        self._match_kinds_of_values()
        return tuple(self._found[goal] for goal in self._goals if goal in self._found)

    # --- what is left -----------------------------------------------------------------------------

    def open_goals(self) -> tuple[Goal, ...]:
        return tuple(goal for goal in self._goals if goal not in self._found)

    def open_views(self) -> tuple[ColumnView, ...]:
        return tuple(view for view in self._views if view.column.index not in self._taken)

    def columns_near(self, goal: Goal) -> tuple[ColumnView, ...]:
        """The columns left over that come nearest to a goal, at most two."""
        return _nearest(self._imported(), lambda view: _score(goal, view))

    def goals_near(self, view: ColumnView) -> tuple[Goal, ...]:
        """The goals left over that come nearest to a column, at most two."""
        return _nearest(self.open_goals(), lambda goal: _score(goal, view)) if view.imported else ()

    def _imported(self) -> list[ColumnView]:
        return [view for view in self.open_views() if view.imported]

    # --- the steps, surest first --------------------------------------------------------------------

    def _match_exact_names(self) -> None:
        """The header is the key or the text of a question."""
        keys = Counter(key for goal in self._goals if goal.question for key in {key_of(name) for name in goal.names})
        for goal in self._goals:
            own = {key for name in goal.names if (key := key_of(name)) and keys[key] == 1}
            views = [view for view in self.open_views() if view.key in own] if goal.question else []
            if views and goal.concept not in _ALTERNATIVES:
                self._take_best(goal, views)

    def _match_names_of_people(self) -> None:
        goals = {goal.name: goal for goal in self.open_goals() if goal.question is None}
        if "first_name" in goals and "last_name" in goals:
            for match in _names_of_people((goals["first_name"], goals["last_name"]), self.open_views()):
                self._take(match)

    def _match_concepts(self) -> None:
        """The header is a word for what the goal asks."""
        wanted = Counter(goal.concept for goal in self.open_goals())
        for goal in self.open_goals():
            views = [view for view in self.open_views() if goal.concept and view.concept == goal.concept]
            likely = self._likely_for(goal)
            if not views and not (likely and goal.concept in _ALTERNATIVES and not goal.guessed):
                continue
            if goal.guessed:
                self._take_best(goal, views, SIMILAR)
            elif wanted[goal.concept] > 1:
                self._take(Match(goal, (*views, *likely)[:1], "more than one question asks for this"))
            elif goal.concept in _ALTERNATIVES:
                self._take_alternatives(goal, views, likely)
            else:
                self._take_best(goal, views)

    def _match_address(self) -> None:
        """Street, city and so on become one address, joined."""
        goal = next((goal for goal in self.open_goals() if goal.concept == "address" and goal.question), None)
        if goal is None or goal.wanted.kind not in _TEXTS:
            return
        filled = [view for view in self.open_views() if view.filled]
        parts = [
            next((view for view in filled if part in (view.concept, view.likely)), None) for part in _ADDRESS_PARTS
        ]
        views = tuple(view for view in parts if view is not None)
        if len(views) > 1:
            self._take(Match(goal, views, "" if all(view.concept for view in views) else SIMILAR, joined=", "))
        elif views:
            self._take(Match(goal, views, "this is only a part of an address"))

    def _match_stand_ins(self) -> None:
        """The header is a word for something close."""
        for goal in self.open_goals():
            for view in self.open_views() if goal.concept else ():
                close = STANDS_IN.get(view.concept or "") == goal.concept
                place = view.concept == "location" and goal.concept in ("address", "city")
                if (close or place) and goal not in self._found and not doubt_about(goal.wanted, view):
                    self._take(Match(goal, (view,), f"'{view.name}' says something close, not quite the same"))

    def _match_likely_concepts(self) -> None:
        """The header is made of words for what the goal asks."""
        wanted = Counter(goal.concept for goal in self.open_goals())
        for goal in self.open_goals():
            views = self._likely_for(goal)
            if views and wanted[goal.concept] == 1:
                self._take(Match(goal, (_filled(views)[0],), SIMILAR))

    def _match_similar_names(self) -> None:
        """The header is like the key or the text of the question."""
        pairs = [(_score(goal, view), goal, view) for goal in self.open_goals() for view in self._imported()]
        for score, goal, view in sorted(pairs, key=lambda pair: -pair[0]):
            free = goal not in self._found and view.column.index not in self._taken
            if score >= _SIMILAR_ENOUGH and free and _may_be(goal, view):
                self._take(Match(goal, (view,), SIMILAR))

    def _match_kinds_of_values(self) -> None:
        """The values are of the kind that the goal asks for, and of no other column that is left."""
        for goal in self.open_goals():
            views = [view for view in self._imported() if view.concept is None and _values_say(goal, view)]
            if len(views) == 1:
                self._take(Match(goal, (views[0],), "only the values look like it"))

    # --- taking -----------------------------------------------------------------------------------

    def _likely_for(self, goal: Goal) -> list[ColumnView]:
        """The columns whose header is made of words for what the goal asks, and whose values do not contradict."""
        return [
            view for view in self._imported() if goal.concept and view.likely == goal.concept and _may_be(goal, view)
        ]

    def _take_best(self, goal: Goal, views: Sequence[ColumnView], otherwise: str = "") -> None:
        fitting = [view for view in views if not doubt_about(goal.wanted, view)] or views
        best, *others = _filled(fitting)
        doubt = doubt_about(goal.wanted, best)
        if others:
            doubt = doubt or f"'{others[0].name}' ({others[0].column.letter}) says the same"
        self._take(Match(goal, (best,), doubt or otherwise))

    def _take_alternatives(self, goal: Goal, views: Sequence[ColumnView], likely: Sequence[ColumnView]) -> None:
        """The first that is filled in counts, so that every column whose values fit is named."""
        more = [view for view in self.open_views() if STANDS_IN.get(view.concept or view.likely or "") == goal.concept]
        fitting = [view for view in (*views, *likely, *more) if is_like(goal.wanted, view)]
        if not fitting:
            self._take_best(goal, (*views, *likely))
            return
        doubt = "" if all(view.concept for view in fitting) else SIMILAR
        if goal.wanted.kind is Kind.EMAIL and len(fitting) > 1:
            doubt = "the second is taken where the first holds no valid address"
        self._take(Match(goal, tuple(fitting), doubt))

    def _take(self, match: Match) -> None:
        self._found[match.goal] = match
        self._taken.update(view.column.index for view in match.views)


def _filled(views: Sequence[ColumnView]) -> Sequence[ColumnView]:
    return [view for view in views if view.filled] or views


_T = TypeVar("_T")


def _nearest(found: Iterable[_T], score: Callable[[_T], float]) -> tuple[_T, ...]:
    near = sorted(((score(one), one) for one in found), key=lambda pair: -pair[0])
    return tuple(one for points, one in near[:2] if points >= _NEAR)


def _score(goal: Goal, view: ColumnView) -> float:
    known = view.concept or view.likely
    if goal.concept and known and goal.concept != known:
        return 0.0  # both are known, and they are two things
    names = (*(goal.names if goal.question else ()), *phrases_for(goal.concept))
    return max((_similarity(view.name, name) for name in names), default=0.0)


def _similarity(header: str, name: str) -> float:
    """The similarity of the words, in any order; a header that is part of a longer question counts somewhat less."""
    left, right = " ".join(words_of(header)), " ".join(words_of(name))
    if not left or not right:
        return 0.0
    whole = fuzz.token_sort_ratio(left, right)
    if min(len(left), len(right)) < _SHORT:
        return float(whole)
    return max(float(whole), 0.9 * fuzz.token_set_ratio(left, right))


def _may_be(goal: Goal, view: ColumnView) -> bool:
    if goal.wanted.kind in _TEXTS:
        return not doubt_about(goal.wanted, view) and view.emails < 0.5
    return is_like(goal.wanted, view)


def _values_say(goal: Goal, view: ColumnView) -> bool:
    values, concept = view, goal.concept or ""
    if goal.wanted.kind is Kind.EMAIL:
        return values.emails >= 0.8
    if goal.wanted.kind is Kind.PHONE:
        return values.phones >= 0.8 and values.dialed >= 0.5
    if goal.wanted.kind is Kind.URL and concept in ("linkedin", "github", "behance", "dribbble"):
        return values.urls_of(concept) >= 0.8
    if goal.wanted.kind in (Kind.CHOICE, Kind.CHOICES) and goal.wanted.options:
        return len(values.counts) > 1 and is_like(goal.wanted, values)
    return False


# --- the columns of the names of people -----------------------------------------------------------

_MOST = 0.6  # of the names


def _names_of_people(goals: tuple[Goal, Goal], views: Sequence[ColumnView]) -> list[Match]:
    """The columns of first and last name; what is not found is left out.

    `Name` is the last name beside `Vorname`, the first name beside `Surname`, and a full name where it is alone.
    """
    first, last = _of(views, "first_name"), _of(views, "last_name")
    bare, full = _of(views, "bare_name"), _of(views, "full_name")
    pairs = ((first, last), (bare, last), (first, bare))
    pair = next((pair for pair in pairs if all(pair)), None)
    whole = full or (bare if bare and bare.several_words >= _MOST else None)
    if pair is None and whole:
        return _parts_of(whole, goals)
    found = zip(goals, pair or (first, last), strict=True)
    return [Match(goal, (one,), _doubt_about_name(one)) for goal, one in found if one]


def _of(views: Sequence[ColumnView], concept: str) -> ColumnView | None:
    found = [one for one in views if one.concept == concept] or [one for one in views if one.likely == concept]
    return next((one for one in found if one.filled), found[0] if found else None)


def _doubt_about_name(one: ColumnView) -> str:
    if max(one.digits, one.emails) >= 1 - _MOST:
        return "the values do not look like names"
    return "" if one.concept else SIMILAR


def _parts_of(one: ColumnView, goals: tuple[Goal, Goal]) -> list[Match]:
    """A full name is both."""
    doubt = ""
    habits = name_habits(one)
    if one.total and one.several_words < _MOST:
        doubt = "most values are one word and cannot be split"
    elif not habits.in_capitals and one.share(surname_first) > 1 - _MOST:
        doubt = "the last name seems to stand first, and the last word is taken for it"
    elif not one.concept:
        doubt = SIMILAR
    return [
        Match(goal, (one,), doubt, part=part, habits=habits)
        for goal, part in zip(goals, ("first", "last"), strict=True)
    ]
