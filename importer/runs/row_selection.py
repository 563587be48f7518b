"""The selection of rows that a run imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from importer.models import Row
from importer.problems import UsageError

_MOST_PARTS: Final = 1_000


class Part(NamedTuple):
    """One of several parts of a file, for several machines. `number` is from 1.

    All rows of a person are in one part, by the e-mail address; a candidate without one is in a part by the row number.
    """

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of rows: first and last row number, as a spreadsheet program shows them, and a maximum number.

    part: only those of one part; `of` takes their numbers.
    """

    first: int | None = None
    last: int | None = None
    limit: int | None = None
    part: Part | None = None

    @property
    def partial(self) -> bool:
        """Whether the user selected a part of the rows, which may have only some of a candidate's."""
        return (self.first, self.last, self.limit) != (None, None, None)

    def of(self, rows: Iterator[Row], of_part: frozenset[int] | None = None) -> Iterator[Row]:
        """The selected rows, in order; stops reading after the last one."""
        return rows if self == ALL_ROWS else self._of(rows, of_part)

    def _of(self, rows: Iterator[Row], of_part: frozenset[int] | None) -> Iterator[Row]:
        taken = 0
        for row in rows:
            if self.last is not None and row.number > self.last:
                return
            if self.first is not None and row.number < self.first:
                continue
            if of_part is not None and row.number not in of_part:
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
        if self.part is not None:
            parts.append(f"part {self.part}")
        return ", ".join(parts)


ALL_ROWS: Final = Selection()


def parse_rows(text: str) -> Selection:
    """Parse `10-40`, `10-`, `-40` or `10`. Raises UsageError: the range is not valid, or ends before it starts."""
    first, dash, last = text.replace("–", "-").replace(" ", "").partition("-")
    numbers = [part for part in (first, last) if part]
    if not numbers or not all(part.isascii() and part.isdigit() for part in numbers):
        raise UsageError(f"--rows {text!r} is not a valid range of rows; write it like 10-40, 10- or 10")
    start = int(first) if first else None
    end = int(last) if last else None if dash else start
    if start is not None and end is not None and end < start:
        raise UsageError(f"--rows {text!r} ends before it starts; write the smaller row number first")
    return Selection(start, end)


def parse_part(text: str) -> Part:
    """Parse `2/4`. Raises UsageError: the text is not a part."""
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text.replace(" ", ""), re.ASCII)
    part = Part(int(found[1]), int(found[2])) if found else Part(0, 0)
    if not 1 <= part.number <= part.total <= _MOST_PARTS:
        raise UsageError(f"--part {text!r} is not a part; write it like 2/4: the second of four")
    return part
