"""Tells what joins with other tables leave over: children of nobody, and keys that several rows have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from importer.mapping import FromChild
from importer.models import Problem, Row

_SHOWN = 3  # places in a warning


def join_warnings(joins: Iterable[FromChild], rows: Iterable[Row], *, grouped: bool) -> tuple[Problem, ...]:
    """Warnings about every join, each table and pair of keys once. `rows` are all rows of the source, read once.

    grouped: several rows may be one candidate, so that a key that occurs twice is nothing to tell.
    """
    distinct = {(join.children.origin, join.children.key, join.equals): join for join in joins}
    checks = [_Join(join) for join in distinct.values()]
    for row in rows:
        for check in checks:
            check.see(row)
    return tuple(problem for check in checks for problem in check.warnings(grouped=grouped))


class _Join:
    """One join, and the keys seen so far."""

    def __init__(self, join: FromChild) -> None:
        self._join = join
        self._first_row: dict[str, int] = {}
        self._again: list[Row] = []
        self._repeated = 0

    def see(self, row: Row) -> None:
        key = row.cells[self._join.equals.index].strip()
        if key not in self._join.children.by_key or not key:
            return
        if self._first_row.setdefault(key, row.number) != row.number:
            self._repeated += 1
            if len(self._again) < _SHOWN:
                self._again.append(row)

    def warnings(self, *, grouped: bool) -> Iterator[Problem]:
        join, children = self._join, self._join.children
        orphans = [row for key, rows in children.by_key.items() if key not in self._first_row for row in rows]
        if orphans:
            places = ", ".join(str(row.place(children.key)) for row in orphans[:_SHOWN])
            more = f" and {len(orphans) - _SHOWN} more" if len(orphans) > _SHOWN else ""
            yield Problem(
                "orphans",
                f"no row of the source has the key of {_rows(len(orphans))} of {_table(join)} ({places}{more})",
                f"check '{children.key.label}' there, and '{join.equals.label}' in the source",
            )
        if self._again and not grouped:
            places = ", ".join(str(row.place(join.equals)) for row in self._again)
            more = f" and {self._repeated - _SHOWN} more" if self._repeated > _SHOWN else ""
            yield Problem(
                "join-key-repeated",
                f"an earlier row of the source has the key, and so the entries of {_table(join)}, of"
                f" {_rows(self._repeated)} ({places}{more})",
                f"check '{join.equals.label}'",
            )


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _table(join: FromChild) -> str:
    origin = join.children.origin
    return f"{origin.file}, {origin.sheet}" if origin.sheet else origin.file
