"""Statements compiled once: what SQLAlchemy does anew for each execution costs more than the database does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Engine, Select, bindparam
from sqlalchemy.sql.expression import Executable


class Prepared:
    """A statement in the words of one engine's database, executed for rows of values given by name."""

    def __init__(self, statement: Executable, engine: Engine) -> None:
        self._text, self._names = _compiled(statement, engine)

    def execute(self, connection: Connection, rows: Collection[Mapping[str, Any]]) -> None:
        names = self._names
        connection.exec_driver_sql(self._text, [tuple([row[name] for name in names]) for row in rows])


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
        values = tuple(wanted)
        # In sizes of powers of two, or each number of values would be a statement of its own.
        size = 1 << (len(values) - 1).bit_length()
        return connection.exec_driver_sql(self._text(size), values + values[-1:] * (size - len(values))).all()

    def _text(self, size: int) -> str:
        if size not in self._texts:
            parameters: list[BindParameter[Any]] = [bindparam(f"wanted_{number}") for number in range(size)]
            self._texts[size], _ = _compiled(self._query(parameters), self._engine)
        return self._texts[size]


def _compiled(statement: Executable, engine: Engine) -> tuple[str, Sequence[str]]:
    compiled: Any = statement.compile(dialect=engine.dialect)  # type: ignore[attr-defined]  # every statement has it
    return str(compiled), tuple(compiled.positiontup or ())
