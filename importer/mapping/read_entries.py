"""Reads the entries form of an answer: education or experience, where it comes from and what its fields are."""

from __future__ import annotations

from importer.mapping.findings import Findings
from importer.mapping.model import EntriesSpec, EntryField, EntryKind, EntryOrder
from importer.mapping.nodes import MappingNode, Node
from importer.mapping.read_entry_source import ENTRY_SOURCES, read_entry_source
from importer.mapping.read_values import read_end_value, read_value
from importer.mapping.shape import Fields, read_fields, read_word

# In the order in which they are sent: the first names the entry, the last says that it goes on.
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


def read_entries(node: Node, kind: EntryKind, findings: Findings) -> EntriesSpec | None:
    """The entries of one question; None where they are wrong, and told. The node is of the entries form."""
    outer = read_fields(node, "answer", findings)
    fields = outer.read(kind, read_fields) if outer else None
    if fields is None:
        return None
    names = ENTRY_FIELDS[kind]
    fields.only((*ENTRY_SOURCES, *names, "order"))
    fields.require(names[0], lambda *_: True, "each entry needs its name")
    values = [_read_field(fields, name) for name in names if fields.has(name)]
    source = read_entry_source(fields, findings)
    order = fields.read("order", read_word(EntryOrder)) or EntryOrder.KEPT
    if source is None:
        return None
    return EntriesSpec(kind, source, tuple(value for value in values if value is not None), order, fields.place)


def _read_field(fields: Fields, name: str) -> EntryField | None:
    value = fields.read(name, read_end_value if name == "end_date" else read_value)
    return EntryField(fields.key(name), value) if value else None
