"""Statements for whole groups: the database is called once for all of them, and a thread gives up its turn once.

There is a text for some numbers only, and a group is filled up to the next by repeating its last member: a text for
each number would be a statement of its own, and SQLite reads each anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any


class PreparedRows:
    """A statement that takes its rows from `given`, a table of the columns `names`.

    It must do the same where a row stands there twice.
    """

    def __init__(self, names: Sequence[str], statement: str) -> None:
        self._head = f"WITH given ({', '.join(names)}) AS (VALUES "
        self._row = f"({', '.join('?' * len(names))})"
        self._tail = f") {statement}"
        self._texts: dict[int, str] = {}

    def execute(self, connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
        """`rows`: at least one, and at most some thousand; the values of each in the order of `names`."""
        size = _at_least(len(rows))
        if size not in self._texts:
            self._texts[size] = f"{self._head}{', '.join([self._row] * size)}{self._tail}"
        filled = rows + rows[-1:] * (size - len(rows))
        connection.execute(self._texts[size], [value for row in filled for value in row])


class PreparedLookUp:
    """A query for those of some values that a table holds; it ends in IN, and the list of values follows."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._texts: dict[int, str] = {}

    def execute(self, connection: sqlite3.Connection, wanted: Collection[Any]) -> list[Any]:
        """Every row of the query, as a tuple. `wanted`: at most some thousand values, which the database limits."""
        if not wanted:
            return []
        given = tuple(wanted)
        size = _at_least(len(given))
        if size not in self._texts:
            self._texts[size] = f"{self._query} ({', '.join('?' * size)})"
        return connection.execute(self._texts[size], given + given[-1:] * (size - len(given))).fetchall()


def _at_least(number: int) -> int:
    """The next power of two, or one and a half of one."""
    size = 1 << (number - 1).bit_length()
    return size * 3 // 4 if size >= 4 and number <= size * 3 // 4 else size
