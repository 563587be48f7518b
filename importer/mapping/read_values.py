"""Reads what a value is made of: a column, alternatives, columns joined or a constant, and how its text is read."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from importer.mapping.findings import Findings
from importer.mapping.model import (
    Constant,
    FromColumns,
    Joined,
    Otherwise,
    Part,
    TableEntry,
    Take,
    Text,
    ValueSource,
    ValueSpec,
    ValueTable,
)
from importer.mapping.nodes import ListNode, MappingNode, Node
from importer.mapping.read_formats import FORMAT_KEYS, read_formats
from importer.mapping.read_pattern import read_pattern
from importer.mapping.read_sign import read_sign, sign_of
from importer.mapping.shape import Fields, read_fields, read_filled, read_text, read_texts, read_word
from importer.mapping.table_file import read_table_file
from importer.text.normalize import normalize

_SOURCE_KEYS = ("column", "join", "value")
VALUE_KEYS = (
    *_SOURCE_KEYS, "with", "pattern", "group", "split", "take", "values", "otherwise", "part", "before", "after",
    "default", "missing", *FORMAT_KEYS,
)  # fmt: skip
END_KEYS = (*VALUE_KEYS, "present")  # of the end date of an entry
_HINT = 'write a column name, or keys such as column: "E-mail"'


def read_value(node: Node, name: str, findings: Findings) -> ValueSpec | None:
    """A value in any of its forms; None where it is wrong, and told."""
    return _read_value(node, name, findings, VALUE_KEYS)


def read_end_value(node: Node, name: str, findings: Findings) -> ValueSpec | None:
    """A value that may have words of an open end (`present`)."""
    return _read_value(node, name, findings, END_KEYS)


def _read_value(node: Node, name: str, findings: Findings, known: tuple[str, ...]) -> ValueSpec | None:
    if isinstance(node, ListNode):
        message, hint = f"{name} must be a column or keys", "write alternatives as {column: [a, b]}"
        findings.mistake("wrong-type", message, hint, node.place)
        return None
    if isinstance(node, Text):
        column = read_filled(node, name, findings)
        return ValueSpec(FromColumns((column,)), node.place) if column else None
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(known)
    source = _read_source(fields, findings)
    spec = ValueSpec(
        source=source or Constant(Text("", node.place)),
        place=node.place,
        pattern=read_pattern(fields, findings),
        split=fields.read("split", read_sign),
        take=_read_take(fields, findings),
        table=_read_table(fields, findings),
        part=_read_part(fields),
        before=_affix(fields, "before"),
        after=_affix(fields, "after"),
        default=fields.read("default", read_text),
        missing=_plain(fields.read("missing", read_texts)),
        present=_plain(fields.read("present", read_texts)) or (),
        formats=read_formats(fields, findings),
    )
    return spec if source is not None else None


def _plain(texts: tuple[Text, ...] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(text.value for text in texts)


def _read_take(fields: Fields, findings: Findings) -> Take | None:
    take = fields.read("take", read_word(Take))
    if take is not None and not fields.has("split"):
        findings.mistake("idle-key", "take has no effect without split", "take it out", fields.key("take").place)
    return take


class PartWord(StrEnum):
    FIRST = "first"
    LAST = "last"
    START = "start"
    END = "end"


_PARTS: dict[PartWord, Part] = {
    PartWord.FIRST: "first",
    PartWord.LAST: "last",
    PartWord.START: "start",
    PartWord.END: "end",
}


def _affix(fields: Fields, key: str) -> str:
    """The text that is put around what a cell says."""
    text = fields.read(key, read_filled)
    return text.value if text else ""


def _read_part(fields: Fields) -> Part | None:
    word = fields.read("part", read_word(PartWord))
    return _PARTS[word] if word else None


def _read_source(fields: Fields, findings: Findings) -> ValueSource | None:
    given = [key for key in _SOURCE_KEYS if fields.has(key)]
    if not given:
        findings.mistake("missing-key", f"{fields.name} has no column, join or value", _HINT, fields.place)
        return None
    if len(given) > 1:
        message = f"{fields.name} has {' and '.join(given)}"
        findings.mistake("keys-exclude", message, "keep one of them", fields.key(given[1]).place)
        return None
    _refuse_idle_keys(fields, given[0], findings)
    return _SOURCES[given[0]](fields, findings)


def _refuse_idle_keys(fields: Fields, source: str, findings: Findings) -> None:
    idle = {"with": source != "join", "otherwise": not fields.has("values")}
    for key in ("before", "after"):
        if fields.has(key) and fields.has("values"):
            message, hint = f"{fields.name} has values and {key}", "write the whole text in the value table"
            findings.mistake("keys-exclude", message, hint, fields.key(key).place)
    if source == "value":
        idle.update({key: True for key in VALUE_KEYS if key not in _SOURCE_KEYS})
    for key, is_idle in idle.items():
        if is_idle and fields.has(key):
            without = "values" if key == "otherwise" and source != "value" else "join" if key == "with" else ""
            message = f"{key} has no effect " + (f"without {without}" if without else "beside a constant value")
            findings.mistake("idle-key", message, "take it out", fields.key(key).place)


def _columns_source(fields: Fields, findings: Findings) -> ValueSource | None:
    columns = fields.read("column", _read_columns)
    return FromColumns(columns) if columns else None


def _joined_source(fields: Fields, findings: Findings) -> ValueSource | None:
    columns = fields.read("join", _read_columns)
    separator = fields.read("with", read_text)
    return Joined(columns, sign_of(separator) if separator else " ") if columns else None


def _constant_source(fields: Fields, findings: Findings) -> ValueSource | None:
    text = fields.read("value", read_filled)
    return Constant(text) if text else None


_SOURCES: dict[str, Callable[[Fields, Findings], ValueSource | None]] = {
    "column": _columns_source,
    "join": _joined_source,
    "value": _constant_source,
}


def _read_columns(node: Node, name: str, findings: Findings) -> tuple[Text, ...] | None:
    texts = read_texts(node, name, findings)
    blank = [text for text in texts or () if not text.value.strip()]
    for text in blank:
        findings.mistake("wrong-type", f"{name} is blank", 'name a column, or give its letter as "=C"', text.place)
    return None if blank else texts


# --- value tables -------------------------------------------------------------------------------


class OtherwiseWord(StrEnum):
    ERROR = "error"
    KEEP = "keep"
    BLANK = "blank"


def _read_table(fields: Fields, findings: Findings) -> ValueTable | None:
    lines = fields.read("values", _read_lines)
    if lines is None:
        return None
    entries: dict[str, TableEntry] = {}
    for line in lines:
        _add_entry(entries, line, findings)
    otherwise: Otherwise | Text = fields.read("otherwise", _read_otherwise) or Otherwise.ERROR
    if isinstance(otherwise, Text):
        return ValueTable(tuple(entries.values()), Otherwise.VALUE, otherwise, fields.key("values").place)
    return ValueTable(tuple(entries.values()), otherwise, None, fields.key("values").place)


def _read_lines(node: Node, name: str, findings: Findings) -> tuple[TableEntry, ...] | None:
    """The lines of a table, inline or in a CSV file."""
    if isinstance(node, Text) and node.value.strip():
        return read_table_file(node, findings)
    mapping = read_fields_node(node, name, findings)
    if mapping is None:
        return None
    read = [(pair.key, read_text(pair.value, f"'{pair.key}' under values", findings)) for pair in mapping.pairs]
    return tuple(TableEntry(cell, target) for cell, target in read if target is not None)


def read_fields_node(node: Node, name: str, findings: Findings) -> MappingNode | None:
    """Keys and values whose keys are anything."""
    if isinstance(node, MappingNode):
        return node
    message, hint = f"{name} must be keys and values", "write what the cell says: what it stands for"
    findings.mistake("wrong-type", message, hint, node.place)
    return None


def _add_entry(entries: dict[str, TableEntry], entry: TableEntry, findings: Findings) -> None:
    first = entries.setdefault(normalize(entry.cell.value), entry)
    if first.target.value != entry.target.value:
        message = f"'{first.cell}' and '{entry.cell}' are the same text and stand for different values"
        hint = f"keep one; the other is in line {first.cell.place.line}"
        findings.mistake("values-collide", message, hint, entry.cell.place)


def _read_otherwise(node: Node, name: str, findings: Findings) -> Otherwise | Text | None:
    if isinstance(node, MappingNode):
        fields = Fields(node, name, findings).only(("value",))
        return fields.require("value", read_filled, "write otherwise: {value: ...}")
    word = read_word(OtherwiseWord)(node, name, findings)
    return Otherwise(word.value) if word else None
