"""Finds the rows that the entries of a candidate are read from, whatever shape the source has; checks the joins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from importer.mapping import (
    EntriesFrom,
    FromChild,
    FromGroup,
    FromJson,
    FromLists,
    FromPieces,
    FromRow,
    ResolvedMapping,
    ResolvedValue,
    blank_words,
)
from importer.models import Row
from importer.problems import CellPlace, Column, Origin, Place, Problem
from importer.text.literals import InvalidLiteral, Number, Parsed, read_literal
from importer.text.normalize import join_key, normalize, stripped
from importer.transform.candidates import matches
from importer.transform.texts import InvalidValue, matched, quoted, undeclared

_WHOLE = re.compile(r"\.0+\Z")  # of 2015.0, as programs write a column of numbers with gaps
_NUMBERED = re.compile(r"(.*)\[([0-9]{1,4})\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A row with one entry. `inside` is the cell that it was split from, if its cells are not cells of the file."""

    row: Row
    inside: CellPlace | None = None

    def shown(self, place: Place | None) -> Place | None:
        """The place for a person: of a part of a cell, that cell; a value may also be looked up in another table."""
        is_part = self.inside is not None and isinstance(place, CellPlace) and place.origin == self.inside.origin
        return self.inside if is_part else place


# Each finder gives the rows, or adds a problem where the shape itself is wrong.
Finder = Callable[[Row, list[Problem]], Sequence[EntryRow]]


def finder_of(source: EntriesFrom, missing: frozenset[str], values: Iterable[ResolvedValue] = ()) -> Finder:
    """The finder for a source of entries. `missing`: normalized words that count as an empty cell. values: its fields;
    a cell of another table that none of them reads matters to nobody.
    """
    match source:
        case FromRow():
            return lambda row, problems: (EntryRow(row),)
        case FromChild():
            keys = [column for column in (source.children.key, source.children.order_by) if column is not None]
            blank = blank_words(values, others=keys)
            return lambda row, problems: _children(source, row, blank, problems)
        case FromGroup():
            return lambda row, problems: _members(source, row)
        case FromPieces():
            return lambda row, problems: list(_pieces(source, row, missing, problems))
        case FromJson():
            return lambda row, problems: list(_objects(source, row, missing, problems))
        case FromLists():
            return lambda row, problems: _zipped(source, row, missing, problems)


# --- other rows ---------------------------------------------------------------------------------


def _children(
    source: FromChild, row: Row, blank: Mapping[int, frozenset[str]], problems: list[Problem]
) -> list[EntryRow]:
    """blank: of the columns that are read, the words of an empty cell."""
    found = list(source.rows_of(row))
    if problem := source.problem_of(row):
        problems.append(problem)
    problems.extend(source.without_key(row))
    for child in found:
        problems.extend(one for one in undeclared(child, blank) if one.column is None or one.is_in(blank))
    order_by = source.children.order_by
    if order_by is None or len(found) < 2:
        return [EntryRow(child) for child in found]
    numbers = list[int]()
    for child in found:
        text = child.cells[order_by.index].strip().removesuffix(".0")
        if not text.isdecimal():
            message = f"{quoted(text)} is not a whole number, so the entries cannot be ordered"
            hint = "write it in digits; to order entries by their dates, set order: newest_first in place of order_by:"
            problems.append(Problem("number-invalid", message, hint, child.place(order_by)))
            return []
        numbers.append(int(text))
    return [EntryRow(child) for _, child in sorted(zip(numbers, found, strict=True), key=lambda pair: pair[0])]


def _members(source: FromGroup, row: Row) -> list[EntryRow]:
    rows = row.members or (row,)
    return [EntryRow(member) for member in rows if source.where is None or matches(source.where, member)]


# --- one cell -----------------------------------------------------------------------------------


def _pieces(source: FromPieces, row: Row, missing: frozenset[str], problems: list[Problem]) -> Iterator[EntryRow]:
    place = row.place(source.column)
    for piece in map(stripped, _filled(row, source.column, missing).split(source.split)):
        if not piece:
            continue
        named = matched(source.pattern, piece, source.place)
        if isinstance(named, InvalidValue):
            problems.append(named.at(place))
        else:
            yield _made(row, [stripped(named[name] or "") for name in source.pattern.names], place)


