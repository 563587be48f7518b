"""Reads one value of a row: from the first cell that is filled in and valid, from cells joined, or a constant."""

from __future__ import annotations

from typing import Any

from importer.mapping import Kind, ResolvedValue
from importer.models import Column, Problem, Row, WireFormat
from importer.transform.interpret import OPEN_END, Interpreter
from importer.transform.kinds import SELDOM_REPEATED
from importer.transform.refusal import Refusal
from importer.transform.texts import stripped

_REMEMBERED_TEXTS = 8_000  # of one value; then memory starts anew
_NOT_YET = object()


class Memory:
    """What texts were read as: cells that a workbook keeps as a number, date or boolean, and all others."""

    __slots__ = ("texts", "typed_texts")

    def __init__(self) -> None:
        self.texts: dict[str, Any] = {}
        self.typed_texts: dict[str, Any] = {}


class ValueReader:
    """Reads one value from rows. Made once for a mapping; what it remembers does not change what it reads."""

    def __init__(self, value: ResolvedValue, wire: WireFormat, memory: Memory | None = None) -> None:
        """`memory` is shared by readers that differ in their columns only."""
        self.value = value
        self._interpreter = Interpreter(value, wire)
        self._is_missing = self._interpreter.is_missing
        self._memory = (memory or Memory()) if self._is_worth_remembering() else None
        self._fixed = self._read_fixed(value.constant)
        self._default = self._read_fixed(value.default)
        is_one_cell = len(value.columns) == 1 and value.separator is None and value.constant is None
        self._only_cell = value.columns[0].index if is_one_cell else None

    def read(self, row: Row, problems: list[Problem]) -> Any:
        """The value as text (boolean for `Kind.FLAG`, OPEN_END for an open end), or None where it is blank.

        None as well where the cell cannot be read; then a problem at the cell was added.
        """
        only = self._only_cell
        if only is not None and (text := row.cells[only]):  # the most usual case, in the fewest steps
            if row.typed:
                found = self._recall(text, only in row.typed)
            elif self._memory is not None:
                found = self._memory.texts.get(text)
            else:
                found = self._interpreter.read(stripped(text), False)
            if type(found) is str:
                return found
        value = self.value
        if value.separator is not None:
            found = self._read_joined(row, problems)
        elif value.constant is not None:
            found = self._placed(self._fixed, row, problems)
        else:
            found = self._read_alternatives(row, problems)
        if found is None and self._default is not None:
            return self._placed(self._default, row, problems)
        if found is None and self._interpreter.blank_is_open:
            return OPEN_END
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
        read = self._interpreter.read(text, typed=False) if text else None
        if isinstance(read, Refusal):
            problems.append(read.at(row.place(self.first_filled(row))))
        return read

    def _placed(self, read: Any, row: Row, problems: list[Problem]) -> Any:
        if isinstance(read, Refusal):
            problems.append(read.at(row.place()))
        return read

    def _recall(self, text: str, typed: bool) -> Any:
        if self._memory is None:
            return self._interpreter.read(stripped(text), typed)
        known = self._memory.typed_texts if typed else self._memory.texts
        found = known.get(text, _NOT_YET)
        if found is _NOT_YET:
            if len(known) >= _REMEMBERED_TEXTS:
                known.clear()
            found = known[text] = self._interpreter.read(stripped(text), typed)
        return found

    def _is_worth_remembering(self) -> bool:
        kind = self.value.field.kind
        return kind not in SELDOM_REPEATED and not (kind is Kind.LINE and self._interpreter.is_plain)

    def _read_fixed(self, text: str | None) -> Any:
        return None if text is None or not text.strip() else self._interpreter.read_fixed(text)
