"""Proves that rows of two files are the same row: by e-mail or name, and in an annotated copy by its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import ne
from typing import Final

from importer.extract import Sheet
from importer.models import Row

_MOST_OF_ONE_NAME: Final = 500  # rows that are compared with each other


def same_person(one: Row, other: Row, columns: Sequence[int]) -> bool:
    """Whether these cells are equal, and one of them is filled."""
    cells = _identity(one.cells, columns)
    return any(cells) and cells == _identity(other.cells, columns)


def unmoved_rows(copy: Sheet, original: Sheet, identity: Sequence[Sequence[int]]) -> Iterator[tuple[int, Row]]:
    """Each row of an annotated copy with its number in the original, which is the same, if it is proven.

    It is equal; or its e-mail or name is unchanged, the same rows have it in both files, and none of these rows of the
    original has more cells in common with it.
    """
    if names_of(copy) != names_of(original):
        return
    before, after = ({row.number: row.cells for row in sheet.rows()} for sheet in (original, copy))
    proven = {number for number, cells in after.items() if before.get(number) == cells}
    changed = after.keys() - proven
    for columns in identity:
        same_before, same_after = (_by_identity(rows, columns) for rows in (before, after))
        for key in {_identity(after[number], columns) for number in changed}:
            numbers = same_after[key]
            if any(key) and numbers == same_before.get(key) and len(numbers) < _MOST_OF_ONE_NAME:
                for number in numbers & changed:
                    differ = {each: sum(map(ne, after[number], before[each])) for each in numbers}
                    if all(differ[number] < count for each, count in differ.items() if each != number):
                        proven.add(number)
    yield from ((row.number, row) for row in copy.rows() if row.number in proven)


def _by_identity(rows: Mapping[int, Sequence[str]], columns: Sequence[int]) -> dict[tuple[str, ...], set[int]]:
    found: dict[tuple[str, ...], set[int]] = {}
    for number, cells in rows.items():
        found.setdefault(_identity(cells, columns), set()).add(number)
    return found


def _identity(cells: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(cells[index].strip().casefold() for index in columns)


def names_of(sheet: Sheet) -> list[str]:
    return [column.name for column in sheet.columns]
