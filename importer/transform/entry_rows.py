"""Finds the rows that the entries of a candidate are read from, whatever shape the source has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from importer.mapping import EntriesFrom, FromChild, FromGroup, FromJson, FromLists, FromPieces, FromRow
from importer.models import CellPlace, Column, Problem, Row
from importer.text.normalize import normalize
from importer.transform.filter import takes
from importer.transform.refusal import in_mapping, quoted
from importer.transform.texts import stripped
from importer.transform.written_values import Unreadable, Written, read_written

_LONGEST_MATCHED = 2_000  # characters of one entry
_NUMBERED = re.compile(r"(.*)\[([0-9]{1,4})\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A row that holds one entry. `inside` is the cell that it was taken out of, where its cells are no real ones."""

    row: Row
    inside: CellPlace | None = None


# Each finder gives the rows, or adds a problem where the shape itself is wrong.
Finder = Callable[[Row, list[Problem]], Sequence[EntryRow]]


def finder_of(source: EntriesFrom, missing: frozenset[str]) -> Finder:
    """The finder for a source of entries. `missing`: folded words that make a cell blank."""
    match source:
        case FromRow():
            return lambda row, problems: (EntryRow(row),)
        case FromChild():
            return lambda row, problems: _children(source, row, problems)
        case FromGroup():
            return lambda row, problems: _members(source, row)
        case FromPieces():
            return lambda row, problems: list(_pieces(source, row, missing, problems))
        case FromJson():
            return lambda row, problems: list(_objects(source, row, missing, problems))
        case FromLists():
            return lambda row, problems: _zipped(source, row, missing, problems)


def columns_of(source: EntriesFrom) -> tuple[Column, ...]:
    """The columns of the candidate's own row at which a problem of all its entries is shown."""
    match source:
        case FromChild(equals=column) | FromPieces(column=column) | FromJson(column=column):
            return (column,)
        case FromLists(columns=columns):
            return columns
        case _:
            return ()


# --- other rows ---------------------------------------------------------------------------------


def _children(source: FromChild, row: Row, problems: list[Problem]) -> list[EntryRow]:
    found = list(source.children.rows_of(row.cells[source.equals.index]))
    for child in found:
        problems.extend(child.problems)
    order_by = source.children.order_by
    if order_by is None or len(found) < 2:
        return [EntryRow(child) for child in found]
    for child in found:
        text = child.cells[order_by.index].strip()
        if not text.isdecimal():
            message = f"{quoted(text)} is no whole number to order the entries by"
            problems.append(Problem("order-unreadable", message, "write it in digits", child.place(order_by)))
            return []
    return [EntryRow(child) for child in sorted(found, key=lambda child: int(child.cells[order_by.index]))]


def _members(source: FromGroup, row: Row) -> list[EntryRow]:
    rows = row.members or (row,)
    return [EntryRow(member) for member in rows if source.where is None or takes(source.where, member)]


# --- one cell -----------------------------------------------------------------------------------


def _pieces(source: FromPieces, row: Row, missing: frozenset[str], problems: list[Problem]) -> Iterator[EntryRow]:
    place = row.place(source.column)
    for piece in map(stripped, _filled(row, source.column, missing).split(source.split)):
        named = source.pattern.groups_of(piece) if piece and len(piece) <= _LONGEST_MATCHED else None
        if named is not None:
            yield _made(row, [stripped(named[name] or "") for name in source.pattern.names], place)
        elif piece:
            hint = f"correct it, or widen pattern: {in_mapping(source.place)}"
            problems.append(Problem("entry-unmatched", f"{quoted(piece)} does not fit the pattern", hint, place))


