"""Packs the education or experience of a row into one JSON string."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from importer.mapping import ENTRY_FIELDS, EntryKind, EntryOrder, FromGroup, FromRow, ResolvedEntries, ResolvedGroup
from importer.models import Column, Problem, Row, WireFormat
from importer.transform.entry_rows import EntryRow, columns_of, finder_of
from importer.transform.values import OPEN_END, Memory, ValueReader

_FLAGS = tuple(fields[-1] for fields in ENTRY_FIELDS.values())
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


class EntriesReader:
    """Reads all entries of a row."""

    def __init__(self, entries: ResolvedEntries, wire: WireFormat) -> None:
        memories: dict[str, Memory] = defaultdict(Memory)
        self._order = entries.order
        self._own_columns = isinstance(entries.source, FromRow)
        self._repeats = isinstance(entries.source, FromGroup)  # a row for each combination repeats its entries
        self._columns = columns_of(entries.source)
        self._find = finder_of(entries.source, entries.missing)
        self._groups = tuple(_GroupReader(group, entries.kind, wire, memories) for group in entries.groups)

    def read(self, row: Row, problems: list[Problem]) -> str | None:
        """A JSON array of the entries (service description 2.2 to 2.4), or None where the row has none.

        Wholly blank groups are skipped; an entry has exactly the fields that are filled in.
        """
        if self._own_columns:
            found = [group.read(row, problems) for group in self._groups if group.has_cells(row)]
        else:
            found = [self._read_one(entry_row, problems) for entry_row in self._find(row, problems)]
        entries = [entry for entry in found if entry]
        if self._repeats:
            entries = [entry for index, entry in enumerate(entries) if entry not in entries[:index]]
        return pack_entries(in_order(entries, self._order))

    def first_filled(self, row: Row) -> Column | None:
        """The column that a problem of the whole answer is shown at."""
        columns = self._columns or tuple(column for group in self._groups for column in group.columns)
        return columns[0] if columns else None

    def _read_one(self, entry_row: EntryRow, problems: list[Problem]) -> dict[str, Any]:
        group = self._groups[0]
        if not group.has_cells(entry_row.row):
            return {}
        found: list[Problem] = []
        entry = group.read(entry_row.row, found)
        inside = entry_row.inside
        problems.extend(replace(problem, place=inside) if inside else problem for problem in found)
        return entry


def pack_entries(entries: Sequence[dict[str, Any]]) -> str | None:
    """The entries as the string that is sent, or None where there are none."""
    return _ENCODER.encode(list(entries)) if entries else None


def in_order(entries: Sequence[dict[str, Any]], order: EntryOrder) -> Sequence[dict[str, Any]]:
    """The entries by their end, then by their start; a current one ends after all others.

    Those of which neither is known come last, and like ones as they were.
    """
    if order is EntryOrder.KEPT:
        return entries
    known = [entry for entry in entries if any(_days_of(entry))]
    known.sort(key=_days_of, reverse=order is EntryOrder.NEWEST_FIRST)
    return [*known, *(entry for entry in entries if not any(_days_of(entry)))]


_STILL = "9999"


def _days_of(entry: dict[str, Any]) -> tuple[str, str]:
    current = any(entry.get(flag) is True for flag in _FLAGS)
    start = str(entry.get("start_date") or "")
    return (_STILL if current else str(entry.get("end_date") or start), start)


class _GroupReader:
    """Reads the entry of one column group."""

    def __init__(self, group: ResolvedGroup, kind: EntryKind, wire: WireFormat, memories: dict[str, Memory]) -> None:
        self._name, *_, self._flag = ENTRY_FIELDS[kind]  # the field that names the entry, and the one that it goes on
        self._readers = {name: ValueReader(value, wire, memories[name]) for name, value in group.fields.items()}
        self.columns = tuple(column for reader in self._readers.values() for column in reader.value.columns)
        self._from_cells = frozenset(
            name for name, reader in self._readers.items() if reader.value.columns and reader.value.default is None
        )
        self._indexes = tuple(column.index for column in self.columns)

    # Loops, and not any(...), where each row comes by for each of its entries: they take half as long.

    def has_cells(self, row: Row) -> bool:
        """Whether any cell of the group holds anything: of most groups of most rows, none does."""
        cells = row.cells
        for index in self._indexes:  # noqa: SIM110
            if cells[index]:
                return True
        return False

    def read(self, row: Row, problems: list[Problem]) -> dict[str, Any]:
        """The entry; without any field where the group says nothing."""
        before = len(problems)
        entry = {name: reader.read(row, problems) for name, reader in self._readers.items()}
        if len(problems) == before:
            if not self._is_filled(entry, row):
                return {}
            self._check(entry, row, problems)
        self._close(entry)
        return {name: value for name, value in entry.items() if value is not None}

    def _is_filled(self, entry: dict[str, Any], row: Row) -> bool:
        """Whether cells say anything of an entry; a flag that says no (a check box in every row) does not."""
        for name, value in entry.items():
            if value is None or value is False:
                continue
            if (name in self._from_cells and value is not OPEN_END) or self._readers[name].from_cells(row):
                return True
        return False

    def _check(self, entry: dict[str, Any], row: Row, problems: list[Problem]) -> None:
        if entry.get(self._name) is None:
            filled = (name for name, reader in self._readers.items() if reader.from_cells(row))
            field = self._name if self._name in self._readers else next(filled)
            message = f"the entry is filled in and has no {self._name}"
            problems.append(self._problem("entry-nameless", message, "fill it in, or empty the entry", field, row))
        start, end, flag = entry.get("start_date"), entry.get("end_date"), entry.get(self._flag)
        if flag is True and isinstance(end, str):
            message = f"the entry is marked as current and has the end date {end}"
            problems.append(self._problem("entry-contradiction", message, "take out one of the two", "end_date", row))
        if flag is False and end is OPEN_END and self._readers["end_date"].from_cells(row):
            message = "the end date says that the entry is current, and the flag says that it is not"
            problems.append(self._problem("entry-contradiction", message, "correct one of the two", "end_date", row))
        if start is not None and isinstance(end, str) and start > end:
            message = f"the start {start} is after the end {end}"
            problems.append(self._problem("entry-order", message, "correct one of the two", "start_date", row))

    def _problem(self, code: str, message: str, hint: str, field: str, row: Row) -> Problem:
        return Problem(code, message, hint, row.place(self._readers[field].first_filled(row)))

    def _close(self, entry: dict[str, Any]) -> None:
        """An open end is sent as the flag, without an end date; a blank one only where no flag says otherwise."""
        if entry.get("end_date") is OPEN_END:
            entry["end_date"] = None
            if entry.get(self._flag) is not False:
                entry[self._flag] = True
