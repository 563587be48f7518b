"""Which rows of a source a run is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from importer.models import Row
from importer.problems import UsageError
from importer.text.normalize import normalize


@dataclass(frozen=True, slots=True)
class Routed:
    """Rows that say one of the normalized words in the column of that index: of one target in an export to several."""

    column: int
    words: tuple[str, ...]

    def takes(self, row: Row) -> bool:
        return route_word(row, self.column) in self.words


def route_word(row: Row, column: int) -> str:
    """What a row says in the routing column, as words of routes are compared."""
    return normalize(row.cells[column])


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows a run is about: row numbers as a spreadsheet program shows them, and at most how many.

    ranges: only these, each from its first to its last row, in order and apart; None where every row may be taken.
    routed: only those of one target.
    """

    first: int | None = None
    last: int | None = None
    limit: int | None = None
    ranges: tuple[tuple[int, int], ...] | None = None
    routed: Routed | None = None

    @property
    def partial(self) -> bool:
        """Whether a person asked for a part of the rows."""
        return (self.first, self.last, self.limit) != (None, None, None)

    @classmethod
    def of_rows(cls, rows: Iterable[int]) -> Selection:
        """Exactly these rows, given in order."""
        ranges: list[tuple[int, int]] = []
        for row in rows:
            if ranges and ranges[-1][1] == row - 1:
                ranges[-1] = (ranges[-1][0], row)
            else:
                ranges.append((row, row))
        return cls(ranges=tuple(ranges))

    def of(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The selected rows, in order; stops reading where no more can come."""
        return rows if self == ALL_ROWS else self._of(rows)

    def _of(self, rows: Iterator[Row]) -> Iterator[Row]:
        if self.ranges is not None:
            rows = _within(self.ranges, rows)
        taken = 0
        for row in rows:
            if self.last is not None and row.number > self.last:
                return
            if self.first is not None and row.number < self.first:
                continue
            if self.routed is not None and not self.routed.takes(row):
                continue
            if self.limit is not None and taken == self.limit:
                return
            taken += 1
            yield row

    def __str__(self) -> str:
        parts = []
        if self.first is not None or self.last is not None:
            parts.append(f"rows {self.first or 1} to {self.last if self.last is not None else 'the end'}")
        if self.limit is not None:
            parts.append(f"the first {self.limit}")
        if self.ranges is not None:
            parts.append(f"{sum(last - first + 1 for first, last in self.ranges)} chosen rows")
        return ", ".join(parts)


ALL_ROWS: Final = Selection()


def _within(ranges: tuple[tuple[int, int], ...], rows: Iterator[Row]) -> Iterator[Row]:
    left = iter(ranges)
    now = next(left, None)
    for row in rows:
        while now is not None and now[1] < row.number:
            now = next(left, None)
        if now is None:
            return
        if now[0] <= row.number:
            yield row


def parse_rows(text: str) -> Selection:
    """`10-40`, `10-`, `-40` or `10` as a person writes it.

    Raises:
        UsageError: it is none of these, or ends before it begins.
    """
    first, dash, last = text.replace("–", "-").replace(" ", "").partition("-")
    numbers = [part for part in (first, last) if part]
    if not numbers or not all(part.isascii() and part.isdigit() for part in numbers):
        raise UsageError(f"--rows {text!r} is not a valid range of rows; write it like 10-40, 10- or 10")
    begin = int(first) if first else None
    end = int(last) if last else None if dash else begin
    if begin is not None and end is not None and end < begin:
        raise UsageError(f"--rows {text!r} ends before it starts; write the smaller row number first")
    return Selection(begin, end)


def selection_from_json(values: dict[str, Any]) -> Selection:
    """The selection whose fields these are."""
    ranges, routed = values.pop("ranges", None), values.pop("routed", None)
    return Selection(
        **values,
        ranges=None if ranges is None else tuple((first, last) for first, last in ranges),
        routed=Routed(routed["column"], tuple(routed["words"])) if routed else None,
    )
