"""Matches columns with goals: by exact name, by the table of header words, by similarity, by the kind of values.

The most reliable steps come first, and each step uses only what is still unmatched. A column matches one goal; only a
full name matches two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from rapidfuzz import fuzz

from importer.mapping import Kind
from importer.suggest.columns import SIMILAR, ColumnView
from importer.suggest.full_names import person_names
from importer.suggest.header_words import (
    FALLBACK_CONCEPTS,
    key_of,
    not_imported_as,
    phrases_for,
    units_of_time,
    words_of,
)
from importer.suggest.proposal import Goal, Match
from importer.suggest.value_settings import is_like, mismatch_reason

_PROPOSE_SIMILARITY = 80.0  # of 100: proposed, for review
_MIN_SIMILARITY = 65.0  # named in a comment
_MOST_CLOSEST = 3  # columns named because of their values
_SHORT = 5  # letters: a shorter word is part of too many others, and looks like too many
_SHORT_SIMILARITY = 85.0
_ADDRESS_PARTS = ("street", "house_number", "postcode", "city", "country")
_TEXTS = (Kind.LINE, Kind.TEXT, Kind.NAME)
_ALTERNATIVES = ("phone", "email")


class Matcher:
    """The state of the matching: the match of each goal, and the columns that are taken."""

    def __init__(self, goals: Sequence[Goal], views: Sequence[ColumnView], reserved: frozenset[int]) -> None:
        self._goals = tuple(goals)
        self._views = tuple(view for view in views if view.column.index not in reserved)
        self._taken: set[int] = set()
        self._found: dict[Goal, Match] = {}

    def run(self) -> tuple[Match, ...]:
        """All matches, in the order of the goals."""
        self._match_exact_names()
        self._match_person_names()
        self._match_concepts()
        self._match_address()
        self._match_fallback_concepts()
        self._match_similar_names()
        self._match_kinds_of_values()
        return tuple(self._found[goal] for goal in self._goals if goal in self._found)

    # --- what is unmatched ------------------------------------------------------------------------

    def open_goals(self) -> tuple[Goal, ...]:
        return tuple(goal for goal in self._goals if goal not in self._found)

    def open_views(self) -> tuple[ColumnView, ...]:
        return tuple(view for view in self._views if view.column.index not in self._taken)

    def closest_columns(self, goal: Goal) -> tuple[ColumnView, ...]:
        """The unmatched columns that are closest to a goal: by values or a related concept, else by their header."""
        filled = [view for view in self._imported() if view.filled]
        likely = [view for view in filled if view.concept is None and _values_identify(goal, view)]
        likely += [
            view for view in filled if goal.concept and FALLBACK_CONCEPTS.get(view.concept or "") == goal.concept
        ]
        return tuple(likely[:_MOST_CLOSEST]) or _closest(filled, lambda view: _score(goal, view))

    def closest_goals(self, view: ColumnView) -> tuple[Goal, ...]:
        """The unmatched goals that are closest to a column, at most two."""
        return _closest(self.open_goals(), lambda goal: _score(goal, view)) if view.imported else ()

    def _imported(self) -> list[ColumnView]:
        return [view for view in self.open_views() if view.imported]

    # --- the steps, most reliable first -------------------------------------------------------------

    def _match_exact_names(self) -> None:
        """The header is the key or the text of a question."""
        keys = Counter(key for goal in self._goals if goal.question for key in {key_of(name) for name in goal.names})
        for goal in self._goals:
            own = {key for name in goal.names if (key := key_of(name)) and keys[key] == 1}
            views = [view for view in self.open_views() if view.key in own] if goal.question else []
            if views and goal.concept not in _ALTERNATIVES:
                self._take_best(goal, views)

    def _match_person_names(self) -> None:
        goals = {goal.name: goal for goal in self.open_goals() if goal.question is None}
        if "first_name" in goals and "last_name" in goals:
            for match in person_names((goals["first_name"], goals["last_name"]), self.open_views()):
                self._take(match)

    def _match_concepts(self) -> None:
        """The header has the concept of the goal."""
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
        """Street, city and so on are joined to one address."""
        goal = next((goal for goal in self.open_goals() if goal.concept == "address" and goal.question), None)
        if goal is None or goal.spec.kind not in _TEXTS:
            return
        filled = [view for view in self.open_views() if view.filled]
        streets = {view.column.index for view in filled if "street" in (view.concept, view.likely)}
        filled = [view for view in filled if view.concept != "house_number" or view.column.index - 1 in streets]
        parts = [
            next((view for view in filled if part in (view.concept, view.likely)), None) for part in _ADDRESS_PARTS
        ]
        views = tuple(view for view in parts if view is not None)
        has_number = any(view.concept == "house_number" for view in views)
        if len(views) > 1 + has_number:
            reason = "" if all(view.concept for view in views) else SIMILAR
            self._take(Match(goal, views, "the number follows a comma" if has_number else reason, joined=", "))
        elif views:
            self._take(Match(goal, views[:1], "this is only a part of an address"))

    def _match_fallback_concepts(self) -> None:
        """The header has a related concept."""
        for goal in self.open_goals():
            for view in self.open_views() if goal.concept else ():
                related = FALLBACK_CONCEPTS.get(view.concept or "") == goal.concept
                place = view.concept == "location" and goal.concept in ("address", "city")
                if (related or place) and goal not in self._found and not mismatch_reason(goal.spec, view):
                    self._take(Match(goal, (view,), f"'{view.name}' is similar, but not identical"))

    def _match_similar_names(self) -> None:
        """The header is similar to the key or the text of the question."""
        imported, pairs = self._imported(), []
        for goal in self.open_goals():
            asked = {not_imported_as(name) for name in goal.names} - {None}  # `Department`, if a question asks for it
            others = [view for view in self.open_views() if not view.imported and not_imported_as(view.name) in asked]
            pairs += [(_score(goal, view), goal, view) for view in (*imported, *others)]
        for score, goal, view in sorted(pairs, key=lambda pair: -pair[0]):
            free = goal not in self._found and view.column.index not in self._taken
            if score >= _PROPOSE_SIMILARITY and free and _values_allow(goal, view):
                self._take(Match(goal, (view,), SIMILAR))

    def _match_kinds_of_values(self) -> None:
        """The values are of the kind of the goal, and only in one unmatched column."""
        for goal in self.open_goals():
            views = [view for view in self._imported() if view.concept is None and _values_identify(goal, view)]
            if len(views) == 1:
                self._take(Match(goal, (views[0],), "only the values match, not the header"))

    # --- taking -----------------------------------------------------------------------------------

    def _likely_for(self, goal: Goal) -> list[ColumnView]:
        """The columns whose header makes the concept of the goal likely, and whose values do not contradict it."""
        return [
            view
            for view in self._imported()
            if goal.concept and view.likely == goal.concept and _values_allow(goal, view)
        ]

    def _take_best(self, goal: Goal, views: Sequence[ColumnView], otherwise: str = "") -> None:
        fitting = [view for view in views if not mismatch_reason(goal.spec, view)] or views
        best, *others = _filled(fitting)
        review_reason = mismatch_reason(goal.spec, best)
        if others:
            review_reason = review_reason or f"'{others[0].name}' ({others[0].column.letter}) has the same meaning"
        self._take(Match(goal, (best,), review_reason or otherwise))

    def _take_alternatives(self, goal: Goal, views: Sequence[ColumnView], likely: Sequence[ColumnView]) -> None:
        """Match all columns whose values fit; the first that is filled in counts."""
        more = [
            view
            for view in self.open_views()
            if FALLBACK_CONCEPTS.get(view.concept or view.likely or "") == goal.concept
        ]
        fitting = [view for view in (*views, *likely, *more) if is_like(goal.spec, view)]
        if not fitting:
            self._take_best(goal, (*views, *likely))
            return
        review_reason = "" if all(view.concept for view in fitting) else SIMILAR
        if goal.spec.kind is Kind.EMAIL and len(fitting) > 1:
            review_reason = "the second is used if the first has no valid address"
        self._take(Match(goal, tuple(fitting), review_reason))

    def _take(self, match: Match) -> None:
        remark = next((view.remark for view in match.views if view.remark and view.name not in match.goal.names), "")
        if remark and not match.review_reason:
            match = replace(match, review_reason=f"'({remark})' may make it something else")
        asked = {unit for name in match.goal.names for unit in units_of_time(name)}
        units = {unit for view in match.views for unit in units_of_time(view.name)} - asked
        if asked and units and match.goal.spec.kind is not Kind.DATE:
            reason = (
                f"the question is by the {' or '.join(sorted(asked))}, the column by the {' or '.join(sorted(units))}"
            )
            match = replace(match, review_reason=match.review_reason or reason)
        self._found[match.goal] = match
        self._taken.update(view.column.index for view in match.views)


def _filled(views: Sequence[ColumnView]) -> Sequence[ColumnView]:
    return [view for view in views if view.filled] or views


_T = TypeVar("_T")


def _closest(found: Iterable[_T], score: Callable[[_T], float]) -> tuple[_T, ...]:
    scored = sorted(((score(one), one) for one in found), key=lambda pair: -pair[0])
    return tuple(one for points, one in scored[:2] if points >= _MIN_SIMILARITY)


def _score(goal: Goal, view: ColumnView) -> float:
    known = view.concept or view.likely
    if goal.concept and known and goal.concept != known:
        return 0.0  # both are known, and they differ
    names = (*(goal.names if goal.question else ()), *phrases_for(goal.concept))
    return max((_similarity(view.name, name) for name in names), default=0.0)


def _similarity(header: str, name: str) -> float:
    """The similarity of the words in any order; a header that is part of a longer question scores slightly less."""
    left, right = " ".join(words_of(header)), " ".join(words_of(name))
    if not left or not right:
        return 0.0
    whole = fuzz.token_sort_ratio(left, right)
    if min(len(left), len(right)) < _SHORT:
        return float(whole) if whole > _SHORT_SIMILARITY else 0.0
    return max(float(whole), 0.9 * fuzz.token_set_ratio(left, right))


def _values_allow(goal: Goal, view: ColumnView) -> bool:
    if goal.spec.kind in _TEXTS:
        return not mismatch_reason(goal.spec, view) and view.emails < 0.5
    return is_like(goal.spec, view)


def _values_identify(goal: Goal, view: ColumnView) -> bool:
    values, concept = view, goal.concept or ""
    if goal.spec.kind is Kind.EMAIL:
        return values.emails >= 0.8
    if goal.spec.kind is Kind.PHONE:
        return values.phones >= 0.8 and values.dialed >= 0.5
    if goal.spec.kind is Kind.URL and concept in ("linkedin", "github", "behance", "dribbble"):
        return values.urls_of(concept) >= 0.8
    if goal.spec.kind in (Kind.CHOICE, Kind.CHOICES) and goal.spec.options:
        return len(values.counts) > 1 and is_like(goal.spec, values)
    return False
