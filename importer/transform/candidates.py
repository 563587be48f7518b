"""Which rows are candidates: filters of the mapping, rows grouped into one candidate, duplicate e-mail addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from importer.mapping import ResolvedFilter, ResolvedGrouping, ResolvedMapping
from importer.models import CELLS_MERGED, Row
from importer.problems import CellPlace, Column, Problem
from importer.text.normalize import normalize, stripped
from importer.transform.texts import in_mapping, quoted, with_case

# --- filters --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filtered:
    """A row that `where:` of the mapping excludes."""

    row: int
    problem: Problem


def filtered(row: Row, filters: Sequence[ResolvedFilter]) -> Filtered | None:
    """The row as excluded by the first filter that it does not match, or None where it matches all.

    A row with a problem in the filter cell is not excluded. One that repeats the header is, and has its problem.
    """
    if repeated := next((one for one in row.problems if one.code == "filtered"), None):
        return Filtered(row.number, repeated)
    for one in filters:
        if any(problem.column in (None, one.column.label) for problem in row.problems) or matches(one, row):
            continue
        text = stripped(row.cells[one.column.index])
        cell = quoted(text) if text else "blank"
        message = f"excluded by `{one.label}:` ({one.column.label} is {cell})"
        return Filtered(row.number, Problem("filtered", message, "", row.place(one.column)))
    return None


def matches(one: ResolvedFilter, row: Row) -> bool:
    """Whether the row matches the filter."""
    return (normalize(stripped(row.cells[one.column.index])) in one.words) is not one.negated


# --- several rows of one candidate ----------------------------------------------------------------


def candidate_rows(read: Callable[[], Iterator[Row]], mapping: ResolvedMapping) -> Iterator[Row | Filtered]:
    """The rows of a source; the rows of one candidate become one row with `members`, yielded after its last row.

    read: gives the rows of the source; called twice where rows are grouped. Filtered rows are not members of any
    candidate. Memory holds the candidates whose last row has not been read yet, and one number for each key.
    """
    grouping = mapping.grouping
    if grouping is None:
        yield from read()
        return
    last: dict[str, int] = {}
    for key, row in keyed_rows(read(), mapping.filters, grouping):
        if isinstance(row, Row):
            last[key] = row.number
    waiting: dict[str, list[Row]] = {}
    for key, row in keyed_rows(read(), mapping.filters, grouping):
        if isinstance(row, Filtered):
            yield row
            continue
        waiting.setdefault(key, []).append(row)
        if last[key] == row.number:
            yield _merged(waiting.pop(key), grouping)


def keyed_rows(
    rows: Iterable[Row], filters: Sequence[ResolvedFilter], grouping: ResolvedGrouping
) -> Iterator[tuple[str, Row | Filtered]]:
    """Each row with the key of its candidate; a row without any key is a candidate of its own.

    A row that continues the candidate above is excluded as that one is, unless it has a filter value of its own. Where
    that is not declared, or there is a row between them that was not read, the candidate is held back by its blank key.
    """
    above, above_excluded, last = "", None, 0
    for each in rows:
        row, is_next, last = each, each.number == last + 1, each.number
        excluded = filtered(row, filters)
        if excluded is not None and excluded.problem in row.problems:  # a header that is repeated
            yield "", excluded
            continue
        key = grouping.key_of(row)
        if not key and above and grouping.continues(row):
            key = above
            if grouping.blank_continues and not is_next:
                message = "the cell that identifies the candidate is blank, and the row above is blank or left out"
                unclear = Problem("group-key-blank", message, "fill it in", row.place(grouping.column))
                row = replace(row, problems=(*row.problems, unclear))
            if not any(stripped(row.cells[one.column.index]) for one in filters):
                excluded = above_excluded and replace(above_excluded, row=row.number)
        else:
            if excluded is not None and key and key == above and above_excluded is None:
                row, excluded = _unless_blank(row, excluded, filters)
            above, above_excluded = key, excluded
        yield ("", excluded) if excluded is not None else (key or f"\0{row.number}", row)


def _unless_blank(row: Row, excluded: Filtered, filters: Sequence[ResolvedFilter]) -> tuple[Row, Filtered | None]:
    """A further row of a candidate that is imported, which only a blank cell excludes: its entry would be lost."""
    place = excluded.problem.place
    blank = [one for one in filters if not stripped(row.cells[one.column.index]) and place == row.place(one.column)]
    if not blank:
        return row, excluded
    message = f"the cell for `{blank[0].label}:` is blank, but not in the row above of the same candidate"
    unclear = Problem("group-conflict", message, "fill it in", place)
    return replace(row, problems=(*row.problems, unclear)), None


def _merged(members: list[Row], grouping: ResolvedGrouping) -> Row:
    first = members[0]
    own = [row for row in members if grouping.main is None or matches(grouping.main, row)]
    readable = [row for row in own if not any(problem.is_of_row for problem in row.problems)]
    of_all = {column.index for column in (grouping.column, *grouping.shared)} if grouping.main is None else set[int]()
    problems = [
        problem
        for row in members
        for problem in row.problems
        if row is first or problem.code != CELLS_MERGED or not problem.is_in(of_all)  # the row above has its value
    ]
    problems += _key_problems(members, own, grouping)
    problems += [problem for row in members for problem in _unread(row, grouping)]
    for column in (*grouping.shared, *grouping.of_own_entries):
        hint = "use the same value in all rows of a candidate"
        if column not in grouping.shared:
            hint += "; or, if each row is one entry, read these with rows: all in place of cell: or json:"
        problems += _conflicts(readable, column, grouping, hint)
    if len(members) == 1 and own:
        return replace(first, problems=tuple(problems))
    filled = [_first_filled(own, index, grouping) for index in range(len(first.cells))]
    return Row(
        first.origin,
        first.number,
        tuple(row.cells[index] if row else "" for index, row in enumerate(filled)),
        frozenset(index for index, row in enumerate(filled) if row and index in row.typed),
        tuple(problems),
        tuple(members),
        links=tuple(link for index, row in enumerate(filled) if row for link in row.links if link[0] == index),
    )


def _first_filled(rows: list[Row], index: int, grouping: ResolvedGrouping) -> Row | None:
    """The first row in which the cell is filled in; if there is none, the first with a word that is read as blank."""
    filled = [row for row in rows if row.cells[index]]
    return next((row for row in filled if not grouping.is_blank(row, index)), filled[0] if filled else None)


def _key_problems(members: list[Row], own: list[Row], grouping: ResolvedGrouping) -> list[Problem]:
    if not own:
        message = "no row of this candidate matches main:"
        return [
            Problem(
                "group-main-row-missing",
                message,
                f"add the row with the candidate's own data, or correct main: {in_mapping(grouping.place)}",
                members[0].place(grouping.column),
            )
        ]
    keyless = [row for row in members if not grouping.key_of(row)]
    if not keyless or (grouping.blank_continues and keyless[0] is not members[0]):
        return []
    message, hint = "the cell that identifies the candidate is blank", "fill it in"
    if not grouping.blank_continues:
        hint += f", or set blank: continues {in_mapping(grouping.place)}"
    return [Problem("group-key-blank", message, hint, row.place(grouping.column)) for row in keyless]


def _unread(row: Row, grouping: ResolvedGrouping) -> Iterator[Problem]:
    """The problem of a row that is no entry, and has nothing else of its candidate: it would be lost."""
    if not grouping.of_rows or any(matches(one, row) for one in grouping.of_rows):
        return
    if grouping.main is not None:
        has_own = matches(grouping.main, row)
    else:
        has_own = any(not grouping.is_blank(row, column.index) for column in grouping.shared)
    if not has_own:
        column = grouping.of_rows[0].column
        text = stripped(row.cells[column.index])
        message = (
            f"no `rows:` of the mapping takes {quoted(text) if text else 'a blank cell'}, so this row would be lost"
        )
        hint = "correct it, or leave such rows out with where: under source: in the mapping"
        yield Problem("group-row-unread", message, hint, row.place(column))


def _conflicts(rows: list[Row], column: Column, grouping: ResolvedGrouping, hint: str) -> list[Problem]:
    """A problem at the first cell that differs from an earlier row of the candidate, or whose link does."""
    earlier = _first_filled(rows, column.index, grouping)
    compared = with_case if column.index in grouping.exact else normalize
    if earlier is None:
        return []
    for row in rows:
        if grouping.is_blank(row, column.index):
            continue
        text, expected = (stripped(one.cells[column.index]) for one in (row, earlier))
        if compared(text) == compared(expected):
            link, before = (dict(one.links).get(column.index, "") for one in (row, earlier))
            if link and before and link != before:  # a program links some texts by itself
                text, expected = f"{text} {link}", f"{expected} {before}"
        if compared(text) != compared(expected):
            message = f"{quoted(text)} differs from {quoted(expected)} in row {earlier.number} of the same candidate"
            return [Problem("group-conflict", message, hint, row.place(column))]
    return []


# --- duplicate e-mail addresses -------------------------------------------------------------------


def place_of_address(rows: Sequence[Row], columns: Sequence[Column], address: str) -> CellPlace:
    """The cell of a candidate with its e-mail address, by the rows and the columns that it may be in; the first row if
    that is in none of them as it is: it was looked up, or is a part of a cell.
    """
    filled = [(row, column) for row in rows for column in columns if row.cells[column.index].strip()]
    wanted = address.casefold()
    found = [(row, column) for row, column in filled if row.cells[column.index].strip().casefold() == wanted]
    if not found and len(filled) != 1:
        return rows[0].place()
    row, column = (found or filled)[0]
    return row.place(column)


def same_address(own: CellPlace, other: CellPlace, becomes: Literal["valid", "invalid", "neither"]) -> Problem:
    """The problem of a row whose e-mail address another one has; both places are those of the address.

    becomes: the other row is valid or invalid by itself, or neither is sent.
    """
    which, way = "which is imported instead", ""
    if becomes == "neither":
        which = "and neither row is sent"
    elif becomes == "invalid":
        which, way = "which has problems of its own", f"fix row {other.row}, or "
    hint = f"{way}remove one of the two rows in your own file, or correct the address if they are two people"
    where = other.address if other.origin.sheet is not None else f"row {other.row}"  # a CSV has no names of cells
    message = f"the e-mail address is the same as in {where}, {which}"
    return Problem("email-duplicate", message, hint, own)