def _objects(source: FromJson, row: Row, missing: frozenset[str], problems: list[Problem]) -> Iterator[EntryRow]:
    text, place = _filled(row, source.column, missing), row.place(source.column)
    if not text:
        return
    hint = "correct it, or have it exported again"
    try:
        written = read_written(text)
    except Unreadable as error:
        problems.append(Problem("list-unreadable", f"{quoted(text)} is no list: {error}", hint, place))
        return
    items = [written] if isinstance(written, Mapping) else written
    if isinstance(items, str):
        problems.append(Problem("list-unreadable", f"{quoted(text)} is no list of entries", hint, place))
        return
    for number, item in enumerate(items, start=1):
        if isinstance(item, Mapping):
            cells = _cells(item, source.keys)
            if isinstance(cells, str):
                message = f"{cells} of entry {number} holds a list, and one text is wanted"
                problems.append(Problem("list-unreadable", message, hint, place))
            else:
                yield _made(row, cells, place)
        elif item:
            message = f"entry {number} is no object with keys"
            problems.append(Problem("list-unreadable", message, hint, place))


def _cells(item: Mapping[str, Written], keys: Sequence[str]) -> list[str] | str:
    """The texts under the keys (`a.b` is b inside a), or the key that holds more than one text."""
    cells = []
    for key in keys:
        value: Written = item
        for step in [key] if key in item else key.split("."):
            value = value.get(step, "") if isinstance(value, Mapping) else ""
        if not isinstance(value, str):
            return key
        cells.append(value)
    return cells


def _made(row: Row, cells: Sequence[str], place: CellPlace) -> EntryRow:
    return EntryRow(Row(row.origin, row.number, tuple(cells)), place)


def _filled(row: Row, column: Column, missing: frozenset[str]) -> str:
    text = stripped(row.cells[column.index])
    return "" if normalize(text) in missing else text


# --- lists side by side -------------------------------------------------------------------------


def _zipped(source: FromLists, row: Row, missing: frozenset[str], problems: list[Problem]) -> list[EntryRow]:
    lists: dict[Column, dict[int, str]] = {}
    for column in source.columns:
        items = _items(source, _filled(row, column, missing))
        if isinstance(items, str):
            message = f"{quoted(row.cells[column.index])} is no such list: {items}"
            problems.append(Problem("list-unreadable", message, "correct it", row.place(column)))
            return []
        if items:
            lists[column] = items
    if not source.numbered and len({len(items) for items in lists.values()}) > 1:
        lengths = ", ".join(f"'{column.label}' has {len(items)}" for column, items in lists.items())
        message = f"the lists belong together and are not of one length: {lengths}"
        place = row.place(next(iter(lists)))
        problems.append(Problem("lists-unequal", message, "write a blank item where one has nothing to say", place))
        return []
    positions = sorted({position for items in lists.values() for position in items})
    return [EntryRow(_with_items(row, source, lists, position)) for position in positions]


def _items(source: FromLists, text: str) -> dict[int, str] | str:
    """The items of a list by their position, or what is wrong with it."""
    if not text:
        return {}
    if source.split is None:
        try:
            written = read_written(text)
        except Unreadable as error:
            return str(error)
        if isinstance(written, str | Mapping) or not all(isinstance(item, str) for item in written):
            return "texts in square brackets are wanted"
        items = [str(item) for item in written]
    else:
        items = [stripped(item) for item in text.split(source.split)]
    return _numbered(items) if source.numbered else dict(enumerate(items))


def _numbered(items: Sequence[str]) -> dict[int, str] | str:
    found: dict[int, str] = {}
    for item in items:
        match = _NUMBERED.fullmatch(item)
        if match is None:
            return f"{quoted(item)} does not end in a number like [0]"
        if int(match.group(2)) in found:
            return f"the number [{match.group(2)}] occurs twice"
        found[int(match.group(2))] = stripped(match.group(1))
    return found


def _with_items(row: Row, source: FromLists, lists: Mapping[Column, Mapping[int, str]], position: int) -> Row:
    cells = list(row.cells)
    for column in source.columns:
        cells[column.index] = lists.get(column, {}).get(position, "")
    return replace(row, cells=tuple(cells), typed=row.typed - {column.index for column in source.columns})
