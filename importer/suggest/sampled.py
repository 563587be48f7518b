"""A column with the values that a look at the first rows found in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from importer.models import Column, Row

MOST_ROWS = 5_000
_MOST_DISTINCT = 1_000


@dataclass(frozen=True, slots=True)
class SampledColumn:
    """A column and its values: each distinct text once with its count, in order of first appearance; blanks left out.

    `filled` counts all cells that hold something, also those whose text is not kept because there are too many.
    """

    column: Column
    values: tuple[tuple[str, int], ...] = ()
    filled: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.values)


def sample_columns(columns: Sequence[Column], rows: Iterable[Row]) -> tuple[SampledColumn, ...]:
    """The columns with what the first 5,000 rows hold."""
    counts: list[Counter[str]] = [Counter() for _ in columns]
    filled = [0] * len(columns)
    for row in islice(rows, MOST_ROWS):
        for index, cell in enumerate(row.cells):
            text = cell.strip()
            if text:
                filled[index] += 1
                if text in counts[index] or len(counts[index]) < _MOST_DISTINCT:
                    counts[index][text] += 1
    return tuple(
        SampledColumn(column, tuple(counts[position].items()), filled[position])
        for position, column in enumerate(columns)
    )
