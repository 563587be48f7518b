"""The rows of a child table by their key: what is joined to the rows of the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from importer.models import Column, Origin, Row


class Table(Protocol):
    """What is needed of another table that entries are taken from."""

    @property
    def origin(self) -> Origin: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    def rows(self) -> Iterator[Row]: ...


@dataclass(frozen=True, eq=False)
class ChildIndex:
    """The rows of a child table, in memory. A key is the cell's text without the spaces around it, exactly.

    order_by: the column whose whole numbers order the rows of one key; without it they are in the table's order.
    """

    origin: Origin
    key: Column
    order_by: Column | None
    by_key: dict[str, tuple[Row, ...]]

    def rows_of(self, key: str) -> tuple[Row, ...]:
        """The rows of a key, none for a blank one."""
        return self.by_key.get(key.strip(), ()) if key.strip() else ()


def index_rows(origin: Origin, rows: Iterable[Row], key: Column, order_by: Column | None) -> ChildIndex:
    """Read all rows of a child table."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.cells[key.index].strip()].append(row)
    return ChildIndex(origin, key, order_by, {text: tuple(of_key) for text, of_key in found.items()})
