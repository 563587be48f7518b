"""The other files that a mapping takes in: which it may name, `extends`, value tables, and one file with all of it."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from importer.errors import UnusableInput
from importer.mapping.diagnostics import Diagnostics
from importer.mapping.model import TableEntry, Text
from importer.mapping.nodes import ListNode, MappingNode, Node, Pair, first_bytes, read_nodes
from importer.mapping.scalars import read_filled, read_texts
from importer.models import LinePlace, Problem
from importer.settings import load_settings
from importer.text.normalize import normalize

OUTSIDE_HINT = "put it there, or name its folder in the setting IMPORTER_MAPPING_FOLDERS"


def lies_within(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies below one of the folders, or of those of IMPORTER_MAPPING_FOLDERS, links followed.

    What is no path at all lies nowhere.
    """
    try:
        real = path.resolve()
        if any(real.is_relative_to(folder.resolve()) for folder in folders):
            return True
        allowed = load_settings().mapping_folders or ""
        return any(real.is_relative_to(Path(folder).resolve()) for folder in allowed.split(os.pathsep) if folder)
    except (OSError, RuntimeError, ValueError):  # links in a circle; a NUL
        return False


def named_file(name: Text, diagnostics: Diagnostics) -> Path | None:
    """The file that a mapping file names, from the folder that it lies in; None where it may not, and told."""
    beside = Path(name.place.file).parent
    if lies_within(beside / name.value, [diagnostics.folder or beside]):
        return beside / name.value
    diagnostics.error("file-outside", f"'{name}' does not lie below this mapping's folder", OUTSIDE_HINT, name.place)
    return None


# In these sections the file's own keys are laid over those of the shared part, one by one; all else is replaced whole.
LAID_OVER = ("source", "defaults", "candidate", "answers")
EXTENDS, WITHOUT = "extends", "without"
MAX_CHAIN = 20


def read_extended(path: Path, diagnostics: Diagnostics) -> Node:
    """The nodes of a mapping file, with those of the shared part that it extends, and that one's, below it.

    Raises:
        UnusableInput: a file cannot be read, lies elsewhere than the diagnostics' folder, or extends itself in the end.
    """
    return _read_over(path, (), diagnostics)


def _read_over(path: Path, above: tuple[Path, ...], diagnostics: Diagnostics) -> Node:
    node = read_nodes(path)
    if not isinstance(node, MappingNode):
        return node
    pairs = {pair.key.value: pair for pair in node.pairs}
    shared = read_filled(pairs[EXTENDS].value, EXTENDS, diagnostics) if EXTENDS in pairs else None
    if shared is None:
        return _without_answers(node, pairs, diagnostics)
    base = named_file(shared, diagnostics)
    if base is None:
        diagnostics.raise_errors()
        raise AssertionError("a shared part was refused without being told")
    chain = (*above, path.resolve())
    if len(chain) == MAX_CHAIN:
        message, hint = f"more than {MAX_CHAIN} files extend one another", "bring some of them together"
        raise UnusableInput(Problem("extends-deep", message, hint, shared.place))
    if base.resolve() in chain:
        message, hint = f"'{shared}' extends this file in turn", "take extends: out of one of them"
        raise UnusableInput(Problem("extends-itself", message, hint, shared.place))
    try:
        below = _read_over(base, chain, diagnostics)
    except UnusableInput as error:
        if base.is_file():
            raise
        message, hint = f"there is no file '{shared}'", "name it from the folder of this mapping file"
        raise UnusableInput(Problem("extends-missing", message, hint, shared.place)) from error
    if not isinstance(below, MappingNode):
        return below
    return _without_answers(_laid_over(node, below), pairs, diagnostics)


def _laid_over(own: MappingNode, below: MappingNode) -> MappingNode:
    merged = {pair.key.value: pair for pair in below.pairs}
    for pair in own.pairs:
        name, under = pair.key.value, merged.get(pair.key.value)
        if name in LAID_OVER and under and isinstance(pair.value, MappingNode) and isinstance(under.value, MappingNode):
            merged[name] = Pair(pair.key, _replaced(pair.value, under.value))
        else:
            merged[name] = pair
    return MappingNode(tuple(merged.values()), own.place)


def _replaced(own: MappingNode, below: MappingNode) -> MappingNode:
    pairs = {pair.key.value: pair for pair in below.pairs} | {pair.key.value: pair for pair in own.pairs}
    return MappingNode(tuple(pairs.values()), own.place)


