"""Writes a mapping file as one file that needs no other: for the copy that a run keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from importer.mapping.findings import Findings
from importer.mapping.inheritance import EXTENDS, read_extended
from importer.mapping.model import Text
from importer.mapping.nodes import ListNode, MappingNode, Node, read_nodes
from importer.mapping.table_file import read_table_file

_TABLE = "values"


def self_contained(path: Path) -> bytes:
    """The file itself where it stands alone; else one with its shared part and its value tables taken in.

    Raises:
        UnusableInput: the file cannot be read.
    """
    own = read_nodes(path)
    if isinstance(own, MappingNode) and not _leans_on_others(own):
        return path.read_bytes()
    # JSON is YAML too, and every text in quotes is read as the text that it is.
    findings = Findings(path.parent)
    taken_in = json.dumps(_plain(read_extended(path, findings), findings), ensure_ascii=False, indent=1)
    findings.refuse_mistakes()
    return f"# A copy of {path.name} with all that it takes from other files.\n{taken_in}\n".encode()


def _leans_on_others(node: Node) -> bool:
    if isinstance(node, ListNode):
        return any(_leans_on_others(item) for item in node.items)
    if not isinstance(node, MappingNode):
        return False
    return any(
        pair.key.value == EXTENDS or _names_table(pair.key, pair.value) or _leans_on_others(pair.value)
        for pair in node.pairs
    )


def _names_table(key: Text, value: Node) -> bool:
    if key.value != _TABLE or not isinstance(value, Text) or not value.value.strip():
        return False
    return (Path(value.place.file).parent / value.value).is_file()


def _plain(node: Node, findings: Findings) -> Any:
    if isinstance(node, Text):
        return node.value
    if isinstance(node, ListNode):
        return [_plain(item, findings) for item in node.items]
    plain: dict[str, Any] = {}
    for pair in node.pairs:
        if _names_table(pair.key, pair.value) and isinstance(pair.value, Text):
            plain[pair.key.value] = {
                entry.cell.value: entry.target.value for entry in read_table_file(pair.value, findings)
            }
        else:
            plain[pair.key.value] = _plain(pair.value, findings)
    return plain
