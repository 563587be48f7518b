"""Reads the education or experience of a row, from one or several sources, as one JSON string."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from importer.mapping import (
    ENTRY_FIELDS,
    EntryKind,
    EntryOrder,
    FromGroup,
    FromRow,
    ResolvedEntries,
    ResolvedGroup,
    ResolvedSource,
)
from importer.models import Row
from importer.problems import Column, Problem
from importer.settings import WireFormat
from importer.transform.entry_rows import EntryRow, finder_of
from importer.transform.interpreter import OPEN_END
from importer.transform.lookups import value_reader
from importer.transform.values import ValueCache, ValueReader

_FLAGS = tuple(fields[-1] for fields in ENTRY_FIELDS.values())
_ENTRIES_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


class EntrySource(NamedTuple):
    """The readers of the fields of an entry, by their names, and the row that they read."""

    readers: Mapping[str, ValueReader]
    row: EntryRow


class EntriesReader:
    """Reads all entries of a row."""

    def __init__(self, entries: ResolvedEntries, wire: WireFormat) -> None:
        self._sources = tuple(_SourceReader(source, entries.kind, wire) for source in entries.sources)
        self._order = entries.order
        # Several sources, and an export with one row per combination, repeat entries.
        self._repeats = len(self._sources) > 1 or isinstance(entries.sources[0].source, FromGroup)
        self.columns = tuple(column for source in self._sources for column in source.columns)

    def read(self, row: Row, problems: list[Problem], left_out: list[Problem] | None = None) -> str | None:
        """A JSON array of the entries (service description 2.2 to 2.4), or None where the row has none.

        Blank groups are skipped; an entry has only the fields that are filled in. Only entries that are equal in all
        fields are sent once. left_out: gets the problems of entries, which are then not among the others.
        """
        entries = self._arranged([entry for source in self._sources for entry in source.read(row, problems, left_out)])
        return _ENTRIES_ENCODER.encode(entries) if entries else None

    def sources(self, row: Row) -> list[EntrySource]:
        """Where each valid entry of the answer comes from, in the order of the answer."""
        read = [one for source in self._sources for one in source.read_with_source(row)]
        source_of = {id(entry): source for entry, source in read}
        return [source_of[id(entry)] for entry in self._arranged([entry for entry, _ in read])]

    def _arranged(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The entries that are sent, in order."""
        entries = [entry for entry in found if entry]
        if self._repeats:
            entries = [entry for index, entry in enumerate(entries) if entry not in entries[:index]]
        return _in_order(entries, self._order)

    def first_filled(self, row: Row) -> Column | None:
        """The column that a problem of the whole answer is shown at."""
        return self.columns[0] if self.columns else None


class _SourceReader:
    """Reads the entries of one source."""

    def __init__(self, entries: ResolvedSource, kind: EntryKind, wire: WireFormat) -> None:
        caches: dict[str, ValueCache] = defaultdict(ValueCache)
        self.own_columns = isinstance(entries.source, FromRow)
        self._groups = tuple(_GroupReader(group, kind, wire, caches) for group in entries.groups)
        own = tuple(column for group in self._groups for column in group.columns)
        self._find = finder_of(entries.source, entries.missing, entries.values)
        self.columns = entries.shared or own  # those of the candidate's own row

    def read(self, row: Row, problems: list[Problem], left_out: list[Problem] | None = None) -> list[dict[str, Any]]:
        """The entries, in the order of the source; one without cells is empty, and one that is left out."""
        if self.own_columns and left_out is None:
            return [group.read(row, problems) for group in self._groups if group.has_cells(row)]
        entries = []
        for group, one in self._found(row, problems):
            found: list[Problem] = []
            entries.append(group.read(one.row, found) if group.has_cells(one.row) else {})
            if found:
                shown = [replace(problem, place=one.shown(problem.place)) for problem in found]
                (problems if left_out is None else left_out).extend(shown)
                entries[-1] = {} if left_out is not None else entries[-1]
        return entries

    def read_with_source(self, row: Row) -> list[tuple[dict[str, Any], EntrySource]]:
        """The valid entries, and where each comes from."""
        read = []
        for group, one in self._found(row, []):
            found: list[Problem] = []
            entry = group.read(one.row, found)
            read += [] if found else [(entry, EntrySource(group.readers, one))]
        return read

    def _found(self, row: Row, problems: list[Problem]) -> list[tuple[_GroupReader, EntryRow]]:
        if self.own_columns:
            return [(group, EntryRow(row)) for group in self._groups]
        return [(self._groups[0], one) for one in self._find(row, problems)]


