"""Reads which rows of a sheet belong to its table: rows to leave out, where it stops, what of hidden ones."""

from __future__ import annotations

import re

from importer.mapping.findings import Findings
from importer.mapping.nodes import Node
from importer.mapping.shape import read_texts

_RANGE = re.compile(r"([1-9][0-9]{0,6})(?:\s*-\s*([1-9][0-9]{0,6}))?")
_MOST = 10_000  # rows that one mapping may leave out by number


def read_row_numbers(node: Node, name: str, findings: Findings) -> tuple[int, ...] | None:
    """Row numbers as a spreadsheet program shows them, single ones and ranges: `[2, 4-6]`."""
    texts = read_texts(node, name, findings)
    if texts is None:
        return None
    numbers: set[int] = set()
    for text in texts:
        found = _RANGE.fullmatch(text.value.strip())
        first = int(found[1]) if found else 0
        last = int(found[2] or first) if found else 0
        if not 0 < first <= last < first + _MOST:
            message, hint = f"'{text.value}' is no row number and no range of them", "write it like 2 or 4-6"
            findings.mistake("no-row-number", message, hint, text.place)
            return None
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))
