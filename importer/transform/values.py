"""Reads one value of a row: from the first cell that is filled in and valid, from joined cells, or from a constant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

from importer.mapping import NUMBERS, Kind, Otherwise, Pattern, ResolvedTable, ResolvedValue, Take
from importer.models import Row
from importer.problems import Column, Problem, Unread
from importer.settings import WireFormat
from importer.text.currencies import currency_code, is_same_currency
from importer.text.literals import InvalidLiteral, read_literal
from importer.text.normalize import did_you_mean, normalize, range_pieces
from importer.transform.kinds import joined_choices, reader_of
from importer.transform.names import part_of_name
from importer.transform.texts import InvalidValue, in_mapping, into_table, linked_url, quoted, stripped

# Texts of all other kinds repeat often (schools, companies, titles, dates), so their values are cached.
_RARELY_REPEATED = frozenset({Kind.TEXT, Kind.EMAIL, Kind.PHONE, Kind.URL, Kind.DOCUMENT, Kind.CV})
_CACHED_TEXTS = 8_000  # per value; then the cache is cleared
_NOT_CACHED = object()
_JSON = "json"  # as `split:`


class OpenEnd:
    """The value of an end date such as Present."""


OPEN_END = OpenEnd()


class ValueCache:
    """Values by text: for cells that a workbook stores as a number, date or boolean, and for all others."""

    __slots__ = ("texts", "typed_texts")

    def __init__(self) -> None:
        self.texts: dict[str, Any] = {}
        self.typed_texts: dict[str, Any] = {}


class ReadFrom(NamedTuple):
    """Where a value comes from.

    columns: its cells; if none gives a value, those that are filled in. value: what was read from them.
    tables: whether a value table gave it (`table`), or its `otherwise`. skipped: an earlier cell is not valid.
    """

    columns: tuple[Column, ...]
    value: Any = None
    tables: frozenset[str] = frozenset()
    skipped: bool = False


class ValueReader:
    """Reads one value from rows. Built once for a mapping; its cache does not change the results."""

    def __init__(self, value: ResolvedValue, wire: WireFormat, cache: ValueCache | None = None) -> None:
        """`cache` is shared by readers that differ only in their columns."""
        self.value = value
        self._interpreter = _Interpreter(value, wire)
        self._is_missing = self._interpreter.is_missing
        self._cache = None if value.field.kind in _RARELY_REPEATED else cache or ValueCache()
        self._fixed = self._read_fixed(value.constant)
        self._default = self._read_fixed(value.default)
        self._follows_links = value.field.kind is Kind.URL and self._interpreter.is_plain
        self._has_currency = bool(value.formats.currency) and value.field.kind in NUMBERS
        is_one_cell = len(value.columns) == 1 and value.separator is None and value.constant is None
        looks_beside = self._follows_links or self._has_currency
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
        value = self.value
        if value.separator is not None:
            found = self._read_joined(row, problems)
        elif value.constant is not None:
            found = self._placed(self._fixed, row, problems)
        else:
            found = self._read_alternatives(row, problems)
        if found is None and self._default is not None:
            return self._placed(self._default, row, problems)
        if found is None and "" in value.present:
            return OPEN_END
        return None if isinstance(found, InvalidValue) else found

    def explain(self, row: Row) -> ReadFrom:
        """Where the value comes from, in a row without problems: reads it again, in the same way as `read`."""
        used = self._interpreter.tables_used
        filled = tuple(column for column in self.value.columns if self._is_filled(row, column))
        tables: frozenset[str] = frozenset()
        if self.value.separator is not None:
            used.clear()
            return ReadFrom(filled, self._read_joined(row, []), frozenset(used))
        skipped = False
        for column in filled:
            used.clear()
            read = self._interpreter.read(stripped(row.cells[column.index]), column.index in row.typed)
            read = self._beside(read, row, column)
            if read is not None and not isinstance(read, InvalidValue):
                return ReadFrom((column,), read, frozenset(used), skipped)
            skipped |= read is not None
            tables |= used
        return ReadFrom(filled, None, tables)

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
            elif read is not None:
                return read
        problems.extend(invalid)
        return found

    def _beside(self, read: Any, row: Row, column: Column) -> Any:
        """What was read from a cell, or of a hyperlink cell the address of its link; not an amount whose cell shows
        another currency than the declared one."""
        if self._has_currency and row.currencies and read is not None:
            declared, shown = self.value.formats.currency or (), dict(row.currencies).get(column.index)
            if shown and not any(is_same_currency(shown, each) for each in declared):
                message = (
                    f"the format of this cell shows {quoted(f'{row.cells[column.index]} {shown}')}, not {declared[0]}"
                )
                is_known = currency_code(shown) is not None  # otherwise currency: does not take it
                other = f"add '{shown}' to currency: {in_mapping(self.value.place)}" if is_known else "write it in full"
                hint = f"convert it to {declared[0]}, or {other}"
                return InvalidValue("currency-of-format", message, hint)
        if not row.links or not self._follows_links or read is None:
            return read
        link = dict(row.links).get(column.index)
        return linked_url(row.cells[column.index], link) if link else read

    def _read_joined(self, row: Row, problems: list[Problem]) -> Any:
        cells = [stripped(row.cells[column.index]) for column in self.value.columns]
        filled = [text for text in cells if not self._is_missing(text)]
        text = (self.value.separator or "").join(filled)
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


# --- from text to value ---------------------------------------------------------------------------

_OTHER_RULES = ("date-incomplete", "date-in-future")  # the other end of a range has its own
_SPARE = 20  # normalizing removes spaces, so a missing word may be written this much longer
_LONGEST_MATCHED = 10_000  # characters of a cell that a pattern is tried on


class _Interpreter:
    """Reads texts by the steps that the mapping declares, and then by the kind of the value; caches nothing."""

    def __init__(self, value: ResolvedValue, wire: WireFormat) -> None:
        self._value = value
        self._wire = wire
        self._read_kind = reader_of(value, wire)
        self._several = value.field.kind is Kind.CHOICES
        self._has_options = bool(value.field.options) or value.field.kind in (Kind.YES_NO, Kind.FLAG)
        self._bare = not (value.before or value.after)
        self._missing = value.missing
        self._longest_missing = max(map(len, value.missing), default=0) + _SPARE
        steps = (value.pattern, value.present, value.part, value.split, value.take, value.table)
        self.is_plain = self._bare and not self._several and not any(steps)
        self.tables_used: set[str] = set()  # `table` or `otherwise`, since it was last cleared

    def is_missing(self, text: str) -> bool:
        """Whether the stripped text counts as an empty cell."""
        return not text or (len(text) <= self._longest_missing and normalize(text) in self._missing)

    def read_fixed(self, text: str) -> Any:
        """A text written in the mapping itself; missing words and value tables do not apply to it."""
        return self._read_choices(text, typed=False) if self._several else self._read_kind(text.strip(), True)

    def read(self, text: str, typed: bool) -> Any:
        """The value of a stripped text: None where it counts as empty; may be OPEN_END or a InvalidValue."""
        value = self._value
        if len(text) <= self._longest_missing and self.is_missing(text):
            return None
        if self.is_plain:
            return self._read_kind(text, typed)
        if value.pattern is not None:
            found = _matched(text, value.pattern)
            if isinstance(found, InvalidValue):
                return found
            if self.is_missing(found):
                return None
            text, typed = found, False
        if value.present and normalize(text) in value.present:
            return OPEN_END
        if value.part == "start" or value.part == "end":
            return self._read_range(text, value.part)
        if self._several:
            return self._read_choices(text, typed)
        return self._read_piece(text, typed)

    def _read_range(self, text: str, part: Literal["start", "end"]) -> Any:
        """One end of a range. The other one must be valid too: `2019-05` may be a month, and `40 - 50k` is not 40."""
        ends = _ends_of_range(text, self._value.split)
        if isinstance(ends, InvalidValue):
            return ends
        whole = self._read_kind(text, False)
        if not isinstance(whole, InvalidValue) or whole.code == "date-incomplete":
            return _no_range(text)
        end, other = ends if part == "start" else reversed(ends)
        read, other_read = self._read_end(end), self._read_end(other)
        if not isinstance(other_read, InvalidValue) or other_read.code in _OTHER_RULES:
            return read
        return other_read if any(map(str.isdigit, other)) else read  # without digits, it may be a word for an open end

    def _read_end(self, text: str) -> Any:
        if self.is_missing(text):
            return None
        return OPEN_END if normalize(text) in self._value.present else self._read_one(text, typed=False)

    def _read_piece(self, text: str, typed: bool) -> Any:
        take = self._value.take
        if take is None or self._value.split is None:
            return self._read_named(text, typed)
        pieces = self._pieces(text)
        if isinstance(pieces, InvalidValue) or not pieces:
            return pieces or None
        read = self._read_named(pieces[0], typed=False)
        if take is Take.FIRST or not isinstance(read, InvalidValue):
            return read
        others = (self._read_named(piece, typed=False) for piece in pieces[1:])
        return next((other for other in others if not isinstance(other, InvalidValue)), read)

    def _pieces(self, text: str) -> list[str] | InvalidValue:
        """The values in a text, without those that count as an empty cell."""
        split = self._value.split
        pieces = text.split(split) if split else [text]
        if split == _JSON:
            try:
                found = read_literal(text)
            except InvalidLiteral as error:
                return InvalidValue("list-invalid", f"{quoted(text)} is not a valid list: {error}", "correct it")
            pieces = [piece for piece in found if isinstance(piece, str)] if isinstance(found, list) else []
            if len(pieces) < len(found):
                return InvalidValue("list-invalid", f"{quoted(text)} is not a list of texts", "correct it")
        return [piece for piece in map(stripped, pieces) if not self.is_missing(piece)]

    def _read_named(self, text: str, typed: bool) -> Any:
        part = self._value.part
        if part != "first" and part != "last":
            return self._read_one(text, typed)
        name = part_of_name(text, part, self._value.formats.names)
        return name if isinstance(name, InvalidValue) else self._read_one(name, typed)

    def _read_choices(self, text: str, typed: bool) -> Any:
        pieces = self._pieces(text)
        if isinstance(pieces, InvalidValue):
            return pieces
        if self._value.split != _JSON and len(pieces) > 1 and (whole := self._option_within(text, pieces)):
            message = f"{quoted(text)} contains '{whole}', which is one choice and several"
            hint = f"separate choices by another character, and set it as split: {in_mapping(self._value.place)}"
            return InvalidValue("not-an-option", message, hint)
        read = [self._read_one(piece, typed) for piece in pieces]
        invalid = [found for found in read if isinstance(found, InvalidValue)]
        if invalid:
            return self._with_hint_to_split(text, invalid[0])
        chosen = [found for found in read if found is not None]
        return joined_choices(chosen, self._wire) if chosen else None

    def _option_within(self, text: str, pieces: list[str]) -> str | None:
        """An option with the separator inside that occurs in the text, while its parts can be options too."""
        split, known = self._value.split or "", {normalize(piece) for piece in pieces}
        for option in self._value.field.options:
            parts = option.split(split)
            if len(parts) > 1 and normalize(option) in normalize(text) and known.issuperset(map(normalize, parts)):
                return option
        return None

    def _with_hint_to_split(self, text: str, found: InvalidValue) -> InvalidValue:
        if self._value.split is not None or not any(separator in text for separator in ";,|\n/"):
            return found
        hint = f"if these are several choices, set split: {in_mapping(self._value.place)}; {found.hint}"
        return replace(found, hint=hint)

    def _read_one(self, text: str, typed: bool) -> Any:
        table = self._value.table
        if table is None:
            if self._bare:
                return self._read_kind(text, typed)
            return self._read_kind(f"{self._value.before}{text}{self._value.after}", False)
        target = table.targets.get(normalize(text))
        if target is not None:
            self.tables_used.add("table")
            return self._read_kind(target, True) if target.strip() else None
        return self._read_otherwise(text, typed, table)

    def _read_otherwise(self, text: str, typed: bool, table: ResolvedTable) -> Any:
        # An option, also yes or no, needs no line in the value table and is never replaced.
        if self._has_options and not isinstance(option := self._read_kind(text, typed), InvalidValue):
            return option
        self.tables_used.add("otherwise")
        if table.otherwise is Otherwise.BLANK:
            return None
        if table.otherwise is Otherwise.VALUE:
            return self._read_kind(table.replacement or "", True)
        if table.otherwise is Otherwise.KEEP or self._value.field.options:
            return self._read_kind(text, typed)
        return InvalidValue(
            "value-unknown",
            f"{quoted(text)} is not in the value table",
            f"{did_you_mean(text, table.targets)}, {into_table(self._value)}",
            Unread(text, self._value.place),
        )


def _matched(text: str, pattern: Pattern) -> str | InvalidValue:
    groups = pattern.expression.groups_of(text) if len(text) <= _LONGEST_MATCHED else None
    if groups is None:
        hint = f"correct it, or change pattern: {in_mapping(pattern.place)}"
        return InvalidValue("pattern-mismatch", f"{quoted(text)} does not match the pattern", hint)
    return stripped(groups[pattern.group] or "")


def _ends_of_range(text: str, separator: str | None) -> list[str] | InvalidValue:
    """The texts before and after the separator, which must occur once; either may be blank, but not both.

    Without a declared separator it is a dash with spaces around it, else a long dash, else the word `to` or `bis`,
    else a hyphen.
    """
    pieces = text.split(separator) if separator else range_pieces(text)
    if len(pieces) != 2 or not any(piece.strip() for piece in pieces):
        return _no_range(text)
    return [piece.strip() for piece in pieces]


def _no_range(text: str) -> InvalidValue:
    message = f"{quoted(text)} is not a valid range of two values"
    return InvalidValue("range-invalid", message, "write it as START - END")
