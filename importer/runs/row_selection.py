"""The selection of rows that a run imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from importer.models import Row
from importer.problems import UsageError
from importer.text.normalize import normalize


@dataclass(frozen=True, slots=True)
class Routed:
    """The rows of one of several targets: those with one of the normalized words in the column of that index."""

    column: int
    words: tuple[str, ...]

    def takes(self, row: Row) -> bool:
        return route_word(row, self.column) in self.words


def route_word(row: Row, column: int) -> str:
    """The normalized value of a row in the routing column."""
    return normalize(row.cells[column])


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of rows: first and last row number, as a spreadsheet program shows them, and a maximum number.

    ranges: only these, each with its first and last row, in order and separate; None for no such limit.
    routed: only the rows of one target.
    """

    first: int | None = None
    last: int | None = None
    limit: int | None = None
    ranges: tuple[tuple[int, int], ...] | None = None
    routed: Routed | None = None

    @property
    def partial(self) -> bool:
        """Whether the user selected a part of the rows."""
        return (self.first, self.last, self.limit) != (None, None, None)

    @classmethod
    def of_rows(cls, rows: Iterable[int]) -> Selection:
        """Exactly these rows, which must be in order."""
        ranges: list[tuple[int, int]] = []
        for row in rows:
            if ranges and ranges[-1][1] == row - 1:
                ranges[-1] = (ranges[-1][0], row)
            else:
                ranges.append((row, row))
        return cls(ranges=tuple(ranges))

    def of(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The selected rows, in order; stops reading after the last one."""
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
    """Parse `10-40`, `10-`, `-40` or `10`.

    Raises:
        UsageError: the range is not valid, or ends before it starts.
    """
    first, dash, last = text.replace("–", "-").replace(" ", "").partition("-")
    numbers = [part for part in (first, last) if part]
    if not numbers or not all(part.isascii() and part.isdigit() for part in numbers):
        raise UsageError(f"--rows {text!r} is not a valid range of rows; write it like 10-40, 10- or 10")
    start = int(first) if first else None
    end = int(last) if last else None if dash else start
    if start is not None and end is not None and end < start:
        raise UsageError(f"--rows {text!r} ends before it starts; write the smaller row number first")
    return Selection(start, end)
