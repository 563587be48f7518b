"""Reads how the source is read, which of its rows count, and where the entries of an answer come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from importer.mapping.diagnostics import Diagnostics
from importer.mapping.model import (
    PLACEHOLDER,
    CellPieces,
    ChildRows,
    ChildSource,
    EntriesSource,
    EntriesSpec,
    EntryField,
    EntryKind,
    EntryOrder,
    Filter,
    GroupBy,
    GroupRows,
    JsonCell,
    NumberedGroups,
    OwnColumns,
    ParallelLists,
    Text,
)
from importer.mapping.nodes import MappingNode, Node
from importer.mapping.read_values import read_end_value, read_value
from importer.mapping.scalars import (
    Fields,
    read_expression,
    read_fields,
    read_filled,
    read_number,
    read_row_numbers,
    read_sign,
    read_text,
    read_texts,
    read_word,
)
from importer.models import SourceOptions

FILTER_KEYS = ("column", "is", "is_not")


def read_filter(node: Node, name: str, diagnostics: Diagnostics) -> Filter | None:
    """The filter; None where it is wrong, and told."""
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    return filter_of(fields.only(FILTER_KEYS), diagnostics)


def filter_of(fields: Fields, diagnostics: Diagnostics) -> Filter | None:
    """The filter that the keys of these fields say."""
    column = fields.require("column", read_filled, "name the column to filter by")
    words, unwanted = fields.read("is", read_texts), fields.read("is_not", read_texts)
    if fields.has("is") == fields.has("is_not"):
        name = fields.name
        message = f"{name} has is and is_not" if fields.has("is") else f"{name} has neither is nor is_not"
        diagnostics.error("where-words", message, "keep one of them, with a list of words", fields.place)
        return None
    found = words if words is not None else unwanted
    if column is None or found is None:
        return None
    return Filter(column, tuple(text.value for text in found), negated=unwanted is not None)


FILE_KEYS = (
    "header_row",
    "header_rows",
    "skip_rows",
    "stop_at",
    "hidden_rows",
    "encoding",
    "delimiter",
    "longest_cell",
)
SOURCE_KEYS = ("sheet", *FILE_KEYS, "missing", "where", "group_by")
GROUP_KEYS = ("column", "blank", "main")


@dataclass(frozen=True, slots=True)
class SourceSection:
    """What `source:` says."""

    options: SourceOptions = field(default=SourceOptions())
    missing: tuple[str, ...] = ()
    where: Filter | None = None
    group_by: GroupBy | None = None


def read_source(node: Node, name: str, diagnostics: Diagnostics) -> SourceSection | None:
    """The section `source:`; None where it is no mapping, and told."""
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    fields.only(SOURCE_KEYS)
    sheet = fields.read("sheet", read_filled)
    missing = fields.read("missing", read_texts) or ()
    return SourceSection(
        file_options(fields, sheet),
        tuple(text.value for text in missing),
        fields.read("where", read_filter),
        fields.read("group_by", _read_group_by),
    )


def file_options(fields: Fields, sheet: Text | None) -> SourceOptions:
    """How a file is read, as the keys FILE_KEYS among these fields say."""
    encoding = fields.read("encoding", _read_encoding)
    stop_at = fields.read("stop_at", read_filled)
    hidden = fields.read("hidden_rows", read_word(HiddenWord))
    return SourceOptions(
        sheet=sheet.value if sheet else None,
        header_row=fields.read("header_row", read_number),
        encoding=encoding.value if encoding else None,
        delimiter=fields.read("delimiter", _read_delimiter),
        header_rows=fields.read("header_rows", read_number) or 1,
        skip_rows=fields.read("skip_rows", read_row_numbers) or (),
        stop_at=stop_at.value if stop_at else None,
        hidden_rows="skip" if hidden is HiddenWord.SKIP else "read",
        longest_cell=fields.read("longest_cell", read_number),
    )


class HiddenWord(StrEnum):
    READ = "read"
    SKIP = "skip"


def _read_encoding(node: Node, name: str, diagnostics: Diagnostics) -> Text | None:
    text = read_filled(node, name, diagnostics)
    if text is None:
        return None
    try:
        "".encode(text.value)
    except (LookupError, ValueError):
        message, hint = f"'{text.value}' is no encoding", "use one such as utf-8, cp1254, cp1252 or utf-16"
        diagnostics.error("unknown-encoding", message, hint, text.place)
        return None
    return text


_DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def _read_delimiter(node: Node, name: str, diagnostics: Diagnostics) -> str | None:
    text = read_text(node, name, diagnostics)
    if text is None:
        return None
    sign = _DELIMITER_WORDS.get(text.value.casefold(), text.value)
    if len(sign) != 1 or sign.isalnum() or sign in '"\r\n':
        message, hint = f"'{text.value}' is no delimiter", 'give one sign in quotes, as ";" or "tab"'
        diagnostics.error("unknown-sign", message, hint, text.place)
        return None
    return sign


# --- rows of one candidate ----------------------------------------------------------------------


class BlankWord(StrEnum):
    CONTINUES = "continues"


def _read_group_by(node: Node, name: str, diagnostics: Diagnostics) -> GroupBy | None:
    if isinstance(node, Text):
        column = read_filled(node, name, diagnostics)
        return GroupBy(column, blank_continues=False, main=None, place=node.place) if column else None
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    fields.only(GROUP_KEYS)
    key = fields.require("column", read_filled, "name the column that says the same in all rows of a candidate")
    blank = fields.read("blank", read_word(BlankWord))
    main = fields.read("main", read_filter)
    return GroupBy(key, blank is not None, main, fields.place) if key else None


_Reader = Callable[[Node, str, Diagnostics], EntriesSource | None]
_REPEAT_HINT = f'write repeat: "{PLACEHOLDER}", and {PLACEHOLDER} in each column name'
REPEAT_KEYS = ("number", "first")
SHEET_KEYS = ("name", "key", "equals", "order_by", "header_row", "header_rows", "skip_rows", "stop_at", "hidden_rows")
FILE_SOURCE_KEYS = ("name", "key", "equals", "order_by", "sheet", *FILE_KEYS)
CELL_KEYS = ("column", "split", "pattern")
LISTS_KEYS = ("split", "numbered")


def read_entry_source(fields: Fields, diagnostics: Diagnostics) -> EntriesSource | None:
    """The source of entries; None where it is wrong, and told. Without any key the row itself holds one entry."""
    given = [key for key in ENTRY_SOURCES if fields.has(key)]
    if len(given) > 1:
        message = f"{fields.name} has {' and '.join(given)}"
        diagnostics.error("keys-exclude", message, "keep one of them", fields.key(given[1]).place)
        return None
    if not given:
        return OwnColumns()
    return ENTRY_SOURCES[given[0]](fields.node(given[0]), given[0], diagnostics)


# --- numbered column groups ---------------------------------------------------------------------


class First(StrEnum):
    UNNUMBERED = "unnumbered"


def _read_repeat(node: Node, name: str, diagnostics: Diagnostics) -> NumberedGroups | None:
    if isinstance(node, Text):
        return _numbered(node, first_unnumbered=False, diagnostics=diagnostics)
    if not isinstance(node, MappingNode) or [pair.key.value for pair in node.pairs] == ["n"]:
        diagnostics.error("wrong-type", "repeat must be a text or keys", _REPEAT_HINT, node.place)
        return None
    fields = Fields(node, name, diagnostics).only(REPEAT_KEYS)
    first = fields.read("first", read_word(First))
    number = fields.read("number", read_text) or Text(PLACEHOLDER, node.place)
    return _numbered(number, first_unnumbered=first is not None, diagnostics=diagnostics)


def _numbered(text: Text, *, first_unnumbered: bool, diagnostics: Diagnostics) -> NumberedGroups | None:
    if text.value != PLACEHOLDER:
        diagnostics.error("repeat-form", f"'{text.value}' is no form of repeat", _REPEAT_HINT, text.place)
        return None
    return NumberedGroups(first_unnumbered, text.place)


# --- other tables -------------------------------------------------------------------------------


def _read_sheet(node: Node, name: str, diagnostics: Diagnostics) -> ChildRows | None:
    fields = read_fields(node, name, diagnostics)
    return _child(fields.only(SHEET_KEYS), in_file=False) if fields else None


def _read_file(node: Node, name: str, diagnostics: Diagnostics) -> ChildRows | None:
    fields = read_fields(node, name, diagnostics)
    return _child(fields.only(FILE_SOURCE_KEYS), in_file=True) if fields else None


def _read_file_name(node: Node, name: str, diagnostics: Diagnostics) -> Text | None:
    text = read_filled(node, name, diagnostics)
    if text is not None and "\0" in text.value:
        diagnostics.error("wrong-type", f"{name} holds a NUL, which no file's does", "take it out", text.place)
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


def _read_rows(node: Node, name: str, diagnostics: Diagnostics) -> GroupRows | None:
    if isinstance(node, Text):
        if node.value != _ALL:
            message, hint = f"'{node}' is no value of {name}", "write rows: all, or rows: {column: ..., is: ...}"
            diagnostics.error("unknown-word", message, hint, node.place)
            return None
        return GroupRows(None, node.place)
    fields = read_fields(node, name, diagnostics)
    where = filter_of(fields.only(FILTER_KEYS), diagnostics) if fields else None
    return GroupRows(where, node.place) if where else None


# --- one cell, several cells --------------------------------------------------------------------


def _read_cell(node: Node, name: str, diagnostics: Diagnostics) -> CellPieces | None:
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    fields.only(CELL_KEYS)
    column = fields.require("column", read_filled, "name the column that holds the entries")
    split = fields.require("split", read_sign, 'say what stands between two entries, as split: ";" or split: newline')
    pattern = fields.require("pattern", read_expression, "say what an entry looks like, as '(?P<company>.+), .+'")
    if column is None or split is None or pattern is None:
        return None
    return CellPieces(column, split, pattern, fields.key("pattern").place)


def _read_json(node: Node, name: str, diagnostics: Diagnostics) -> JsonCell | None:
    column = read_filled(node, name, diagnostics)
    return JsonCell(column, column.place) if column else None


def _read_lists(node: Node, name: str, diagnostics: Diagnostics) -> ParallelLists | None:
    fields = read_fields(node, name, diagnostics)
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


ENTRY_FIELDS: dict[EntryKind, tuple[str, ...]] = {
    EntryKind.EDUCATION: ("school_name", "degree", "major", "start_date", "end_date", "currently_pursuing"),
    EntryKind.EXPERIENCE: (
        "company_name", "position_title", "employment_type", "start_date", "end_date", "currently_employed",
    ),
}  # fmt: skip


def entry_kind_of(node: Node) -> EntryKind | None:
    """The kind of entries where a node is of that form: its only key is `education` or `experience`."""
    if isinstance(node, MappingNode) and len(node.pairs) == 1:
        key = node.pairs[0].key.value
        return EntryKind(key) if key in ENTRY_FIELDS else None
    return None


def read_entries(node: Node, kind: EntryKind, diagnostics: Diagnostics) -> EntriesSpec | None:
    """The entries of one question; None where they are wrong, and told. The node is of the entries form."""
    outer = read_fields(node, "answer", diagnostics)
    fields = outer.read(kind, read_fields) if outer else None
    if fields is None:
        return None
    names = ENTRY_FIELDS[kind]
    fields.only((*ENTRY_SOURCES, *names, "order"))
    fields.require(names[0], lambda *_: True, "each entry needs its name")
    values = [_read_field(fields, name) for name in names if fields.has(name)]
    source = read_entry_source(fields, diagnostics)
    order = fields.read("order", read_word(EntryOrder)) or EntryOrder.KEPT
    if source is None:
        return None
    return EntriesSpec(kind, source, tuple(value for value in values if value is not None), order, fields.place)


def _read_field(fields: Fields, name: str) -> EntryField | None:
    value = fields.read(name, read_end_value if name == "end_date" else read_value)
    return EntryField(fields.key(name), value) if value else None
