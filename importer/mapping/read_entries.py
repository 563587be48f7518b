"""Reads the entries form of an answer: education or experience from column groups."""

from __future__ import annotations

from enum import StrEnum

from importer.mapping.findings import Findings
from importer.mapping.model import PLACEHOLDER, EntriesSpec, EntryField, EntryKind, NumberedGroups, Text
from importer.mapping.nodes import MappingNode, Node
from importer.mapping.read_values import read_end_value, read_value
from importer.mapping.shape import Fields, read_fields, read_text, read_word

ENTRY_FIELDS: dict[EntryKind, tuple[str, ...]] = {
    EntryKind.EDUCATION: ("school_name", "degree", "major", "start_date", "end_date", "currently_pursuing"),
    EntryKind.EXPERIENCE: (
        "company_name", "position_title", "employment_type", "start_date", "end_date", "currently_employed",
    ),
}  # fmt: skip
_REPEAT_HINT = f'write repeat: "{PLACEHOLDER}", and {PLACEHOLDER} in each column name'


class First(StrEnum):
    UNNUMBERED = "unnumbered"


def entry_kind_of(node: Node) -> EntryKind | None:
    """The kind of entries where a node is of that form: its only key is `education` or `experience`."""
    if isinstance(node, MappingNode) and len(node.pairs) == 1:
        key = node.pairs[0].key.value
        return EntryKind(key) if key in ENTRY_FIELDS else None
    return None


def read_entries(node: Node, kind: EntryKind, findings: Findings) -> EntriesSpec | None:
    """The entries of one question; None where they are wrong, and told. The node is of the entries form."""
    outer = read_fields(node, "answer", findings)
    fields = outer.read(kind, read_fields) if outer else None
    if fields is None:
        return None
    names = ENTRY_FIELDS[kind]
    fields.only(("repeat", *names))
    fields.require(names[0], lambda *_: True, "each entry needs its name")
    values = [_read_field(fields, name) for name in names if fields.has(name)]
    groups = fields.read("repeat", _read_repeat)
    return EntriesSpec(kind, groups, tuple(value for value in values if value is not None), fields.place)


def _read_field(fields: Fields, name: str) -> EntryField | None:
    value = fields.read(name, read_end_value if name == "end_date" else read_value)
    return EntryField(fields.key(name), value) if value else None


def _read_repeat(node: Node, name: str, findings: Findings) -> NumberedGroups | None:
    if isinstance(node, Text):
        return _numbered(node, first_unnumbered=False, findings=findings)
    if not isinstance(node, MappingNode) or [pair.key.value for pair in node.pairs] == ["n"]:
        findings.mistake("wrong-type", "repeat must be a text or keys", _REPEAT_HINT, node.place)
        return None
    fields = Fields(node, name, findings).only(("number", "first"))
    first = fields.read("first", read_word(First))
    number = fields.read("number", read_text) or Text(PLACEHOLDER, node.place)
    return _numbered(number, first_unnumbered=first is not None, findings=findings)


def _numbered(text: Text, *, first_unnumbered: bool, findings: Findings) -> NumberedGroups | None:
    if text.value != PLACEHOLDER:
        findings.mistake("repeat-form", f"'{text.value}' is no form of repeat", _REPEAT_HINT, text.place)
        return None
    return NumberedGroups(first_unnumbered, text.place)
