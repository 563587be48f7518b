"""Reads how the source is read and which of its rows count."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from importer.mapping.findings import Findings
from importer.mapping.model import Filter, Text
from importer.mapping.nodes import Node
from importer.mapping.read_rows import read_row_numbers
from importer.mapping.shape import read_fields, read_filled, read_number, read_text, read_texts, read_word
from importer.models import SourceOptions

_KEYS = (
    "sheet", "header_row", "header_rows", "skip_rows", "stop_at", "hidden_rows",
    "encoding", "delimiter", "missing", "where",
)  # fmt: skip


class _HiddenRows(StrEnum):
    READ = "read"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class SourceSection:
    """What `source:` says."""

    options: SourceOptions = field(default=SourceOptions())
    missing: tuple[str, ...] = ()
    where: Filter | None = None


def read_source(node: Node, name: str, findings: Findings) -> SourceSection | None:
    """The section `source:`; None where it is no mapping, and told."""
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(_KEYS)
    sheet = fields.read("sheet", read_filled)
    delimiter = fields.read("delimiter", _read_delimiter)
    encoding = fields.read("encoding", _read_encoding)
    missing = fields.read("missing", read_texts) or ()
    stop_at = fields.read("stop_at", read_filled)
    return SourceSection(
        SourceOptions(
            sheet=sheet.value if sheet else None,
            header_row=fields.read("header_row", read_number),
            encoding=encoding.value if encoding else None,
            delimiter=delimiter,
            header_rows=fields.read("header_rows", read_number) or 1,
            skip_rows=fields.read("skip_rows", read_row_numbers) or (),
            stop_at=stop_at.value if stop_at else None,
            hidden_rows="skip" if fields.read("hidden_rows", read_word(_HiddenRows)) is _HiddenRows.SKIP else "read",
        ),
        tuple(text.value for text in missing),
        fields.read("where", _read_where),
    )


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


def _read_where(node: Node, name: str, findings: Findings) -> Filter | None:
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(("column", "is", "is_not"))
    column = fields.require("column", read_filled, "name the column to filter by")
    words, unwanted = fields.read("is", read_texts), fields.read("is_not", read_texts)
    if fields.has("is") == fields.has("is_not"):
        message = "where has is and is_not" if fields.has("is") else "where has neither is nor is_not"
        findings.mistake("where-words", message, "keep one of them, with a list of words", fields.place)
        return None
    found = words if words is not None else unwanted
    if column is None or found is None:
        return None
    return Filter(column, tuple(text.value for text in found), negated=unwanted is not None)
