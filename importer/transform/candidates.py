"""Which rows are candidates: filters of the mapping, several rows of one candidate, one e-mail in several rows."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from importer.mapping import Repeated, ResolvedFilter, ResolvedGrouping, ResolvedMapping
from importer.models import Application, PoolCandidate, Row
from importer.problems import Column, Problem
from importer.text.normalize import normalize
from importer.transform.texts import in_mapping, quoted, stripped

# --- filters --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filtered:
    """The row is left out by the mapping's own `where`."""

    row: int
    problem: Problem


def filtered(row: Row, filters: Sequence[ResolvedFilter]) -> Filtered | None:
    """The row as left out by the first filter that does not take it, or None where it counts.

    A row whose filter cell was not read for sure counts.
    """
    for one in filters:
        if any(problem.column in (None, one.column.label) for problem in row.problems) or takes(one, row):
            continue
        text = stripped(row.cells[one.column.index])
        cell = quoted(text) if text else "blank"
        message = f"excluded by `{one.label}:` ({one.column.label} is {cell})"
        return Filtered(row.number, Problem("filtered", message, "", row.place(one.column)))
    return None


def takes(one: ResolvedFilter, row: Row) -> bool:
    """Whether the filter takes the row."""
    return (normalize(stripped(row.cells[one.column.index])) in one.words) is not one.negated


# --- several rows of one candidate ----------------------------------------------------------------


def candidate_rows(read: Callable[[], Iterator[Row]], mapping: ResolvedMapping) -> Iterator[Row | Filtered]:
    """The rows of a source, those of one candidate as one row with `members`; it comes when its last row was read.

    read: gives the rows of the source, and is called twice where rows are grouped. Rows that a filter leaves out
    are no members of anything. Memory holds the candidates whose last row is still to come, and a number for each key.
    """
    grouping = mapping.grouping
    if grouping is None:
        yield from read()
        return
    last: dict[str, int] = {}
    for key, row in _with_keys(read(), mapping, grouping):
        if isinstance(row, Row):
            last[key] = row.number
    waiting: dict[str, list[Row]] = {}
    for key, row in _with_keys(read(), mapping, grouping):
        if isinstance(row, Filtered):
            yield row
            continue
        waiting.setdefault(key, []).append(row)
        if last[key] == row.number:
            yield _merged(waiting.pop(key), grouping)


def _with_keys(
    rows: Iterator[Row], mapping: ResolvedMapping, grouping: ResolvedGrouping
) -> Iterator[tuple[str, Row | Filtered]]:
    """Each row with the key of its candidate; a row without any key is a candidate of its own."""
    above = ""
    for row in rows:
        left_out = filtered(row, mapping.filters)
        if left_out is not None:
            yield "", left_out
            continue
        key = stripped(row.cells[grouping.column.index])
        if not key and grouping.blank_continues:
            key = above
        above = key
        yield key or f"\0{row.number}", row


def _merged(members: list[Row], grouping: ResolvedGrouping) -> Row:
    first = members[0]
    own = [row for row in members if grouping.main is None or takes(grouping.main, row)]
    problems = [problem for row in members for problem in row.problems]
    problems += _key_problems(first, own, grouping)
    for column in grouping.shared:
        problems += _conflicts(own, column)
    if len(members) == 1 and own:
        return Row(first.origin, first.number, first.cells, first.typed, tuple(problems))
    filled = [_first_filled(own, index) for index in range(len(first.cells))]
    return Row(
        first.origin,
        first.number,
        tuple(row.cells[index] if row else "" for index, row in enumerate(filled)),
        frozenset(index for index, row in enumerate(filled) if row and index in row.typed),
        tuple(problems),
        tuple(members),
    )


def _first_filled(rows: list[Row], index: int) -> Row | None:
    """The first row that fills the cell in."""
    return next((row for row in rows if row.cells[index]), None)


def _key_problems(first: Row, own: list[Row], grouping: ResolvedGrouping) -> list[Problem]:
    place = first.place(grouping.column)
    if not own:
        message = "no row of this candidate matches main:"
        return [
            Problem(
                "group-main-row-missing",
                message,
                f"add the row with the candidate's own data, or correct main: {in_mapping(grouping.place)}",
                place,
            )
        ]
    if not stripped(first.cells[grouping.column.index]):
        message = "the cell that identifies the candidate is blank"
        hint = f"fill it in, or set blank: continues {in_mapping(grouping.place)}"
        return [Problem("group-key-blank", message, hint, place)]
    return []


def _conflicts(rows: list[Row], column: Column) -> list[Problem]:
    """The first cell that says something else than an earlier row of the candidate."""
    earlier = _first_filled(rows, column.index)
    if earlier is None:
        return []
    expected = stripped(earlier.cells[column.index])
    for row in rows:
        text = stripped(row.cells[column.index])
        if text and normalize(text) != normalize(expected):
            message = f"{quoted(text)} differs from {quoted(expected)} in row {earlier.number} of the same candidate"
            hint = "use the same value in all rows of a candidate"
            return [Problem("group-conflict", message, hint, row.place(column))]
    return []


# --- one e-mail in several rows -------------------------------------------------------------------

_SECRET = secrets.token_bytes(16)  # of this process: what is kept for an e-mail tells nobody else which one it was


class RemembersRows(Protocol):
    """Remembers the first row that came with each key: a dict, or what needs less memory."""

    def setdefault(self, key: bytes, row: int, /) -> int: ...


class Duplicates:
    """Remembers the e-mail of each row that is sent, as a keyed hash.

    The service takes one application for each person and job post, and one candidate for each e-mail and pool
    (service description, part 8), so that the first row wins and each later one is a problem; or, where the mapping
    says `duplicates: error`, each of them is.
    """

    def __init__(
        self,
        mapping: ResolvedMapping,
        repeated: Mapping[bytes, int] | None = None,
        first_rows: RemembersRows | None = None,
    ) -> None:
        """`repeated`: what an earlier look at all rows found, so that the first of like rows is known too."""
        self._columns = mapping.candidate.email.columns
        self._none_wins = mapping.repeated is Repeated.ERROR
        self._first_row: RemembersRows = {} if first_rows is None else first_rows
        self._known = repeated or {}
        self.repeated: dict[bytes, int] = {}  # the second row of each e-mail that several rows have

    def check(self, row: Row, body: Application | PoolCandidate) -> Problem | None:
        """The problem of a row whose e-mail another row has, or None; then the row is remembered."""
        key = hashlib.blake2b(body.email.casefold().encode(), digest_size=16, key=_SECRET).digest()
        first = self._first_row.setdefault(key, row.number)
        if first != row.number:
            self.repeated.setdefault(key, row.number)
            return self._problem(row, first)
        second = self._known.get(key) if self._none_wins else None
        return self._problem(row, second) if second is not None else None

    def _problem(self, row: Row, other: int) -> Problem:
        which = "and neither row is sent" if self._none_wins else "which is imported instead"
        message = f"the e-mail address is the same as in row {other}, {which}"
        column = next((column for column in self._columns if row.cells[column.index].strip()), None)
        return Problem("email-duplicate", message, "remove one of the two rows", row.place(column))
