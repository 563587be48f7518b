"""Reads what a value is made of: a column, alternatives, columns joined or a constant, and how its text is read."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from importer.mapping.diagnostics import Diagnostics
from importer.mapping.files import read_table_file
from importer.mapping.model import (
    Constant,
    Edge,
    Formats,
    FromColumns,
    Joined,
    NameRule,
    Otherwise,
    Part,
    Surname,
    TableEntry,
    Take,
    Text,
    ValueSource,
    ValueSpec,
    ValueTable,
)
from importer.mapping.nodes import ListNode, MappingNode, Node
from importer.mapping.scalars import (
    REGIONS,
    Fields,
    read_fields,
    read_filled,
    read_number,
    read_pattern,
    read_sign,
    read_text,
    read_texts,
    read_word,
    sign_of,
)
from importer.text.closest import did_you_mean
from importer.text.dates import COUNTS, LANGUAGES, has_short_year, tokens
from importer.text.normalize import normalize

FORMAT_KEYS = (
    "dates", "months", "pivot", "decimal", "thousands", "region", "missing_day", "missing_month", "yes", "no", "names",
)  # fmt: skip
NAME_KEYS = ("surname", "particles", "suffixes")
_DECIMAL_SIGNS = (".", ",")
_THOUSANDS_SIGNS = (".", ",", " ", "'", "’")
_DATE_HINT = "write it like %d.%m.%Y; the codes are %d %m %Y %y %b %B %H %I %M %S %f %p"
_COUNT_HINT = f"or give one of {', '.join(COUNTS)}"
_FIRST_PIVOT, _LAST_PIVOT = 1900, 2001


class EdgeWord(StrEnum):
    FIRST = "first"
    LAST = "last"


def read_formats(fields: Fields, diagnostics: Diagnostics) -> Formats:
    """The format keys among these fields. Two signs that are the same, or a word of both yes and no, are told."""
    yes, no = fields.read("yes", _read_words), fields.read("no", _read_words)
    dates = fields.read("dates", _read_dates) or ()
    formats = Formats(
        dates=tuple(text.value for text in dates) or None,
        short_year=next((text.place for text in dates if has_short_year(text.value)), None),
        months=fields.read("months", _read_months),
        pivot=fields.read("pivot", _read_pivot),
        decimal=fields.read("decimal", _read_decimal),
        thousands=fields.read("thousands", _read_thousands),
        region=fields.read("region", _read_region),
        missing_day=read_edge(fields, "missing_day"),
        missing_month=read_edge(fields, "missing_month"),
        yes=yes,
        no=no,
        names=fields.read("names", _read_names),
    )
    if formats.decimal is not None and formats.decimal == formats.thousands:
        message = f"decimal and thousands are both '{formats.decimal}'"
        diagnostics.error("same-sign", message, "give each its own sign", fields.key("thousands").place)
    for word in sorted({normalize(word) for word in yes or ()} & {normalize(word) for word in no or ()}):
        diagnostics.error(
            "yes-and-no", f"'{word}' is a word of both yes and no", "keep it in one of them", fields.key("no").place
        )
    return formats


def overlay(own: Formats, defaults: Formats) -> Formats:
    """The formats of a column: its own where it has them, else the defaults."""
    if own == Formats():
        return defaults
    merged = {
        key: getattr(own, key) if getattr(own, key) is not None else getattr(defaults, key) for key in FORMAT_KEYS
    }
    return Formats(**merged, short_year=(own if own.dates else defaults).short_year)


def read_edge(fields: Fields, key: str) -> Edge | None:
    """The value of a key that is `first` or `last`."""
    word = fields.read(key, read_word(EdgeWord))
    if word is None:
        return None
    return "first" if word is EdgeWord.FIRST else "last"


def _read_words(node: Node, name: str, diagnostics: Diagnostics) -> tuple[str, ...] | None:
    texts = read_texts(node, name, diagnostics)
    return tuple(text.value for text in texts) if texts else None


def _read_dates(node: Node, name: str, diagnostics: Diagnostics) -> tuple[Text, ...]:
    read = []
    for text in read_texts(node, name, diagnostics) or ():
        try:
            if text.value not in COUNTS:
                tokens(text.value)
            read.append(text)
        except ValueError as error:
            diagnostics.error("date-format", str(error), f"{_DATE_HINT}; {_COUNT_HINT}", text.place)
    return tuple(read)


def _read_months(node: Node, name: str, diagnostics: Diagnostics) -> tuple[str, ...] | None:
    texts = read_texts(node, name, diagnostics)
    for text in texts or ():
        if text.value not in LANGUAGES:
            message, hint = f"'{text}' is no language of months", did_you_mean(text.value, LANGUAGES)
            diagnostics.error("unknown-language", message, hint, text.place)
    return tuple(text.value for text in texts if text.value in LANGUAGES) if texts else None


def _read_pivot(node: Node, name: str, diagnostics: Diagnostics) -> int | None:
    year = read_number(node, name, diagnostics)
    if year is not None and not _FIRST_PIVOT <= year <= _LAST_PIVOT:
        message = f"{name} must be a year from {_FIRST_PIVOT} to {_LAST_PIVOT}"
        hint = "give the first of the hundred years that two-digit years lie in, as 1950"
        diagnostics.error("pivot-year", message, hint, node.place)
        return None
    return year


def _read_names(node: Node, name: str, diagnostics: Diagnostics) -> NameRule | None:
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    fields.only(NAME_KEYS)
    surname = fields.read("surname", read_word(Surname)) or Surname.LAST_WORD
    if surname is Surname.BEFORE_COMMA and fields.has("particles"):
        message = "particles have no effect where the last name stands before a comma"
        diagnostics.error("idle-key", message, "take it out", fields.key("particles").place)
    particles, suffixes = fields.read("particles", _read_words) or (), fields.read("suffixes", _read_words) or ()
    return NameRule(surname, frozenset(map(normalize, particles)), frozenset(map(normalize, suffixes)))


def _read_decimal(node: Node, name: str, diagnostics: Diagnostics) -> str | None:
    return _sign(read_text(node, name, diagnostics), name, _DECIMAL_SIGNS, diagnostics)


def _read_thousands(node: Node, name: str, diagnostics: Diagnostics) -> str | None:
    return _sign(read_text(node, name, diagnostics), name, _THOUSANDS_SIGNS, diagnostics)


def _sign(text: Text | None, name: str, signs: tuple[str, ...], diagnostics: Diagnostics) -> str | None:
    if text is None:
        return None
    value = text.value.replace("\u00a0", " ").replace("\u202f", " ")
    if value not in signs:
        quoted = " ".join(f'"{sign}"' for sign in signs)
        diagnostics.error("unknown-sign", f"'{text.value}' is no {name} sign", f"use one of {quoted}", text.place)
        return None
    return value


def _read_region(node: Node, name: str, diagnostics: Diagnostics) -> str | None:
    text = read_text(node, name, diagnostics)
    if text is None:
        return None
    if text.value.upper() not in REGIONS:
        hint = "did you mean 'GB'?" if text.value.upper() == "UK" else "use two letters such as TR, DE or US"
        diagnostics.error("unknown-region", f"'{text.value}' is no region", hint, text.place)
        return None
    return text.value.upper()


_SOURCE_KEYS = ("column", "join", "value")
VALUE_KEYS = (
    *_SOURCE_KEYS, "with", "pattern", "group", "split", "take", "values", "otherwise", "part", "before", "after",
    "default", "missing", *FORMAT_KEYS,
)  # fmt: skip
END_KEYS = (*VALUE_KEYS, "present")  # of the end date of an entry
_VALUE_HINT = 'write a column name, or keys such as column: "E-mail"'


def read_value(node: Node, name: str, diagnostics: Diagnostics) -> ValueSpec | None:
    """A value in any of its forms; None where it is wrong, and told."""
    return _read_value(node, name, diagnostics, VALUE_KEYS)


def read_end_value(node: Node, name: str, diagnostics: Diagnostics) -> ValueSpec | None:
    """A value that may have words of an open end (`present`)."""
    return _read_value(node, name, diagnostics, END_KEYS)


def _read_value(node: Node, name: str, diagnostics: Diagnostics, known: tuple[str, ...]) -> ValueSpec | None:
    if isinstance(node, ListNode):
        message, hint = f"{name} must be a column or keys", "write alternatives as {column: [a, b]}"
        diagnostics.error("wrong-type", message, hint, node.place)
        return None
    if isinstance(node, Text):
        column = read_filled(node, name, diagnostics)
        return ValueSpec(FromColumns((column,)), node.place) if column else None
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    fields.only(known)
    source = _read_source(fields, diagnostics)
    spec = ValueSpec(
        source=source or Constant(Text("", node.place)),
        place=node.place,
        pattern=read_pattern(fields, diagnostics),
        split=fields.read("split", read_sign),
        take=_read_take(fields, diagnostics),
        table=_read_table(fields, diagnostics),
        part=_read_part(fields),
        before=_affix(fields, "before"),
        after=_affix(fields, "after"),
        default=fields.read("default", read_text),
        missing=_plain(fields.read("missing", read_texts)),
        present=_plain(fields.read("present", read_texts)) or (),
        formats=read_formats(fields, diagnostics),
    )
    return spec if source is not None else None


def _plain(texts: tuple[Text, ...] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(text.value for text in texts)


def _read_take(fields: Fields, diagnostics: Diagnostics) -> Take | None:
    take = fields.read("take", read_word(Take))
    if take is not None and not fields.has("split"):
        diagnostics.error("idle-key", "take has no effect without split", "take it out", fields.key("take").place)
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
    """The text that is put context what a cell says."""
    text = fields.read(key, read_filled)
    return text.value if text else ""


def _read_part(fields: Fields) -> Part | None:
    word = fields.read("part", read_word(PartWord))
    return _PARTS[word] if word else None


def _read_source(fields: Fields, diagnostics: Diagnostics) -> ValueSource | None:
    given = [key for key in _SOURCE_KEYS if fields.has(key)]
    if not given:
        diagnostics.error("missing-key", f"{fields.name} has no column, join or value", _VALUE_HINT, fields.place)
        return None
    if len(given) > 1:
        message = f"{fields.name} has {' and '.join(given)}"
        diagnostics.error("keys-exclude", message, "keep one of them", fields.key(given[1]).place)
        return None
    _refuse_idle_keys(fields, given[0], diagnostics)
    return _SOURCES[given[0]](fields, diagnostics)


def _refuse_idle_keys(fields: Fields, source: str, diagnostics: Diagnostics) -> None:
    idle = {"with": source != "join", "otherwise": not fields.has("values")}
    for key in ("before", "after"):
        if fields.has(key) and fields.has("values"):
            message, hint = f"{fields.name} has values and {key}", "write the whole text in the value table"
            diagnostics.error("keys-exclude", message, hint, fields.key(key).place)
    if source == "value":
        idle.update({key: True for key in VALUE_KEYS if key not in _SOURCE_KEYS})
    for key, is_idle in idle.items():
        if is_idle and fields.has(key):
            without = "values" if key == "otherwise" and source != "value" else "join" if key == "with" else ""
            message = f"{key} has no effect " + (f"without {without}" if without else "beside a constant value")
            diagnostics.error("idle-key", message, "take it out", fields.key(key).place)


def _columns_source(fields: Fields, diagnostics: Diagnostics) -> ValueSource | None:
    columns = fields.read("column", _read_columns)
    return FromColumns(columns) if columns else None


def _joined_source(fields: Fields, diagnostics: Diagnostics) -> ValueSource | None:
    columns = fields.read("join", _read_columns)
    separator = fields.read("with", read_text)
    return Joined(columns, sign_of(separator) if separator else " ") if columns else None


def _constant_source(fields: Fields, diagnostics: Diagnostics) -> ValueSource | None:
    text = fields.read("value", read_filled)
    return Constant(text) if text else None


_SOURCES: dict[str, Callable[[Fields, Diagnostics], ValueSource | None]] = {
    "column": _columns_source,
    "join": _joined_source,
    "value": _constant_source,
}


def _read_columns(node: Node, name: str, diagnostics: Diagnostics) -> tuple[Text, ...] | None:
    texts = read_texts(node, name, diagnostics)
    blank = [text for text in texts or () if not text.value.strip()]
    for text in blank:
        diagnostics.error("wrong-type", f"{name} is blank", 'name a column, or give its letter as "=C"', text.place)
    return None if blank else texts


# --- value tables -------------------------------------------------------------------------------


class OtherwiseWord(StrEnum):
    ERROR = "error"
    KEEP = "keep"
    BLANK = "blank"


def _read_table(fields: Fields, diagnostics: Diagnostics) -> ValueTable | None:
    lines = fields.read("values", _read_lines)
    if lines is None:
        return None
    entries: dict[str, TableEntry] = {}
    for line in lines:
        _add_entry(entries, line, diagnostics)
    otherwise: Otherwise | Text = fields.read("otherwise", _read_otherwise) or Otherwise.ERROR
    if isinstance(otherwise, Text):
        return ValueTable(tuple(entries.values()), Otherwise.VALUE, otherwise, fields.key("values").place)
    return ValueTable(tuple(entries.values()), otherwise, None, fields.key("values").place)


def _read_lines(node: Node, name: str, diagnostics: Diagnostics) -> tuple[TableEntry, ...] | None:
    """The lines of a table, inline or in a CSV file."""
    if isinstance(node, Text) and node.value.strip():
        return read_table_file(node, diagnostics)
    mapping = read_fields_node(node, name, diagnostics)
    if mapping is None:
        return None
    read = [(pair.key, read_text(pair.value, f"'{pair.key}' under values", diagnostics)) for pair in mapping.pairs]
    return tuple(TableEntry(cell, target) for cell, target in read if target is not None)


def read_fields_node(node: Node, name: str, diagnostics: Diagnostics) -> MappingNode | None:
    """Keys and values whose keys are anything."""
    if isinstance(node, MappingNode):
        return node
    message, hint = f"{name} must be keys and values", "write what the cell says: what it stands for"
    diagnostics.error("wrong-type", message, hint, node.place)
    return None


def _add_entry(entries: dict[str, TableEntry], entry: TableEntry, diagnostics: Diagnostics) -> None:
    first = entries.setdefault(normalize(entry.cell.value), entry)
    if first.target.value != entry.target.value:
        message = f"'{first.cell}' and '{entry.cell}' are the same text and stand for different values"
        hint = f"keep one; the other is in line {first.cell.place.line}"
        diagnostics.error("values-collide", message, hint, entry.cell.place)


def _read_otherwise(node: Node, name: str, diagnostics: Diagnostics) -> Otherwise | Text | None:
    if isinstance(node, MappingNode):
        fields = Fields(node, name, diagnostics).only(("value",))
        return fields.require("value", read_filled, "write otherwise: {value: ...}")
    word = read_word(OtherwiseWord)(node, name, diagnostics)
    return Otherwise(word.value) if word else None
