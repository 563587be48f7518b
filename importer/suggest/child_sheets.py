"""Which other sheet of the workbook holds a candidate's entries, and by which columns its rows are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from importer.mapping import EntryKind
from importer.suggest.column_groups import EntryGroups, entry_groups
from importer.suggest.sampled import SampledColumn
from importer.suggest.views import ColumnView, view
from importer.text.normalize import normalize

_MOST = 0.6  # of the keys of the other sheet are found in this one: some belong to candidates who are not exported
_UNIQUE = 0.9  # of the keys of this sheet are there once
_FEWEST = 2  # keys: one alone may be found by chance


@dataclass(frozen=True, slots=True)
class OtherSheet:
    """Another sheet of the workbook with a look at its values."""

    name: str
    columns: tuple[SampledColumn, ...]
    header_row: int = 1


@dataclass(frozen=True, slots=True)
class ChildEntries:
    """Entries on another sheet: `key` is the column there, `equals` the column here that says the same."""

    sheet: OtherSheet
    groups: EntryGroups
    key: ColumnView
    equals: ColumnView
    found: float  # share of the keys there that are found here


def child_entries(kind: EntryKind, views: Sequence[ColumnView], others: Sequence[OtherSheet]) -> ChildEntries | None:
    """The sheet that holds entries of a kind, joined to these columns; None where there is none."""
    for other in others:
        there = [view(sampled) for sampled in other.columns]
        groups = next((found for found in entry_groups(there, frozenset()) if found.kind is kind), None)
        if groups is None or groups.numbered:
            continue
        taken = {seen.column.index for field in groups.fields for seen in field.views}
        keys = [seen for seen in there if seen.column.index not in taken]
        pairs = [(_found(key, seen), key, seen) for key in keys for seen in views if _is_unique(seen)]
        best = max(pairs, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= _MOST:
            return ChildEntries(other, groups, best[1], best[2], best[0])
    return None


def _is_unique(seen: ColumnView) -> bool:
    """Whether the values of a column tell the rows apart."""
    return len(seen.sampled.values) >= _UNIQUE * seen.sampled.filled > 0


def _found(key: ColumnView, seen: ColumnView) -> float:
    there = {normalize(text) for text in key.sampled.texts}
    if len(there) < _FEWEST:
        return 0.0
    return len(there & {normalize(text) for text in seen.sampled.texts}) / len(there)
