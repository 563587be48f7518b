"""Reads where the entries of an answer come from: one reader for each of the keys that may say so."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from importer.mapping.findings import Findings
from importer.mapping.model import (
    PLACEHOLDER,
    CellPieces,
    ChildRows,
    ChildSource,
    EntriesSource,
    GroupRows,
    JsonCell,
    NumberedGroups,
    OwnColumns,
    ParallelLists,
    Text,
)
from importer.mapping.nodes import MappingNode, Node
from importer.mapping.read_filter import FILTER_KEYS, filter_of
from importer.mapping.read_pattern import read_expression
from importer.mapping.read_sign import read_sign
from importer.mapping.read_source import FILE_KEYS, file_options
from importer.mapping.shape import Fields, read_fields, read_filled, read_text, read_word

_Reader = Callable[[Node, str, Findings], EntriesSource | None]
_REPEAT_HINT = f'write repeat: "{PLACEHOLDER}", and {PLACEHOLDER} in each column name'
REPEAT_KEYS = ("number", "first")
SHEET_KEYS = ("name", "key", "equals", "order_by", "header_row", "header_rows", "skip_rows", "stop_at", "hidden_rows")
FILE_SOURCE_KEYS = ("name", "key", "equals", "order_by", "sheet", *FILE_KEYS)
CELL_KEYS = ("column", "split", "pattern")
LISTS_KEYS = ("split", "numbered")


def read_entry_source(fields: Fields, findings: Findings) -> EntriesSource | None:
    """The source of entries; None where it is wrong, and told. Without any key the row itself holds one entry."""
    given = [key for key in ENTRY_SOURCES if fields.has(key)]
    if len(given) > 1:
        message = f"{fields.name} has {' and '.join(given)}"
        findings.mistake("keys-exclude", message, "keep one of them", fields.key(given[1]).place)
        return None
    if not given:
        return OwnColumns()
    return ENTRY_SOURCES[given[0]](fields.node(given[0]), given[0], findings)


# --- numbered column groups ---------------------------------------------------------------------


class First(StrEnum):
    UNNUMBERED = "unnumbered"


def _read_repeat(node: Node, name: str, findings: Findings) -> NumberedGroups | None:
    if isinstance(node, Text):
        return _numbered(node, first_unnumbered=False, findings=findings)
    if not isinstance(node, MappingNode) or [pair.key.value for pair in node.pairs] == ["n"]:
        findings.mistake("wrong-type", "repeat must be a text or keys", _REPEAT_HINT, node.place)
        return None
    fields = Fields(node, name, findings).only(REPEAT_KEYS)
    first = fields.read("first", read_word(First))
    number = fields.read("number", read_text) or Text(PLACEHOLDER, node.place)
    return _numbered(number, first_unnumbered=first is not None, findings=findings)


def _numbered(text: Text, *, first_unnumbered: bool, findings: Findings) -> NumberedGroups | None:
    if text.value != PLACEHOLDER:
        findings.mistake("repeat-form", f"'{text.value}' is no form of repeat", _REPEAT_HINT, text.place)
        return None
    return NumberedGroups(first_unnumbered, text.place)


# --- other tables -------------------------------------------------------------------------------


def _read_sheet(node: Node, name: str, findings: Findings) -> ChildRows | None:
    fields = read_fields(node, name, findings)
    return _child(fields.only(SHEET_KEYS), in_file=False) if fields else None


def _read_file(node: Node, name: str, findings: Findings) -> ChildRows | None:
    fields = read_fields(node, name, findings)
    return _child(fields.only(FILE_SOURCE_KEYS), in_file=True) if fields else None


def _read_file_name(node: Node, name: str, findings: Findings) -> Text | None:
    text = read_filled(node, name, findings)
    if text is not None and "\0" in text.value:
        findings.mistake("wrong-type", f"{name} holds a NUL, which no file's does", "take it out", text.place)
        return None
    return text


def _child(fields: Fields, *, in_file: bool) -> ChildRows | None:
    name = fields.require("name", _read_file_name if in_file else read_filled, "name it, as name: Jobs")
    key = fields.require("key", read_filled, "name its column that says whose entry a row is")
    equals = fields.require("equals", read_filled, "name the column of the main table that says the same as key")
    order_by = fields.read("order_by", read_filled)
    sheet = fields.read("sheet", read_filled) if in_file else name
    options = file_options(fields, sheet)
    if name is None or key is None or equals is None:
        return None
    return ChildRows(ChildSource(name.value if in_file else None, options), key, equals, order_by, fields.place)


# --- rows of one candidate ----------------------------------------------------------------------

_ALL = "all"


def _read_rows(node: Node, name: str, findings: Findings) -> GroupRows | None:
    if isinstance(node, Text):
        if node.value != _ALL:
            message, hint = f"'{node}' is no value of {name}", "write rows: all, or rows: {column: ..., is: ...}"
            findings.mistake("unknown-word", message, hint, node.place)
            return None
        return GroupRows(None, node.place)
    fields = read_fields(node, name, findings)
    where = filter_of(fields.only(FILTER_KEYS), findings) if fields else None
    return GroupRows(where, node.place) if where else None


# --- one cell, several cells --------------------------------------------------------------------


def _read_cell(node: Node, name: str, findings: Findings) -> CellPieces | None:
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(CELL_KEYS)
    column = fields.require("column", read_filled, "name the column that holds the entries")
    split = fields.require("split", read_sign, 'say what stands between two entries, as split: ";" or split: newline')
    pattern = fields.require("pattern", read_expression, "say what an entry looks like, as '(?P<company>.+), .+'")
    if column is None or split is None or pattern is None:
        return None
    return CellPieces(column, split, pattern, fields.key("pattern").place)


def _read_json(node: Node, name: str, findings: Findings) -> JsonCell | None:
    column = read_filled(node, name, findings)
    return JsonCell(column, column.place) if column else None


def _read_lists(node: Node, name: str, findings: Findings) -> ParallelLists | None:
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(LISTS_KEYS)
    split = fields.require("split", read_sign, 'say what stands between two items, as split: ";" or split: json')
    numbered = fields.read("numbered", read_word(Numbered))
    if split is None:
        return None
    return ParallelLists(None if split == JSON else split, numbered is Numbered.YES, fields.place)


class Numbered(StrEnum):
    YES = "true"
    NO = "false"


JSON = "json"

ENTRY_SOURCES: dict[str, _Reader] = {
    "repeat": _read_repeat,
    "sheet": _read_sheet,
    "file": _read_file,
    "rows": _read_rows,
    "cell": _read_cell,
    "json": _read_json,
    "lists": _read_lists,
}
