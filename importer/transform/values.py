"""Reads one value of a row: its cells, missing words, value table, parts, and then its kind."""

from __future__ import annotations

from typing import Any

from importer.mapping.fold import fold
from importer.mapping.model import Otherwise
from importer.mapping.nearest import did_you_mean
from importer.mapping.resolved import Kind, ResolvedTable, ResolvedValue
from importer.models import Column, Problem, Row, WireFormat
from importer.transform.choices import joined_choices
from importer.transform.kinds import SELDOM_REPEATED, reader_of
from importer.transform.names import part_of_name
from importer.transform.refusal import Refusal, in_mapping, quoted
from importer.transform.texts import stripped

_SPARE = 20  # folding takes spaces out, so that a missing word may be written this much longer
_REMEMBERED_TEXTS = 8_000  # of one value; then memory starts anew


class OpenEnd:
    """What an end date with a word such as Present reads as."""


OPEN_END = OpenEnd()
_NOT_YET = object()
Memory = dict[tuple[str, bool], Any]


class ValueReader:
    """Reads one value from rows. Made once for a mapping; what it remembers does not change what it reads."""

    def __init__(self, value: ResolvedValue, wire: WireFormat, memory: Memory | None = None) -> None:
        """`memory` is shared by readers that differ in their columns only."""
        self.value = value
        self._read_kind = reader_of(value, wire)
        self._wire = wire
        self._missing = value.missing
        self._longest_missing = max(map(len, value.missing), default=0) + _SPARE
        self._memory = None if value.wanted.kind in SELDOM_REPEATED else {} if memory is None else memory
        self._fixed = self._read_fixed(value.constant)
        self._default = self._read_fixed(value.default)

    def read(self, row: Row, problems: list[Problem]) -> Any:
        """The value as text (boolean for `Kind.FLAG`, OPEN_END for an open end), or None where it is blank.

        None as well where the cell cannot be read; then a problem at the cell was added.
        """
        value = self.value
        if value.separator is not None:
            found = self._read_joined(row, problems)
        elif value.constant is not None:
            found = self._placed(self._fixed, row, problems)
        else:
            found = self._read_alternatives(row, problems)
        if found is None and self._default is not None:
            return self._placed(self._default, row, problems)
        return None if isinstance(found, Refusal) else found

    def from_cells(self, row: Row) -> bool:
        """Whether a cell of the row is filled in for this value; constants and defaults do not count."""
        return any(not self._is_missing(stripped(row.cells[column.index])) for column in self.value.columns)

    def first_filled(self, row: Row) -> Column | None:
        """The column that a problem of this value is shown at."""
        for column in self.value.columns:
            if not self._is_missing(stripped(row.cells[column.index])):
                return column
        return self.value.columns[0] if self.value.columns else None

    def _read_alternatives(self, row: Row, problems: list[Problem]) -> Any:
        refused: list[Problem] = []
        found: Any = None
        for column in self.value.columns:
            text = row.cells[column.index]
            if not text:
                continue
            read = self._recall(text, column.index in row.typed)
            if isinstance(read, Refusal):
                refused.append(read.at(row.place(column)))
                found = read
            elif read is not None:
                return read
        problems.extend(refused)
        return found

    def _read_joined(self, row: Row, problems: list[Problem]) -> Any:
        filled = [stripped(row.cells[column.index]) for column in self.value.columns]
        text = (self.value.separator or "").join(text for text in filled if not self._is_missing(text))
        read = self._interpret(text, typed=False) if text else None
        if isinstance(read, Refusal):
            problems.append(read.at(row.place(self.first_filled(row))))
        return read

    def _placed(self, read: Any, row: Row, problems: list[Problem]) -> Any:
        if isinstance(read, Refusal):
            problems.append(read.at(row.place()))
        return read

    def _recall(self, text: str, typed: bool) -> Any:
        if self._memory is None:
            return self._interpret(stripped(text), typed)
        key = (text, typed)
        found = self._memory.get(key, _NOT_YET)
        if found is _NOT_YET:
            if len(self._memory) >= _REMEMBERED_TEXTS:
                self._memory.clear()
            found = self._memory[key] = self._interpret(stripped(text), typed)
        return found

    def _is_missing(self, text: str) -> bool:
        return not text or (len(text) <= self._longest_missing and fold(text) in self._missing)

    def _read_fixed(self, text: str | None) -> Any:
        """A text of the mapping file itself, which no missing word or table applies to."""
        if text is None or not text.strip():
            return None
        return self._read_choices(text, typed=False) if self._several else self._read_kind(text.strip(), True)

    @property
    def _several(self) -> bool:
        return self.value.wanted.kind is Kind.CHOICES

    def _interpret(self, text: str, typed: bool) -> Any:
        value = self.value
        if self._is_missing(text):
            return None
        if value.present and fold(text) in value.present:
            return OPEN_END
        if self._several:
            return self._read_choices(text, typed)
        if value.part is not None:
            part = part_of_name(text, value.part)
            return part if isinstance(part, Refusal) else self._read_one(part, typed)
        return self._read_one(text, typed)

    def _read_choices(self, text: str, typed: bool) -> Any:
        pieces = [stripped(piece) for piece in text.split(self.value.split)] if self.value.split else [text]
        read = [self._read_one(piece, typed) for piece in pieces if not self._is_missing(piece)]
        refusals = [found for found in read if isinstance(found, Refusal)]
        if refusals:
            return self._unsplit_hint(text, refusals[0])
        chosen = [found for found in read if found is not None]
        return joined_choices(chosen, self._wire.multiple_choice) if chosen else None

    def _unsplit_hint(self, text: str, refusal: Refusal) -> Refusal:
        sign = next((sign for sign in (";", ",", "|", "\n", "/") if sign in text), None)
        if self.value.split is not None or sign is None:
            return refusal
        hint = f"if these are several choices, declare split: {in_mapping(self.value.place)}; {refusal.hint}"
        return Refusal(refusal.code, refusal.message, hint)

    def _read_one(self, text: str, typed: bool) -> Any:
        table = self.value.table
        if table is None:
            return self._read_kind(text, typed)
        target = table.targets.get(fold(text))
        if target is not None:
            return self._read_kind(target, True) if target.strip() else None
        return self._read_otherwise(text, typed, table)

    def _read_otherwise(self, text: str, typed: bool, table: ResolvedTable) -> Any:
        if table.otherwise is Otherwise.KEEP:
            return self._read_kind(text, typed)
        if table.otherwise is Otherwise.BLANK:
            return None
        if table.otherwise is Otherwise.VALUE:
            return self._read_kind(table.replacement or "", True)
        # A text that is a valid option as it stands needs no line in the table.
        if self.value.wanted.options:
            return self._read_kind(text, typed)
        return Refusal(
            "value-unknown",
            f"{quoted(text)} is not in the value table",
            f"{did_you_mean(text, table.targets)}, or add it under values: {in_mapping(table.place)}",
        )
