"""A candidate as it would be sent, beside its row, by a mapping that is perhaps not complete; the odd ones first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import log2
from typing import Final, Literal

from importer.models import Row
from importer.problems import Column, Problem
from importer.suggest import ColumnView, MappingText
from importer.transform import TracedPart, body_reader, trace_parts, undeclared
from importer.web.models.matched import SentPart, ShownCandidate
from importer.web.models.readable_mapping import ReadableMapping, id_of
from importer.web.models.sent_lines import SentLine, sent_lines

SortOrder = Literal["odd", "file"]

_REGULAR: Final = 0.7  # of the cells have one of the frequent forms, or the column is free text
_FREQUENT: Final = 4


class ShownCandidates:
    """The rows that a page looks at, each beside what would be sent for it.

    titles: of the fields and questions, by ID; lacking: those that are required and have no usable value.
    """

    def __init__(
        self,
        readable: ReadableMapping,
        text: MappingText,
        columns: Sequence[ColumnView],
        titles: Mapping[str, str],
        lacking: tuple[str, ...],
    ) -> None:
        self._readable, self._text = readable, text
        self._columns = tuple(one.column for one in columns)
        self._titles, self._lacking = titles, lacking

    def at(self, number: int, order: SortOrder) -> ShownCandidate | None:
        """The candidate of a row, or the first one if there is no such row; None if nothing can be read."""
        numbers = self._odd_first if order == "odd" else tuple(self._rows)
        if not numbers:
            return None
        number = number if number in self._rows else numbers[0]
        place = numbers.index(number)
        parts = tuple(self._parts(self._rows[number]))
        shown = tuple(sorted((one for one in parts if one.lines or one.problems), key=lambda one: not one.problems))
        return ShownCandidate(
            number,
            place + 1,
            len(numbers),
            numbers[place - 1] if place else None,
            numbers[place + 1] if place + 1 < len(numbers) else None,
            shown,
            tuple(self._own_problems(self._rows[number], shown)),
            self._lacking,
            tuple(one.title for one in parts if one not in shown),
            tuple(self._unused(self._rows[number])),
        )

    @property
    def held_back(self) -> int:
        """How many of the rows have a problem that holds them back; only a check also compares rows."""
        return sum(map(bool, self._problem_sets.values()))

    # --- one row ------------------------------------------------------------------------------------

    @cached_property
    def _rows(self) -> dict[int, Row]:
        return {row.number: row for row in self._readable.rows}

    def _parts(self, row: Row) -> Iterator[SentPart]:
        if self._readable.resolved is None or any(one.is_of_row for one in row.problems):
            return
        for part in trace_parts(row, self._readable.resolved):
            id = self._id_of(part)
            if id in self._readable.values:
                problems = tuple(map(self._readable.named, part.problems))
                lines = tuple(sent_lines([part.traced], row.origin))
                yield SentPart(id, self._titles.get(id, part.traced.label), lines, problems, part.is_left_out)

    def _id_of(self, part: TracedPart) -> str:
        return id_of(part.question, self._text) if part.question else f"candidate/{part.traced.label}"

    def _own_problems(self, row: Row, parts: Sequence[SentPart]) -> Iterator[Problem]:
        """The problems that reading the file found, where they hold the row back and no part has them."""
        resolved = self._readable.resolved
        if resolved is None:
            return
        reader = body_reader(resolved)
        passed = resolved.unread | reader.left_out_columns
        known = {problem.place for part in parts for problem in part.problems}
        own = undeclared(row, reader.blank)
        yield from (one for one in own if not one.is_in(passed) and one.place not in known)

    def _unused(self, row: Row) -> Iterator[SentLine]:
        for column in self._columns:
            if column.index not in self._readable.used and (text := row.cells[column.index]):
                yield SentLine(f"{column.letter}{row.number}", column.label, text, "", "")

    # --- the odd ones -------------------------------------------------------------------------------

    @cached_property
    def _odd_first(self) -> tuple[int, ...]:
        """Rows with problems, each new set of problems first; then those whose cells have the rarest forms."""
        sets = self._problem_sets
        scores = {number: self._score(row) for number, row in self._rows.items()}
        rarest = sorted(self._rows, key=lambda number: -scores[number])
        met: Counter[frozenset[str]] = Counter()
        turn: dict[int, int] = {}
        for number in rarest:
            turn[number] = met[sets[number]] if sets[number] else 0
            met[sets[number]] += 1
        return tuple(sorted(rarest, key=lambda number: (not sets[number], turn[number], -scores[number], number)))

    @cached_property
    def _problem_sets(self) -> dict[int, frozenset[str]]:
        return {number: self._problem_set(row) for number, row in self._rows.items()}

    def _problem_set(self, row: Row) -> frozenset[str]:
        resolved = self._readable.resolved
        if resolved is None:
            return frozenset()
        found: list[Problem] = [*self._own_problems(row, ())]
        reader = body_reader(resolved)
        for name in reader.fields:
            if f"candidate/{name}" in self._readable.values:
                reader.read_field(name, row, found)
        for answer in reader.answers:
            if not answer.leave_out:
                answer.read(row, found)
        return frozenset(f"{one.code} {one.column}" for one in found)

    @cached_property
    def _forms(self) -> dict[Column, Counter[str]]:
        """The forms of the cells of each column that is used and is not free text."""
        found: dict[Column, Counter[str]] = {}
        for column in self._columns:
            if column.index in self._readable.used:
                forms = Counter(_form(row.cells[column.index]) for row in self._readable.rows)
                frequent = sum(count for _, count in forms.most_common(_FREQUENT))
                if frequent >= _REGULAR * forms.total():
                    found[column] = forms
        return found

    def _score(self, row: Row) -> float:
        total = len(self._readable.rows)
        return sum(log2(total / forms[_form(row.cells[column.index])]) for column, forms in self._forms.items())


@lru_cache(maxsize=50_000)
def _form(text: str) -> str:
    """What a text looks like: `a` for letters, `9` for digits, other characters as they are.

    >>> _form("ada.oz@example.com"), _form("+90 555 000 00 01"), _form("")
    ('a.a@a.a', '+9 9 9 9 9', '')
    """
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text[:200]))