def _without_answers(node: MappingNode, own: dict[str, Pair], diagnostics: Diagnostics) -> MappingNode:
    """The nodes without extends and without, and without the answers that the latter names."""
    unwanted = (read_texts(own[WITHOUT].value, WITHOUT, diagnostics) if WITHOUT in own else None) or ()
    pairs = []
    for pair in node.pairs:
        if pair.key.value == "answers" and isinstance(pair.value, MappingNode):
            left = _reduced(pair.value, unwanted, diagnostics)
            if left.pairs or not unwanted:  # a talent pool takes no answers, not even none
                pairs.append(Pair(pair.key, left))
        elif pair.key.value not in (EXTENDS, WITHOUT):
            pairs.append(pair)
    return MappingNode(tuple(pairs), node.place)


def _reduced(answers: MappingNode, unwanted: tuple[Text, ...], diagnostics: Diagnostics) -> MappingNode:
    known = {pair.key.value for pair in answers.pairs}
    for text in unwanted:
        if text.value not in known:
            message = f"the shared part has no answer '{text}'"
            diagnostics.error("without-unknown", message, "take it out of without:", text.place)
    names = {text.value for text in unwanted}
    return MappingNode(tuple(pair for pair in answers.pairs if pair.key.value not in names), answers.place)


TABLE_HEADER = ("cell", "value")
MAX_TABLE_BYTES = 5_000_000
_TABLE_HINT = "its first line must be cell,value: what the cell says, and what it stands for; save it as UTF-8"


def read_table_file(name: Text, diagnostics: Diagnostics) -> tuple[TableEntry, ...]:
    """The lines of the table; what is wrong with it is told, at the mapping's line or the table's own.

    The file is named from the folder of the mapping file; its two columns are separated by a comma or a semicolon.
    """
    path = named_file(name, diagnostics)
    if path is None:
        return ()
    try:
        content = first_bytes(path, MAX_TABLE_BYTES + 1)
        text = content[:MAX_TABLE_BYTES].decode("utf-8-sig")
    except OSError as error:
        message = f"the value table '{name}' cannot be read: {(error.strerror or str(error)).lower()}"
        diagnostics.error("table-unreadable", message, "name it from the folder of this mapping file", name.place)
        return ()
    except UnicodeDecodeError:
        diagnostics.error("table-unreadable", f"the value table '{name}' is no UTF-8", _TABLE_HINT, name.place)
        return ()
    if len(content) > MAX_TABLE_BYTES:
        message = f"the value table '{name}' is larger than {MAX_TABLE_BYTES:,} bytes"
        diagnostics.error("table-unreadable", message, "give a smaller one", name.place)
        return ()
    return tuple(_entries(path, text, name, diagnostics))


def _entries(path: Path, text: str, name: Text, diagnostics: Diagnostics) -> Iterator[TableEntry]:
    lines = text.splitlines(keepends=True)
    delimiter = ";" if lines and ";" in lines[0] else ","
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        header = tuple(normalize(cell) for cell in next(reader, []))
        if header != TABLE_HEADER:
            diagnostics.error(
                "table-header", f"the value table '{name}' has no header cell,value", _TABLE_HINT, name.place
            )
            return
        for cells in reader:
            place = LinePlace(str(path), reader.line_num, 1, (lines[reader.line_num - 1]).rstrip("\r\n"))
            if len(cells) == len(TABLE_HEADER):
                yield TableEntry(Text(cells[0], place), Text(cells[1], place))
            elif any(cells):
                message = f"the line has {len(cells)} cells and not 2"
                diagnostics.error("table-line", message, "quote a cell that holds the delimiter", place)
    except csv.Error as error:
        diagnostics.error("table-unreadable", f"the value table '{name}' is no CSV: {error}", _TABLE_HINT, name.place)


_TABLE = "values"


def bundle(path: Path) -> bytes:
    """The file itself where it stands alone; else one with its shared part and its value tables taken in.

    Raises:
        UnusableInput: the file cannot be read.
    """
    own = read_nodes(path)
    if isinstance(own, MappingNode) and not _leans_on_others(own):
        return path.read_bytes()
    # JSON is YAML too, and every text in quotes is read as the text that it is.
    diagnostics = Diagnostics(path.parent)
    taken_in = json.dumps(_taken_in(read_extended(path, diagnostics), diagnostics), ensure_ascii=False, indent=1)
    diagnostics.raise_errors()
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


def _taken_in(node: Node, diagnostics: Diagnostics) -> Any:
    if isinstance(node, Text):
        return node.value
    if isinstance(node, ListNode):
        return [_taken_in(item, diagnostics) for item in node.items]
    plain: dict[str, Any] = {}
    for pair in node.pairs:
        if _names_table(pair.key, pair.value) and isinstance(pair.value, Text):
            plain[pair.key.value] = {
                entry.cell.value: entry.target.value for entry in read_table_file(pair.value, diagnostics)
            }
        else:
            plain[pair.key.value] = _taken_in(pair.value, diagnostics)
    return plain
