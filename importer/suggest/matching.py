"""Brings columns and goals together: by exact name, by the table of header words, by likeness, by the kind of values.

Each step takes only what the steps before left over, so that what is surer goes first. A column goes to one goal;
only a full name goes to two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importer.mapping import Kind
from importer.suggest.fitness import doubt_about, is_like
from importer.suggest.goals import Goal
from importer.suggest.header_text import key_of
from importer.suggest.header_words import STANDS_IN
from importer.suggest.likeness import likeness
from importer.suggest.name_columns import PLAIN, NameHabits, find_names
from importer.suggest.views import LIKE_IT, ColumnView, words_for

_LIKE = 80.0  # of 100: proposed, to be checked
_NEAR = 65.0  # named in a comment
_ADDRESS_PARTS = ("street", "postcode", "city", "country")
_BY_TEXT = (Kind.LINE, Kind.TEXT, Kind.NAME)
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
        self._views = tuple(seen for seen in views if seen.column.index not in reserved)
        self._taken: set[int] = set()
        self._found: dict[Goal, Match] = {}

    def run(self) -> tuple[Match, ...]:
        """All matches, in the order of the goals."""
        for step in (
            self._exact,
            self._names,
            self._concepts,
            self._address,
            self._stand_ins,
            self._composed,
            self._like,
            self._kinds,
        ):
            step()
        return tuple(self._found[goal] for goal in self._goals if goal in self._found)

    # --- what is left -----------------------------------------------------------------------------

    def open_goals(self) -> tuple[Goal, ...]:
        return tuple(goal for goal in self._goals if goal not in self._found)

    def open_views(self) -> tuple[ColumnView, ...]:
        return tuple(seen for seen in self._views if seen.column.index not in self._taken)

    def columns_near(self, goal: Goal) -> tuple[ColumnView, ...]:
        """The columns left over that come nearest to a goal, at most two."""
        scored = [(_score(goal, seen), seen) for seen in self.open_views() if seen.imported]
        near = sorted((pair for pair in scored if pair[0] >= _NEAR), key=lambda pair: -pair[0])
        return tuple(seen for _, seen in near[:2])

    def goals_near(self, seen: ColumnView) -> tuple[Goal, ...]:
        """The goals left over that come nearest to a column, at most two."""
        scored = [(_score(goal, seen), goal) for goal in self.open_goals()] if seen.imported else []
        near = sorted((pair for pair in scored if pair[0] >= _NEAR), key=lambda pair: -pair[0])
        return tuple(goal for _, goal in near[:2])

    # --- the steps, surest first --------------------------------------------------------------------

    def _exact(self) -> None:
        """The header is the key or the text of a question."""
        keys = Counter(key for goal in self._goals if goal.question for key in {key_of(name) for name in goal.names})
        for goal in self._goals:
            own = {key_of(name) for name in goal.names if key_of(name) and keys[key_of(name)] == 1}
            views = [seen for seen in self.open_views() if seen.key in own] if goal.question else []
            if views and goal.concept not in _ALTERNATIVES:
                self._take_best(goal, views)

    def _names(self) -> None:
        goals = {goal.name: goal for goal in self.open_goals() if goal.question is None}
        if "first_name" not in goals or "last_name" not in goals:
            return
        for name, found in find_names(self.open_views()).items():
            self._take(Match(goals[name], (found.view,), found.doubt, None, found.part, found.habits))

    def _concepts(self) -> None:
        """The header is a word for what the goal asks."""
        wanted = Counter(goal.concept for goal in self.open_goals())
        for goal in self.open_goals():
            views = [seen for seen in self.open_views() if goal.concept and seen.concept == goal.concept]
            likely = self._likely_for(goal)
            if not views and not (likely and goal.concept in _ALTERNATIVES and not goal.guessed):
                continue
            if goal.guessed:
                self._take_best(goal, views, LIKE_IT)
            elif wanted[goal.concept] > 1:
                self._take(Match(goal, (*views, *likely)[:1], "more than one question asks for this"))
            elif goal.concept in _ALTERNATIVES:
                self._take_alternatives(goal, views, likely)
            else:
                self._take_best(goal, views)

    def _likely_for(self, goal: Goal) -> list[ColumnView]:
        """The columns whose header is made of words for what the goal asks, and whose values do not contradict."""
        return [seen for seen in self._likely() if goal.concept and seen.likely == goal.concept and _may_be(goal, seen)]

    def _composed(self) -> None:
        """The header is made of words for what the goal asks."""
        wanted = Counter(goal.concept for goal in self.open_goals())
        for goal in self.open_goals():
            views = self._likely_for(goal)
            if views and wanted[goal.concept] == 1:
                filled = [seen for seen in views if seen.sampled.filled] or views
                self._take(Match(goal, (filled[0],), LIKE_IT))

    def _take_best(self, goal: Goal, views: Sequence[ColumnView], unless: str = "") -> None:
        fitting = [seen for seen in views if not doubt_about(goal.wanted, seen.kinds)] or list(views)
        filled = [seen for seen in fitting if seen.sampled.filled] or fitting
        doubt = doubt_about(goal.wanted, filled[0].kinds)
        if len(filled) > 1:
            doubt = doubt or f"'{filled[1].name}' ({filled[1].column.letter}) says the same"
        self._take(Match(goal, (filled[0],), doubt or unless))

    def _take_alternatives(self, goal: Goal, views: Sequence[ColumnView], likely: Sequence[ColumnView]) -> None:
        """The first that is filled in counts, so that every column whose values fit is named."""
        more = [seen for seen in self.open_views() if STANDS_IN.get(seen.concept or seen.likely or "") == goal.concept]
        fitting = [seen for seen in (*views, *likely, *more) if is_like(goal.wanted, seen.kinds)]
        if not fitting:
            self._take_best(goal, (*views, *likely))
            return
        doubt = "" if all(seen.concept for seen in fitting) else LIKE_IT
        if goal.wanted.kind is Kind.EMAIL and len(fitting) > 1:
            doubt = "the second is taken where the first holds no valid address"
        self._take(Match(goal, tuple(fitting), doubt))

    def _address(self) -> None:
        """Street, city and so on become one address, joined."""
        goal = next((goal for goal in self.open_goals() if goal.concept == "address" and goal.question), None)
        if goal is None or goal.wanted.kind not in _BY_TEXT:
            return
        open_views = self.open_views()
        parts = [
            next((seen for seen in open_views if part in (seen.concept, seen.likely) and seen.sampled.filled), None)
            for part in _ADDRESS_PARTS
        ]
        views = tuple(seen for seen in parts if seen is not None)
        if views:
            doubt = "" if all(seen.concept for seen in views) else LIKE_IT
            doubt = doubt if len(views) > 1 else "this is only a part of an address"
            self._take(Match(goal, views, doubt, joined=", " if len(views) > 1 else None))

    def _stand_ins(self) -> None:
        """The header is a word for something close."""
        for goal in self.open_goals():
            for seen in self.open_views() if goal.concept else ():
                close = STANDS_IN.get(seen.concept or "") == goal.concept
                place = seen.concept == "location" and goal.concept in ("address", "city")
                if (close or place) and goal not in self._found and not doubt_about(goal.wanted, seen.kinds):
                    self._take(Match(goal, (seen,), f"'{seen.name}' says something close, not quite the same"))

    def _like(self) -> None:
        """The header is like the key or the text of the question."""
        pairs = [(_score(goal, seen), goal, seen) for goal in self.open_goals() for seen in self._likely()]
        for score, goal, seen in sorted(pairs, key=lambda pair: -pair[0]):
            free = goal not in self._found and seen.column.index not in self._taken
            if score >= _LIKE and free and _may_be(goal, seen):
                self._take(Match(goal, (seen,), LIKE_IT))

    def _kinds(self) -> None:
        """The values are of the kind that the goal asks for, and of no other column that is left."""
        for goal in self.open_goals():
            views = [seen for seen in self._likely() if seen.concept is None and _values_say(goal, seen)]
            if len(views) == 1:
                self._take(Match(goal, (views[0],), "only the values look like it"))

    def _likely(self) -> Iterator[ColumnView]:
        return (seen for seen in self.open_views() if seen.imported)

    def _take(self, match: Match) -> None:
        self._found[match.goal] = match
        self._taken.update(seen.column.index for seen in match.views)


def _score(goal: Goal, seen: ColumnView) -> float:
    known = seen.concept or seen.likely
    if goal.concept and known and goal.concept != known:
        return 0.0  # both are known, and they are two things
    names = (*(goal.names if goal.question else ()), *words_for(goal.concept))
    return max((likeness(seen.name, name) for name in names), default=0.0)


def _may_be(goal: Goal, seen: ColumnView) -> bool:
    if goal.wanted.kind in _BY_TEXT:
        return not doubt_about(goal.wanted, seen.kinds) and seen.kinds.emails < 0.5
    return is_like(goal.wanted, seen.kinds)


def _values_say(goal: Goal, seen: ColumnView) -> bool:
    kinds, concept = seen.kinds, goal.concept or ""
    if goal.wanted.kind is Kind.EMAIL:
        return kinds.emails >= 0.8
    if goal.wanted.kind is Kind.PHONE:
        return kinds.phones >= 0.8 and kinds.share(lambda text: text.startswith(("+", "0"))) >= 0.5
    if goal.wanted.kind is Kind.URL and concept in ("linkedin", "github", "behance", "dribbble"):
        return kinds.urls_of(concept) >= 0.8
    if goal.wanted.kind in (Kind.CHOICE, Kind.CHOICES) and goal.wanted.options:
        return len(kinds.values) > 1 and is_like(goal.wanted, kinds)
    return False