def _objects(source: FromJson, row: Row, missing: frozenset[str], problems: list[Problem]) -> Iterator[EntryRow]:
    text, place = _filled(row, source.column, missing), row.place(source.column)
    if not text:
        return
    hint = "correct it, or export the file again"
    try:
        literal = read_literal(text)
    except InvalidLiteral as error:
        problems.append(Problem("list-invalid", f"{quoted(text)} is not a valid list: {error}", hint, place))
        return
    items = [literal] if isinstance(literal, Mapping) else literal or []  # null
    if isinstance(items, str):
        problems.append(Problem("list-invalid", f"{quoted(text)} is not a list of entries", hint, place))
        return
    for number, item in enumerate(items, start=1):
        if isinstance(item, Mapping):
            cells = _cells(item, source.keys, missing)
            other = next(filter(None, (_spelled_otherwise(item, key) for key in source.keys)), None)
            if other is not None:
                message = f"entry {number} has '{other[1]}', where the mapping reads '{other[0]}'"
                problems.append(Problem("list-invalid", message, "write it in the mapping as the cell has it", place))
            elif item and source.keys and not any(_has(item, key) for key in source.keys):
                wanted, there = (", ".join(map(str, names)) for names in (source.keys, item))
                message = f"entry {number} has none of the keys that the mapping reads ({wanted}); it has {there}"
                problems.append(Problem("list-invalid", message, "correct the keys in the mapping, or the cell", place))
            elif isinstance(cells, str):
                message = f"{cells} of entry {number} is not one text"
                problems.append(Problem("list-invalid", message, hint, place))
            else:
                yield _made(row, cells, place)
        elif item:
            message = f"entry {number} is not an object with keys"
            problems.append(Problem("list-invalid", message, hint, place))


def _has(item: Mapping[str, Parsed], key: str) -> bool:
    """Whether there is something under a key (`a.b` is b inside a), or something else than an object in its place."""
    value: Parsed = item
    for step in [key] if key in item else key.split("."):
        if not isinstance(value, Mapping):
            return True
        if step not in value:
            return False
        value = value[step]
    return True


def _spelled_otherwise(item: Mapping[str, Parsed], key: str) -> tuple[str, str] | None:
    """A key that is not there, and the one that is, in other letters: `from` and `From`."""
    found = next((each for each in item if each != key and each.casefold() == key.casefold()), None)
    return (key, found) if found is not None and key not in item else None


def _cells(item: Mapping[str, Parsed], keys: Sequence[str], missing: frozenset[str]) -> list[str] | str:
    """The texts under the keys (`a.b` is b inside a), or the key that holds more than one text."""
    cells = []
    for key in keys:
        value: Parsed = item
        for step in [key] if key in item else key.split("."):
            if isinstance(value, Mapping):
                value = value.get(step, "")
            elif not value or value == "FALSE" or (isinstance(value, str) and normalize(value) in missing):
                value = ""  # some programs write false for no object
            else:
                return key
        if not isinstance(value, str):
            return key
        cells.append(_WHOLE.sub("", value) if isinstance(value, Number) else value)
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
            message = f"{quoted(row.cells[column.index])} is not a valid list: {items}"
            problems.append(Problem("list-invalid", message, "correct it", row.place(column)))
            return []
        if items:
            lists[column] = items
    if not source.numbered and len({len(items) for items in lists.values()}) > 1:
        lengths = ", ".join(f"'{column.label}' has {len(items)}" for column, items in lists.items())
        message = f"the lists belong together but have different lengths: {lengths}"
        place = row.place(next(iter(lists)))
        problems.append(Problem("list-lengths-differ", message, "add an empty item where a value is missing", place))
        return []
    positions = sorted({position for items in lists.values() for position in items})
    return [EntryRow(_with_items(row, source, lists, position)) for position in positions]


def _items(source: FromLists, text: str) -> dict[int, str] | str:
    """The items of a list by their position, or what is wrong with it."""
    if not text:
        return {}
    if source.split is None:
        try:
            literal = read_literal(text)
        except InvalidLiteral as error:
            return str(error)
        if isinstance(literal, str | Mapping) or not all(isinstance(item, str) for item in literal):
            return "expected a list of texts in square brackets"
        items = [_WHOLE.sub("", item) if isinstance(item, Number) else str(item) for item in literal]
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


# --- joins with other tables: entries without a candidate, and duplicate keys ---------------------

_SHOWN = 3  # places in a warning