def _in_order(entries: list[dict[str, Any]], order: EntryOrder) -> list[dict[str, Any]]:
    """The entries sorted by end date, then start date; current ones count as the latest.

    Entries without dates come last; equal ones keep their order.
    """
    if order is EntryOrder.KEPT:
        return entries
    known = [entry for entry in entries if any(_period_of(entry))]
    known.sort(key=_period_of, reverse=order is EntryOrder.NEWEST_FIRST)
    return [*known, *(entry for entry in entries if not any(_period_of(entry)))]


_CURRENT = "9999"


def _period_of(entry: dict[str, Any]) -> tuple[str, str]:
    current = any(entry.get(flag) is True for flag in _FLAGS)
    start = str(entry.get("start_date") or "")
    return (_CURRENT if current else str(entry.get("end_date") or start), start)


class _GroupReader:
    """Reads the entry of one column group."""

    def __init__(self, group: ResolvedGroup, kind: EntryKind, wire: WireFormat, caches: dict[str, ValueCache]) -> None:
        self._name, *_, self._flag = ENTRY_FIELDS[kind]  # the field that names the entry, and the flag of a current one
        self._always_flagged = wire.currently_flags == "always"
        self.readers = {name: value_reader(value, wire, caches[name]) for name, value in group.items()}
        self.columns = tuple(column for reader in self.readers.values() for column in reader.value.columns)
        self._from_cells = frozenset(
            name for name, value in group.items() if value.columns and not value.lookup and value.spec.default is None
        )
        self._indexes = tuple(column.index for column in self.columns)

    # Loops instead of any(...): these run for each entry of each row, and loops take half as long.

    def has_cells(self, row: Row) -> bool:
        """Whether any cell of the group is filled in; in most rows, most groups are empty."""
        cells = row.cells
        for index in self._indexes:  # noqa: SIM110
            if cells[index]:
                return True
        return False

    def read(self, row: Row, problems: list[Problem]) -> dict[str, Any]:
        """The entry; an empty one where the group is blank."""
        before = len(problems)
        entry = {name: reader.read(row, problems) for name, reader in self.readers.items()}
        if len(problems) == before:
            if not self._is_filled(entry, row):
                return {}
            self._check(entry, row, problems)
        self._set_flag(entry)
        return {name: value for name, value in entry.items() if value is not None}

    def _is_filled(self, entry: dict[str, Any], row: Row) -> bool:
        """Whether cells fill in the entry; a flag set to no (a check box in every row) does not."""
        for name, value in entry.items():
            if value is None or value is False:
                continue
            if (name in self._from_cells and value is not OPEN_END) or self.readers[name].from_cells(row):
                return True
        return False

    def _check(self, entry: dict[str, Any], row: Row, problems: list[Problem]) -> None:
        if entry.get(self._name) is None:
            filled = (name for name, reader in self.readers.items() if reader.from_cells(row))
            field = self._name if self._name in self.readers else next(filled)
            message = f"the entry has no {self._name}"
            problems.append(
                self._problem("entry-name-missing", message, "fill it in, or clear the cells of the entry", field, row)
            )
        start, end, flag = entry.get("start_date"), entry.get("end_date"), entry.get(self._flag)
        if flag is True and isinstance(end, str):
            message = f"the entry is marked as current but has the end date {end}"
            problems.append(self._problem("entry-current-conflict", message, "remove one of the two", "end_date", row))
        if flag is False and end is OPEN_END and self.readers["end_date"].from_cells(row):
            message = "the end date marks the entry as current, but its flag does not"
            problems.append(self._problem("entry-current-conflict", message, "correct one of the two", "end_date", row))
        if start is not None and isinstance(end, str) and start > end:
            first, last = (self.readers[name].first_filled(row) for name in ("start_date", "end_date"))
            beside = f" in '{last.label}'" if last and last.letter and last != first else ""  # not of a part of a cell
            message = f"the start date {start} is after the end date {end}{beside}"
            problems.append(self._problem("entry-dates-reversed", message, "correct one of the two", "start_date", row))

    def _problem(self, code: str, message: str, hint: str, field: str, row: Row) -> Problem:
        return Problem(code, message, hint, row.place(self.readers[field].first_filled(row)))

    def _set_flag(self, entry: dict[str, Any]) -> None:
        """An open end is sent as the flag, without an end date; a flag set to no outweighs a blank end.

        Whether the service needs a flag that is false is not shown, so it is a setting.
        """
        flag = entry.get(self._flag)
        if entry.get("end_date") is OPEN_END:
            entry["end_date"] = None
            flag = flag is not False
        entry[self._flag] = True if flag else False if self._always_flagged else None
