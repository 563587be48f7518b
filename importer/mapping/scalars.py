"""The scalar values of the mapping language: numbers, characters, dates, regions, patterns and value tables."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

import regex  # type: ignore[import-untyped]  # it ships no types
from phonenumbers import SUPPORTED_REGIONS
from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from importer.mapping.nodes import Keys, Node, Reader, Text
from importer.mapping.shapes import (
    FILLED,
    TEXT,
    JsonSchema,
    Leaf,
    ListOf,
    invalid,
    read_filled,
    read_text,
    reading_of,
    refusal,
)
from importer.problems import LinePlace
from importer.text.currencies import currency_code
from importer.text.dates import COUNTS, tokens
from importer.text.normalize import normalize, normalized

# --- columns and words --------------------------------------------------------------------------


def _column(node: Node) -> Text:
    if isinstance(node, Text) and not node.strip():
        name = node.name.removeprefix("each item of ")
        raise invalid(f"{name} is blank", 'enter the name of a column, or its letter, for example "=C"')
    return read_text(node)


Columns = Annotated[tuple[Text, ...], ListOf(_column, FILLED)]
NormalizedWords = Annotated[frozenset[str], ListOf(read_text, TEXT, normalized)]

# --- numbers ------------------------------------------------------------------------------------

_ROW: Final[JsonSchema] = {"type": ["integer", "string"], "minimum": 1, "pattern": "^[0-9]{1,9}$"}
_ROW_RANGE = re.compile(r"([1-9][0-9]{0,6})(?:\s*-\s*([1-9][0-9]{0,6}))?")
_MAX_ROWS = 10_000  # that one mapping may skip by number
_FIRST_PIVOT, _LAST_PIVOT = 1900, 2001


def _number(node: Node) -> int:
    text = read_text(node)
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) > 0):
        message = f"{text.name} must be a whole number of 1 or more"
        raise refusal("mapping-value-invalid", message, "write it in digits")
    return int(text)


def _pivot(node: Node) -> int:
    year = _number(node)
    if not _FIRST_PIVOT <= year <= _LAST_PIVOT:
        message = f"{node.name} must be a year from {_FIRST_PIVOT} to {_LAST_PIVOT}"
        hint = "enter the first of the hundred years that two-digit years belong to, for example 1950"
        raise refusal("mapping-value-invalid", message, hint)
    return year


def _row_range(node: Node) -> range:
    text = read_text(node)
    found = _ROW_RANGE.fullmatch(text.strip())
    first = int(found[1]) if found else 0
    last = int(found[2] or first) if found else 0
    if not 0 < first <= last < first + _MAX_ROWS:
        raise refusal("mapping-value-invalid", f"'{text}' is not a valid row number or range", "write it like 2 or 4-6")
    return range(first, last + 1)


def _row_numbers(ranges: Iterable[range]) -> tuple[int, ...]:
    return tuple(sorted({number for one in ranges for number in one}))


Number = Annotated[int, Leaf(_number, _ROW)]
Pivot = Annotated[int, Leaf(_pivot, {**_ROW, "minimum": _FIRST_PIVOT, "pattern": "^[0-9]{4}$"})]
RowNumbers = Annotated[
    tuple[int, ...], ListOf(_row_range, {**_ROW, "pattern": "^ *[0-9]+( *- *[0-9]+)? *$"}, _row_numbers)
]  # fmt: skip

# --- characters and encodings -------------------------------------------------------------------

NEWLINE: Final = {"newline": "\n"}  # the word for an invisible character
_DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_NOT_EMPTY: Final[JsonSchema] = {"type": "string", "minLength": 1}


def _separator(node: Node) -> str:
    text = read_text(node)
    if not text:
        raise invalid(f"{text.name} is blank", 'write the separator in quotes, for example ";"')
    return NEWLINE.get(text, str(text))


def _delimiter(node: Node) -> str:
    text = read_text(node)
    character = _DELIMITERS.get(text.casefold(), str(text))
    if len(character) != 1 or character.isalnum() or character in '"\r\n':
        hint = 'use one character in quotes, for example ";" or "tab"'
        raise refusal("delimiter-invalid", f"'{text}' is not a valid delimiter", hint)
    return character


def _encoding(node: Node) -> str:
    text = read_filled(node)
    try:
        "".encode(text)
    except (LookupError, ValueError):
        hint = "use, for example, utf-8, cp1254, cp1252 or utf-16"
        raise refusal("encoding-wrong", f"'{text}' is not a known encoding", hint) from None
    return str(text)


def character(*known: str) -> Leaf:
    """A type of a few characters; no-break spaces count as a space."""

    def read(node: Node) -> str:
        text = read_text(node)
        found = text.replace("\u00a0", " ").replace("\u202f", " ")
        if found not in known:
            quoted = " ".join(f'"{one}"' for one in known)
            raise refusal("delimiter-invalid", f"'{text}' is not a valid {text.name} separator", f"use one of {quoted}")
        return found

    return Leaf(read, {"enum": [*known, *("\u00a0\u202f" if " " in known else "")]})


Separator = Annotated[str, Leaf(_separator, _NOT_EMPTY)]
Delimiter = Annotated[str, Leaf(_delimiter, _NOT_EMPTY)]
Encoding = Annotated[str, Leaf(_encoding, _NOT_EMPTY)]

# --- currencies -----------------------------------------------------------------------------------


def _currency(node: Node) -> Text:
    text = read_filled(node).strip()
    if currency_code(text) is None:
        hint = 'write a sign, a code or the usual short form of a currency, for example [EUR, "€"]'
        raise refusal("currency-invalid", f"'{text}' is not a currency", hint)
    return Text(text, node.place)


Currencies = Annotated[tuple[Text, ...], ListOf(_currency, FILLED)]

# --- dates, regions ---------------------------------------------------------------------

_DATE_HINT = "write it like %d.%m.%Y; the codes are %d %m %Y %y %b %B %H %I %M %S %f %p; or use one of "


def _date_format(node: Node) -> Text:
    text = read_text(node)
    try:
        if text not in COUNTS:
            tokens(text)
    except ValueError as error:
        raise refusal("date-format-invalid", str(error), _DATE_HINT + ", ".join(COUNTS)) from None
    return text


def _region(node: Node) -> str:
    text = read_text(node)
    if text.upper() not in SUPPORTED_REGIONS:
        hint = "did you mean 'GB'?" if text.upper() == "UK" else "use a two-letter country code such as TR, DE or US"
        raise refusal("mapping-value-invalid", f"'{text}' is not a known region", hint)
    return text.upper()


DateFormats = Annotated[
    tuple[Text, ...], ListOf(_date_format, {"type": "string", "pattern": f"%[Yy]|^({'|'.join(COUNTS)})$"})
]  # fmt: skip
Region = Annotated[str, Leaf(_region, {"type": "string", "pattern": "^[A-Za-z]{2}$"})]

# --- names of files -----------------------------------------------------------------------------

_IN_BRACES = re.compile(r"\{([^{}]*)\}")


class NamePattern(NamedTuple):
    """The name of a file: texts of the mapping, with * for any text, around the texts of columns."""

    texts: tuple[str, ...]
    columns: tuple[Text, ...]

    def of(self, cells: Sequence[str]) -> str:
        """The name for these cells, each of them between two NUL characters."""
        first, *others = self.texts
        return first + "".join(f"\0{cell}\0{text}" for cell, text in zip(cells, others, strict=True))


def _file_name(node: Node) -> NamePattern:
    text = read_filled(node)
    pieces = _IN_BRACES.split(text)
    columns = tuple(Text(name, text.place, text.name) for name in pieces[1::2])
    if not columns or not all(name.strip() for name in columns) or {"{", "}"} & set("".join(pieces[::2])):
        hint = 'write columns in braces, for example "{ID}.pdf"'
        raise invalid(f"{text.name} does not say which columns are in the name", hint)
    return NamePattern(tuple(pieces[::2]), columns)


FileName = Annotated[NamePattern, Leaf(_file_name, {"type": "string", "pattern": r"\{.+\}"})]

# --- patterns -----------------------------------------------------------------------------------

_PATTERN_HINT = "name the part that you need, for example (?P<city>.+), and put the pattern in single quotes"
_SECONDS: Final = 0.5  # for one cell: some patterns would take hours
_MOST_SLOW: Final = 3  # cells of a pattern in one file; then its further ones are not tried
_LITERAL: Final = re.compile(r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_FUZZY: Final = re.compile(r"\{(?!\d*,?\d*\})")  # has another meaning than in Python's own expressions


@dataclass(frozen=True, slots=True)
class CellPattern:
    """An expression that must match a whole text; `names` are its named groups, in order. slow: the texts that took too
    long since the mapping was read.
    """

    text: str
    names: tuple[str, ...]
    slow: list[str] = field(default_factory=list, compare=False, repr=False)

    def groups_of(self, text: str) -> Mapping[str, str | None] | None:
        """The texts of the named groups; None if the text does not match.

        Raises TimeoutError: it takes too long for this text, or has for others before.
        """
        if len(self.slow) == _MOST_SLOW:
            raise TimeoutError
        try:
            match = _compiled(self.text).fullmatch(text, timeout=_SECONDS)
        except TimeoutError:
            self.slow.append(text)
            raise
        return match.groupdict() if match else None


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    return regex.compile(text)


def expression(node: Node) -> CellPattern:
    """A regular expression with at least one named group."""
    text = read_filled(node)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # refuse syntax that a later Python may read differently
            found = re.compile(text)
            _compiled(str(text))
    except (re.error, regex.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning) as error:
        message = f"{text.name} is not a valid regular expression: {error}"
        raise refusal("pattern-invalid", message, _PATTERN_HINT) from None
    if not found.groupindex:
        raise refusal("pattern-invalid", f"{text.name} has no named group", _PATTERN_HINT)
    if _FUZZY.search(_LITERAL.sub("", text)):
        raise refusal("pattern-invalid", f"{text.name} has a {{ that begins no count like {{2}}", "write it as \\{")
    return CellPattern(str(text), tuple(found.groupindex))


Expression = Annotated[CellPattern, Leaf(expression, {"type": "string", "pattern": r"\(\?P<"})]

# --- value tables -------------------------------------------------------------------------------

_TABLE_HEADER = ("cell", "value")
_MAX_TABLE_BYTES = 5_000_000
_TABLE_HINT = "its first line must be cell,value (the text of a cell, and the value to send); save it as UTF-8"


class TableEntry(NamedTuple):
    """One line of a value table: the text of a cell, and its value."""

    cell: Text
    target: Text


def _table(node: Node, info: ValidationInfo) -> tuple[TableEntry, ...]:
    """The lines of a table, inline or in a CSV file; equal texts must have equal values."""
    reading = reading_of(info)
    if isinstance(node, Text) and not node.strip():
        return ()  # all its lines are comments
    if isinstance(node, Text):
        lines = table_file_lines(node, reading)
    elif isinstance(node, Keys):
        lines = _inline_lines(node, reading)
    else:
        raise invalid(f"{node.name} must be keys and values", "write 'TEXT OF THE CELL: VALUE', one per line")
    entries: dict[str, TableEntry] = {}
    for line in lines:
        first = entries.setdefault(normalize(line.cell), line)
        if first.target != line.target:
            message = f"'{first.cell}' and '{line.cell}' are the same text but have different values"
            hint = f"keep one; the other is on line {first.cell.place.line}"
            reading.error("keys-conflict", message, hint, line.cell.place)
    return tuple(entries.values())


def _inline_lines(node: Keys, reading: Reader) -> Iterator[TableEntry]:
    for cell, target in node.items():
        if isinstance(target, Text) and target.is_absent:
            hint = 'write it, or "" to send nothing for this text'
            reading.error("mapping-value-invalid", f"'{cell}' under {node.name} has no value", hint, target.place)
        elif isinstance(target, Text):
            yield TableEntry(cell, target)
        else:
            hint = "write it in quotes" if isinstance(target, Keys) else "enter one text"
            reading.error("mapping-value-invalid", f"'{cell}' under {node.name} must be a text", hint, target.place)


def table_file_lines(name: Text, reading: Reader) -> Iterator[TableEntry]:
    """The lines of a table in a CSV file; problems are reported at the line of the mapping or of the table.

    The path is relative to the folder of the mapping file; the delimiter is a comma or a semicolon.
    """

    def refuse(code: str, problem: str, hint: str = _TABLE_HINT) -> None:
        reading.error(code, f"the value table '{name}' {problem}", hint, name.place)

    path = reading.named_file(name)
    if path is None:
        return
    try:
        content = reading.content(path, _MAX_TABLE_BYTES + 1)
        lines = content[:_MAX_TABLE_BYTES].decode("utf-8-sig").splitlines(keepends=True)
    except OSError as error:
        hint = "give its path relative to the folder of this mapping"
        return refuse("value-table-unreadable", f"cannot be read: {(error.strerror or str(error)).lower()}", hint)
    except UnicodeDecodeError:
        return refuse("value-table-unreadable", "is not UTF-8")
    if len(content) > _MAX_TABLE_BYTES:
        return refuse("value-table-unreadable", f"is larger than {_MAX_TABLE_BYTES:,} bytes", "use a smaller one")
    rows = csv.reader(lines, delimiter=";" if lines and ";" in lines[0] else ",")
    try:
        if tuple(normalize(cell) for cell in next(rows, [])) != _TABLE_HEADER:
            return refuse("value-table-unreadable", "does not begin with the header cell,value")
        for cells in rows:
            place = LinePlace(str(path), rows.line_num, 1, lines[rows.line_num - 1].rstrip("\r\n"))
            if len(cells) == len(_TABLE_HEADER):
                yield TableEntry(Text(cells[0], place), Text(cells[1], place))
            elif any(cells):
                message = f"the line has {len(cells)} cells instead of 2"
                reading.error("value-table-unreadable", message, "quote a cell that contains the delimiter", place)
    except csv.Error as error:
        refuse("value-table-unreadable", f"is not a valid CSV: {error}")


ValueTable = Annotated[
    tuple[TableEntry, ...],
    PlainValidator(_table),
    WithJsonSchema({"anyOf": [{"type": "object", "additionalProperties": TEXT}, FILLED, {"type": "null"}]}),
]
