"""Reads a value in its row, or in the rows of another table that belong to its row."""

from __future__ import annotations

from typing import Any

from importer.mapping import Lookup, ResolvedValue, blank_words
from importer.models import Row
from importer.problems import Column, Problem
from importer.settings import WireFormat
from importer.transform.texts import quoted, undeclared
from importer.transform.values import ValueCache, ValueReader


def value_reader(value: ResolvedValue, wire: WireFormat, cache: ValueCache | None = None) -> ValueReader:
    """The reader of a value; `cache` as in ValueReader."""
    return _LookupReader(value, value.lookup, wire, cache) if value.lookup else ValueReader(value, wire, cache)


class _LookupReader(ValueReader):
    """Reads a value from the rows of another table that belong to a row."""

    def __init__(self, value: ResolvedValue, lookup: Lookup, wire: WireFormat, cache: ValueCache | None) -> None:
        super().__init__(value, wire)
        self._join = lookup.join
        self._there = ValueReader(lookup.value, wire, cache)
        indexes = [column.index for column in lookup.value.columns]
        self._blank = blank_words([lookup.value], others=[lookup.join.children.key])
        self._blank_cells = ("",) * (max(indexes) + 1)

    def read(self, row: Row, problems: list[Problem]) -> Any:
        """The value that all rows there have, or None where they differ; as of a blank cell if none is filled in."""
        children = self._join.rows_of(row)
        if problem := self._join.problem_of(row):
            problems.append(problem)
            return None
        for child in children:
            own = undeclared(child, self._blank)
            problems += (one for one in own if one.column is None or one.is_in(self._blank))
        found: dict[Any, Row] = {}
        filled = [child for child in children if self._there.from_cells(child)]
        for child in filled:
            value = self._there.read(child, problems)
            if value is not None:
                found.setdefault(value, child)
        if not filled:
            return self._there.read(Row(row.origin, row.number, self._blank_cells), problems)
        if len(found) < 2:
            return next(iter(found), None)
        first, *others = found.values()
        problems += (self._difference(first, other) for other in others)
        return None

    def source(self, row: Row) -> tuple[ValueReader, Row]:
        """The reader and the row that give the value: those of the other table, if it is found there."""
        filled = (child for child in self._join.rows_of(row) if self._there.from_cells(child))
        child = next((child for child in filled if self._there.read(child, []) is not None), None)
        return (self, row) if child is None else (self._there, child)

    def _difference(self, first: Row, other: Row) -> Problem:
        (_, expected), (column, text) = self._cell(first), self._cell(other)
        same = f"which has the same '{self._join.children.key.label}'"
        message = f"{quoted(text)} differs from {quoted(expected)} in row {first.number}, {same}"
        hint = "keep one of these rows, or correct the key"
        return Problem("lookup-ambiguous", message, hint, other.place(column))

    def _cell(self, row: Row) -> tuple[Column, str]:
        column = self._there.first_filled(row) or self._join.children.key
        return column, row.cells[column.index]