def join_warnings(mapping: ResolvedMapping, read: Callable[[], Iterable[Row]]) -> tuple[Problem, ...]:
    """Warnings about every join and lookup, each table and pair of keys once. `read` gives all rows of the source."""
    joins = [(join, True) for join in mapping.lookups] + [(join, False) for join in mapping.joins]
    checks: dict[tuple[Origin, Column, Column | None], _Join] = {
        (join.children.origin, join.children.key, join.equals): _Join(join, is_lookup) for join, is_lookup in joins
    }
    own = list(checks.values())
    for join in mapping.entry_lookups:  # one check for all entries
        checks.setdefault((join.children.origin, join.children.key, None), _Join(join, is_lookup=True))
    for row in read() if checks else ():
        for check in own:
            check.add(row)
        for source in mapping.entry_sources if mapping.entry_lookups else ():
            for entry in finder_of(source.source, source.missing)(row, []):
                for join in source.lookups:
                    checks[join.children.origin, join.children.key, None].add(entry.row, join.equals)
    grouped = mapping.grouping is not None  # then several rows may be one candidate
    return tuple(problem for check in checks.values() for problem in check.warnings(grouped=grouped))


class _Join:
    """One join, and the keys seen so far."""

    def __init__(self, join: FromChild, is_lookup: bool) -> None:
        self._join = join
        self._is_lookup = is_lookup
        self._first_row: dict[str, int] = {}
        self._repeated_rows: list[Row] = []
        self._repeated_count = 0
        self._keys: set[str] = set()  # of the source

    def add(self, row: Row, equals: Column | None = None) -> None:
        key = join_key(row.cells[(equals or self._join.equals).index], self._join.missing)
        if key:
            self._keys.add(key)
        if not key or key not in self._join.children.by_key:
            return
        if self._first_row.setdefault(key, row.number) != row.number:
            self._repeated_count += 1
            if len(self._repeated_rows) < _SHOWN:
                self._repeated_rows.append(row)

    def warnings(self, *, grouped: bool) -> Iterator[Problem]:
        join, children = self._join, self._join.children
        yield from islice(self._swallowed(), _SHOWN)
        if self._is_lookup:
            if children.by_key and not self._first_row:
                message = f"no row of the source matches a row of {children.table}, so nothing is looked up there"
                hint = f"check '{children.key.label}' there, and '{join.equals.label}' in the source"
                yield Problem("lookup-without-match", message, hint)
            if children.by_key and self._first_row and (lost := sorted(self._keys - children.by_key.keys())):
                count = "1 key is" if len(lost) == 1 else f"{len(lost):,} keys are"
                message = f"{count} not in {children.table}, such as {quoted(lost[0])}: nothing is looked up for them"
                hint = f"check '{children.key.label}' there, and '{join.equals.label}' in the source"
                yield Problem("lookup-without-match", message, hint)
            return
        orphans = [row for key, rows in children.by_key.items() if key not in self._keys for row in rows]
        yield from islice((problem for row in orphans for problem in row.problems), _SHOWN)
        if orphans:
            yield Problem(
                "lookup-without-match",
                f"no row of the source matches {_listed(orphans[:_SHOWN], len(orphans), children.key, children.table)}",
                f"check '{children.key.label}' there, and '{join.equals.label}' in the source",
            )
        if self._repeated_rows and not grouped:
            yield Problem(
                "join-key-duplicate",
                f"several rows of the source have the same key and share the entries of {children.table}:"
                f" {_listed(self._repeated_rows, self._repeated_count, join.equals)}",
                f"check '{join.equals.label}'",
            )

    def _swallowed(self) -> Iterator[Problem]:
        """Warnings about cells with a line that begins like a row of a candidate: an open quote hides that row."""
        index = self._join.children.key.index
        for row in (row for rows in self._join.children.by_key.values() for row in rows):
            for column, cell in zip(self._join.children.columns, row.cells, strict=False):
                lines = cell.split("\n")[1:]
                found = next((line for line in lines if self._begins_a_row(re.split("[,;|\t]", line), index)), None)
                if found is not None:
                    message = f"the cell contains a line that looks like a row of its own, {quoted(found)}"
                    hint = 'if it is one, close the quote (") before it'
                    yield Problem("row-in-cell", message, hint, row.place(column))

    def _begins_a_row(self, pieces: Sequence[str], index: int) -> bool:
        key = join_key(pieces[index].strip(' "')) if len(pieces) > max(index, 1) else ""
        return bool(key) and (key in self._keys or key in self._join.children.by_key)


def _listed(rows: Sequence[Row], count: int, column: Column, table: str = "") -> str:
    """`5 rows (c.csv, row 2; ... and 2 more)`, after `of` the table if it is named."""
    places = ", ".join(str(row.place(column)) for row in rows)
    more = f" and {count - len(rows)} more" if count > len(rows) else ""
    return f"{count} row{'' if count == 1 else 's'}{f' of {table}' if table else ''} ({places}{more})"
