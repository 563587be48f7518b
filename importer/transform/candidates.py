"""Brings the rows of one candidate together into one row, where the mapping says that a candidate has several."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from importer.mapping import ResolvedGrouping, ResolvedMapping
from importer.models import Column, Problem, Row
from importer.text.normalize import normalize
from importer.transform.filter import filtered, takes
from importer.transform.refusal import in_mapping, quoted
from importer.transform.results import Filtered
from importer.transform.texts import stripped


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
    for key, row in _keyed(read(), mapping, grouping):
        if isinstance(row, Row):
            last[key] = row.number
    waiting: dict[str, list[Row]] = {}
    for key, row in _keyed(read(), mapping, grouping):
        if isinstance(row, Filtered):
            yield row
            continue
        waiting.setdefault(key, []).append(row)
        if last[key] == row.number:
            yield _merged(waiting.pop(key), grouping)


def _keyed(
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
    givers = [_giver(own, index) for index in range(len(first.cells))]
    return Row(
        first.origin,
        first.number,
        tuple(row.cells[index] if row else "" for index, row in enumerate(givers)),
        frozenset(index for index, row in enumerate(givers) if row and index in row.typed),
        tuple(problems),
        tuple(members),
    )


def _giver(rows: list[Row], index: int) -> Row | None:
    """The first row that fills the cell in."""
    return next((row for row in rows if row.cells[index]), None)


def _key_problems(first: Row, own: list[Row], grouping: ResolvedGrouping) -> list[Problem]:
    place = first.place(grouping.column)
    if not own:
        message = "no row of this candidate holds the candidate's own cells"
        return [Problem("group-headless", message, f"add it, or correct main: {in_mapping(grouping.place)}", place)]
    if not stripped(first.cells[grouping.column.index]):
        message = "the cell that says which candidate the row belongs to is blank"
        hint = f"fill it in, or declare blank: continues {in_mapping(grouping.place)}"
        return [Problem("group-key-blank", message, hint, place)]
    return []


def _conflicts(rows: list[Row], column: Column) -> list[Problem]:
    """The first cell that says something else than an earlier row of the candidate."""
    giver = _giver(rows, column.index)
    if giver is None:
        return []
    said = stripped(giver.cells[column.index])
    for row in rows:
        text = stripped(row.cells[column.index])
        if text and normalize(text) != normalize(said):
            message = f"{quoted(text)} differs from {quoted(said)} in row {giver.number}, and both are one candidate"
            hint = "write the same in all rows of a candidate"
            return [Problem("group-conflict", message, hint, row.place(column))]
    return []
