"""Statements compiled once: what SQLAlchemy does anew for each execution costs more than the database does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import CTE, BindParameter, Connection, Engine, Select, bindparam, column, values
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.expression import Executable


class PreparedRows:
    """One statement for a whole group of rows: the database is called once, and a thread gives up its turn once.

    statement: makes it from a table of so many rows, whose columns are `names`. It must do the same where a row stands
    there twice: groups are filled up by repeating the last one, or each number of rows would be a statement of its own.
    """

    def __init__(self, statement: Callable[[CTE], Executable], names: Sequence[str], engine: Engine) -> None:
        self._statement = statement
        self._names = tuple(names)
        self._engine = engine
        self._texts: dict[int, str] = {}

    def execute(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """`rows`: at least one, and at most some thousand."""
        size = _at_least(len(rows))
        table = [row[name] for row in rows for name in self._names]
        table += table[-len(self._names) :] * (size - len(rows))
        _run(connection, self._text(size), table)

    def _text(self, size: int) -> str:
        if size not in self._texts:
            columns: list[Any] = [column(name) for name in self._names]
            cells: list[list[BindParameter[Any]]] = [
                [bindparam(f"{name}_{row}") for name in self._names] for row in range(size)
            ]
            rows = values(*columns, name="given").data([tuple(row) for row in cells]).cte("given")
            self._texts[size], order = _compiled(self._statement(rows), self._engine)
            assert list(order) == [cell.key for row in cells for cell in row]  # so that values can be given in order
        return self._texts[size]


class PreparedLookUp:
    """A query for those of some values that a table holds, whatever their number.

    query: makes the query from one parameter for each value.
    """

    def __init__(self, query: Callable[[list[BindParameter[Any]]], Select[Any]], engine: Engine) -> None:
        self._query = query
        self._engine = engine
        self._texts: dict[int, str] = {}

    def execute(self, connection: Connection, wanted: Collection[Any]) -> Sequence[Any]:
        """Every row of the query, as a tuple. `wanted`: at most some thousand values, which the database limits."""
        if not wanted:
            return ()
        given = tuple(wanted)
        size = _at_least(len(given))
        cursor = _run(connection, self._text(size), given + given[-1:] * (size - len(given)))
        found: list[Any] = cursor.fetchall()
        return found

    def _text(self, size: int) -> str:
        if size not in self._texts:
            parameters: list[BindParameter[Any]] = [bindparam(f"wanted_{number}") for number in range(size)]
            self._texts[size], _ = _compiled(self._query(parameters), self._engine)
        return self._texts[size]


def _run(connection: Connection, text: str, parameters: Sequence[Any]) -> Any:
    """The cursor of a statement, executed past SQLAlchemy, whose work around it costs more than the database's. Errors
    are those of SQLAlchemy.
    """
    cursor = connection.connection.cursor()
    library: Any = connection.dialect.loaded_dbapi
    try:
        cursor.execute(text, parameters)
    except library.Error as error:
        raise DBAPIError.instance(text, None, error, library.Error) from error
    return cursor


def _at_least(number: int) -> int:
    """The next power of two, or one and a half of one."""
    size = 1 << (number - 1).bit_length()
    return size * 3 // 4 if size >= 4 and number <= size * 3 // 4 else size


def _compiled(statement: Executable, engine: Engine) -> tuple[str, Sequence[str]]:
    compiled: Any = statement.compile(dialect=engine.dialect)  # type: ignore[attr-defined]  # every statement has it
    return str(compiled), tuple(compiled.positiontup or ())
