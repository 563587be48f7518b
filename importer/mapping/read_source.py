"""Reads how the source is read, which of its rows count, and which of them are one candidate."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from importer.mapping.findings import Findings
from importer.mapping.model import Filter, GroupBy, Text
from importer.mapping.nodes import Node
from importer.mapping.read_filter import read_filter
from importer.mapping.read_rows import read_row_numbers
from importer.mapping.shape import Fields, read_fields, read_filled, read_number, read_text, read_texts, read_word
from importer.models import SourceOptions

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


def read_source(node: Node, name: str, findings: Findings) -> SourceSection | None:
    """The section `source:`; None where it is no mapping, and told."""
    fields = read_fields(node, name, findings)
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


def _read_encoding(node: Node, name: str, findings: Findings) -> Text | None:
    text = read_filled(node, name, findings)
    if text is None:
        return None
    try:
        "".encode(text.value)
    except (LookupError, ValueError):
        message, hint = f"'{text.value}' is no encoding", "use one such as utf-8, cp1254, cp1252 or utf-16"
        findings.mistake("unknown-encoding", message, hint, text.place)
        return None
    return text


_DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def _read_delimiter(node: Node, name: str, findings: Findings) -> str | None:
    text = read_text(node, name, findings)
    if text is None:
        return None
    sign = _DELIMITER_WORDS.get(text.value.casefold(), text.value)
    if len(sign) != 1 or sign.isalnum() or sign in '"\r\n':
        message, hint = f"'{text.value}' is no delimiter", 'give one sign in quotes, as ";" or "tab"'
        findings.mistake("unknown-sign", message, hint, text.place)
        return None
    return sign


# --- rows of one candidate ----------------------------------------------------------------------


class BlankWord(StrEnum):
    CONTINUES = "continues"


def _read_group_by(node: Node, name: str, findings: Findings) -> GroupBy | None:
    if isinstance(node, Text):
        column = read_filled(node, name, findings)
        return GroupBy(column, blank_continues=False, main=None, place=node.place) if column else None
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(GROUP_KEYS)
    key = fields.require("column", read_filled, "name the column that says the same in all rows of a candidate")
    blank = fields.read("blank", read_word(BlankWord))
    main = fields.read("main", read_filter)
    return GroupBy(key, blank is not None, main, fields.place) if key else None
