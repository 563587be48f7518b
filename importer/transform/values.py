"""Reads one value of a row: from the first cell that is filled in and valid, from joined cells, or from a constant."""

from __future__ import annotations

from typing import Any

from importer.mapping import Kind, ResolvedValue
from importer.models import Row
from importer.problems import Column, Problem
from importer.settings import WireFormat
from importer.text.normalize import stripped
from importer.transform.interpreter import OPEN_END, Interpreter
from importer.transform.texts import InvalidValue, linked_url, quoted

# Texts of all other kinds repeat often (schools, companies, titles, dates), so their values are cached.
_RARELY_REPEATED = frozenset({Kind.TEXT, Kind.EMAIL, Kind.PHONE, Kind.URL, Kind.DOCUMENT, Kind.CV})
_CACHED_TEXTS = 8_000  # per value; then the cache is cleared
_NOT_CACHED = object()


class ValueCache:
    """Values by text: for cells that a workbook stores as a number, date or boolean, and for all others."""

    __slots__ = ("texts", "typed_texts")

    def __init__(self) -> None:
        self.texts: dict[str, Any] = {}
        self.typed_texts: dict[str, Any] = {}


class ValueReader:
    """Reads one value from rows. Built once for a mapping; its cache does not change the results."""

    def __init__(self, value: ResolvedValue, wire: WireFormat, cache: ValueCache | None = None) -> None:
        """`cache` is shared by readers that differ only in their columns."""
        self.value, self._separator, self._is_constant = value, value.spec.separator, value.spec.value is not None
        self._interpreter = Interpreter(value, wire)
        self._is_missing = self._interpreter.is_missing
        self._cache = None if value.field.kind in _RARELY_REPEATED else cache or ValueCache()
        self._fixed = self._read_fixed(value.spec.value)
        self._default = self._read_fixed(value.spec.default)
        self._follows_links = value.field.kind is Kind.URL and value.spec.pick is None
        is_one_cell = len(value.columns) == 1 and self._separator is None and not self._is_constant
        self._picks_links = value.field.kind is Kind.URL and value.spec.pick is not None
        looks_beside = self._follows_links or self._picks_links
        self._only_cell = value.columns[0].index if is_one_cell and not looks_beside else None

    def read(self, row: Row, problems: list[Problem]) -> Any:
        """The value as text (boolean for `Kind.FLAG`, OPEN_END for an open end), or None where it is blank.

        Also None where the cell is not valid; then a problem is added.
        """
        only = self._only_cell
        if only is not None and (text := row.cells[only]):  # fast path for the most common case
            if row.typed:
                found = self._read_cached(text, only in row.typed)
            elif self._cache is not None:
                found = self._cache.texts.get(text)
            else:
                found = self._interpreter.read(stripped(text), False)
            if type(found) is str:
                return found
        if self._separator is not None:
            found = self._read_joined(row, problems)
        elif self._is_constant:
            found = self._placed(self._fixed, row, problems)
        else:
            found = self._read_alternatives(row, problems)
        if found is None and self._default is not None:
            return self._placed(self._default, row, problems)
        if found is None and "" in self.value.present:
            return OPEN_END
        return None if isinstance(found, InvalidValue) else found

    def used(self, row: Row) -> tuple[Column, ...]:
        """The columns whose cells give the value; if none does, those that are filled in."""
        filled = self.filled(row)
        for column in filled if self._separator is None else ():
            read = self._interpreter.read(stripped(row.cells[column.index]), column.index in row.typed)
            read = self._beside(read, row, column)
            if read is not None and not isinstance(read, InvalidValue):
                return (column,)
        return filled

    def source(self, row: Row) -> tuple[ValueReader, Row]:
        """The reader and the row that give the value: of a lookup, those of the other table."""
        return self, row

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the candidate's own row that it is read from."""
        return self.value.columns

    def from_cells(self, row: Row) -> bool:
        """Whether a cell of the row is filled in for this value; constants and defaults do not count."""
        return any(self._is_filled(row, column) for column in self.value.columns)

    def filled(self, row: Row) -> tuple[Column, ...]:
        """The columns whose cells are filled in; missing words are read as blank."""
        return tuple(column for column in self.value.columns if self._is_filled(row, column))

    def first_filled(self, row: Row) -> Column | None:
        """The column that a problem of this value is shown at."""
        for column in self.value.columns:
            if self._is_filled(row, column):
                return column
        return self.value.columns[0] if self.value.columns else None

    def _is_filled(self, row: Row, column: Column) -> bool:
        return not self._is_missing(stripped(row.cells[column.index]))

    def _read_alternatives(self, row: Row, problems: list[Problem]) -> Any:
        invalid: list[Problem] = []
        found: Any = None
        for column in self.value.columns:
            text = row.cells[column.index]
            if not text:
                continue
            read = self._beside(self._read_cached(text, column.index in row.typed), row, column)
            if isinstance(read, InvalidValue):
                invalid.append(read.at(row.place(column)))
                found = read
                if self.value.documents is not None and read.code != "document-missing":
                    break  # the next cell names another file, perhaps an old one
            elif read is not None:
                return read
        problems.extend(invalid)
        return found

    def _beside(self, read: Any, row: Row, column: Column) -> Any:
        """What was read from a cell, or of a hyperlink cell the address of its link."""
        link = dict(row.links).get(column.index) if row.links else None
        if link and self._picks_links:
            return self._interpreter.read(stripped(row.cells[column.index]), typed=False, link=link)
        if link and self._follows_links and read is not None:
            text = row.cells[column.index]
            return linked_url(text if self._interpreter.is_plain or isinstance(read, InvalidValue) else read, link)
        return read

    def _read_joined(self, row: Row, problems: list[Problem]) -> Any:
        texts = ((stripped(row.cells[column.index]), column.index in row.typed) for column in self.value.columns)
        cells = [self._interpreter.written(text, typed) for text, typed in texts]
        filled = [text for text in cells if not self._is_missing(text)]
        name = self.value.spec.name
        if name is not None:  # of a file; with a blank cell it would be that of others
            text = name.of(cells) if len(filled) == len(cells) else ""
        else:
            text = (self._separator or "").join(filled)
        read = self._interpreter.read(text, typed=False) if text else None
        if self.value.field.kind is Kind.DATE and 0 < len(filled) < len(cells) > 2:  # 5.2024 without a day or a month?
            hint = "fill in all its cells"
            read = InvalidValue("date-incomplete", f"{quoted(text)} is joined from cells of which one is blank", hint)
        if isinstance(read, InvalidValue):
            problems.append(read.at(row.place(self.first_filled(row))))
        return read

    def _placed(self, read: Any, row: Row, problems: list[Problem]) -> Any:
        if isinstance(read, InvalidValue):
            problems.append(read.at(row.place()))
        return read

    def _read_cached(self, text: str, typed: bool) -> Any:
        if self._cache is None:
            return self._interpreter.read(stripped(text), typed)
        values = self._cache.typed_texts if typed else self._cache.texts
        found = values.get(text, _NOT_CACHED)
        if found is _NOT_CACHED:
            if len(values) >= _CACHED_TEXTS:
                values.clear()
            found = values[text] = self._interpreter.read(stripped(text), typed)
        return found

    def _read_fixed(self, text: str | None) -> Any:
        return None if text is None or not text.strip() else self._interpreter.read_fixed(text)
