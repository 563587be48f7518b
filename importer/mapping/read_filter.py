"""Reads a filter: rows whose column says, or does not say, one of a few words."""

from __future__ import annotations

from importer.mapping.findings import Findings
from importer.mapping.model import Filter
from importer.mapping.nodes import Node
from importer.mapping.shape import Fields, read_fields, read_filled, read_texts

FILTER_KEYS = ("column", "is", "is_not")


def read_filter(node: Node, name: str, findings: Findings) -> Filter | None:
    """The filter; None where it is wrong, and told."""
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    return filter_of(fields.only(FILTER_KEYS), findings)


def filter_of(fields: Fields, findings: Findings) -> Filter | None:
    """The filter that the keys of these fields say."""
    column = fields.require("column", read_filled, "name the column to filter by")
    words, unwanted = fields.read("is", read_texts), fields.read("is_not", read_texts)
    if fields.has("is") == fields.has("is_not"):
        name = fields.name
        message = f"{name} has is and is_not" if fields.has("is") else f"{name} has neither is nor is_not"
        findings.mistake("where-words", message, "keep one of them, with a list of words", fields.place)
        return None
    found = words if words is not None else unwanted
    if column is None or found is None:
        return None
    return Filter(column, tuple(text.value for text in found), negated=unwanted is not None)
