"""Reads a value table that lies in a CSV file beside the mapping file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from importer.mapping.findings import Findings
from importer.mapping.model import TableEntry, Text
from importer.mapping.other_files import first_bytes, named_file
from importer.models import LinePlace
from importer.text.normalize import normalize

HEADER = ("cell", "value")
MAX_BYTES = 5_000_000
_HINT = "its first line must be cell,value: what the cell says, and what it stands for; save it as UTF-8"


def read_table_file(name: Text, findings: Findings) -> tuple[TableEntry, ...]:
    """The lines of the table; what is wrong with it is told, at the mapping's line or the table's own.

    The file is named from the folder of the mapping file; its two columns are separated by a comma or a semicolon.
    """
    path = named_file(name, findings)
    if path is None:
        return ()
    try:
        content = first_bytes(path, MAX_BYTES + 1)
        text = content[:MAX_BYTES].decode("utf-8-sig")
    except OSError as error:
        message = f"the value table '{name}' cannot be read: {(error.strerror or str(error)).lower()}"
        findings.mistake("table-unreadable", message, "name it from the folder of this mapping file", name.place)
        return ()
    except UnicodeDecodeError:
        findings.mistake("table-unreadable", f"the value table '{name}' is no UTF-8", _HINT, name.place)
        return ()
    if len(content) > MAX_BYTES:
        message = f"the value table '{name}' is larger than {MAX_BYTES:,} bytes"
        findings.mistake("table-unreadable", message, "give a smaller one", name.place)
        return ()
    return tuple(_entries(path, text, name, findings))


def _entries(path: Path, text: str, name: Text, findings: Findings) -> Iterator[TableEntry]:
    lines = text.splitlines(keepends=True)
    delimiter = ";" if lines and ";" in lines[0] else ","
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        header = tuple(normalize(cell) for cell in next(reader, []))
        if header != HEADER:
            findings.mistake("table-header", f"the value table '{name}' has no header cell,value", _HINT, name.place)
            return
        for cells in reader:
            place = LinePlace(str(path), reader.line_num, 1, (lines[reader.line_num - 1]).rstrip("\r\n"))
            if len(cells) == len(HEADER):
                yield TableEntry(Text(cells[0], place), Text(cells[1], place))
            elif any(cells):
                message = f"the line has {len(cells)} cells and not 2"
                findings.mistake("table-line", message, "quote a cell that holds the delimiter", place)
    except csv.Error as error:
        findings.mistake("table-unreadable", f"the value table '{name}' is no CSV: {error}", _HINT, name.place)
