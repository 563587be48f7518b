"""The other files that a mapping takes in: which it may name, `extends`, value tables, and one file with all of it."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from importer.errors import UnusableInput
from importer.mapping.nodes import Items, Keys, Node, Reading, Text, read_nodes
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


def _named_file(name: Text, reading: Reading) -> Path | None:
    """The file that a mapping file names, from the folder that it lies in; None where it may not, and reported."""
    path = _beside(name)
    if lies_within(path, [reading.folder]):
        return path
    reading.error("file-outside", f"'{name}' does not lie below this mapping's folder", OUTSIDE_HINT, name.place)
    return None


def _beside(name: Text) -> Path:
    return Path(name.place.file).parent / name


# --- a shared part that is laid below a file ----------------------------------------------------

# In these sections the file's own keys are laid over those of the shared part, one by one; all else is replaced whole.
_LAID_OVER = ("source", "defaults", "candidate", "answers")
_MAX_CHAIN = 20


def read_extended(path: Path, reading: Reading) -> Node:
    """The nodes of a mapping file, with those of the shared part that it extends, and that one's, below it.

    Raises:
        UnusableInput: a file cannot be read, lies elsewhere than below the folder, or extends itself in the end.
    """
    return _read_over(path, (), reading)


def _read_over(path: Path, above: tuple[Path, ...], reading: Reading) -> Node:
    node = read_nodes(path, reading)
    if not isinstance(node, Keys):
        return node
    shared = node.value("extends")
    if not isinstance(shared, Text) or not shared.strip():
        return _without(node, node, reading)
    base = _named_file(shared, reading)
    if base is None:
        reading.raise_errors()
        raise AssertionError("a shared part was refused without being reported")
    chain = (*above, path.resolve())
    if len(chain) == _MAX_CHAIN:
        message, hint = f"more than {_MAX_CHAIN} files extend one another", "bring some of them together"
        raise UnusableInput(Problem("extends-deep", message, hint, shared.place))
    if base.resolve() in chain:
        message, hint = f"'{shared}' extends this file in turn", "take extends: out of one of them"
        raise UnusableInput(Problem("extends-itself", message, hint, shared.place))
    try:
        below = _read_over(base, chain, reading)
    except UnusableInput as error:
        if base.is_file():
            raise
        message, hint = f"there is no file '{shared}'", "name it from the folder of this mapping file"
        raise UnusableInput(Problem("extends-missing", message, hint, shared.place)) from error
    return _without(_laid_over(node, below), node, reading) if isinstance(below, Keys) else below


def _laid_over(own: Keys, below: Keys) -> Keys:
    merged = _replaced(own, below)
    merged.update((key, below[key]) for key in below if key in ("extends", "without"))  # left there to be reported
    for name in _LAID_OVER:
        mine, shared = own.value(name), below.value(name)
        if isinstance(mine, Keys) and isinstance(shared, Keys):
            merged[own.key(name)] = _replaced(mine, shared)
    return merged


def _replaced(own: Keys, below: Keys) -> Keys:
    pairs = {key: (key, value) for key, value in below.items()} | {key: (key, value) for key, value in own.items()}
    return Keys(pairs.values(), own.place, own.name)


def _without(node: Keys, own: Keys, reading: Reading) -> Keys:
    """The nodes without the answers that `without` names, and without these keys where they are sound."""
    given = own.value("without")
    items = given if isinstance(given, Items) else [given] if given is not None else []
    unwanted = [text for text in items if isinstance(text, Text)]
    answers = node.value("answers")
    sound = [key for key in ("extends", "without") if not _is_broken(node.value(key), key)]
    left = Keys([(key, value) for key, value in node.items() if key not in sound], node.place, node.name)
    if isinstance(answers, Keys) and unwanted:
        for text in unwanted:
            if text not in answers:
                message = f"the shared part has no answer '{text}'"
                reading.error("without-unknown", message, "take it out of without:", text.place)
        kept = [(key, value) for key, value in answers.items() if key not in unwanted]
        key = left.key("answers")
        left[key] = Keys(kept, answers.place, answers.name)
        if not kept:  # a talent pool takes no answers, not even none
            del left[key]
    return left


def _is_broken(node: Node | None, key: str) -> bool:
    if key == "extends":
        return node is not None and not (isinstance(node, Text) and node.strip())
    texts = node if isinstance(node, Items) else [node]
    return node is not None and (not texts or not all(isinstance(text, Text) for text in texts))


# --- value tables in a CSV file -----------------------------------------------------------------

_TABLE_HEADER = ("cell", "value")
_MAX_TABLE_BYTES = 5_000_000
_TABLE_HINT = "its first line must be cell,value: what the cell says, and what it stands for; save it as UTF-8"


class TableEntry(NamedTuple):
    """One line of a value table: what the cell says, and what it stands for."""

    cell: Text
    target: Text


def read_table_file(name: Text, reading: Reading) -> tuple[TableEntry, ...]:
    """The lines of the table; what is wrong with it is reported, at the mapping's line or the table's own.

    The file is named from the folder of the mapping file; its two columns are separated by a comma or a semicolon.
    """
    path = _named_file(name, reading)
    if path is None:
        return ()
    try:
        content = reading.content(path, _MAX_TABLE_BYTES + 1)
        text = content[:_MAX_TABLE_BYTES].decode("utf-8-sig")
    except OSError as error:
        message = f"the value table '{name}' cannot be read: {(error.strerror or str(error)).lower()}"
        reading.error("table-unreadable", message, "name it from the folder of this mapping file", name.place)
        return ()
    except UnicodeDecodeError:
        reading.error("table-unreadable", f"the value table '{name}' is no UTF-8", _TABLE_HINT, name.place)
        return ()
    if len(content) > _MAX_TABLE_BYTES:
        message = f"the value table '{name}' is larger than {_MAX_TABLE_BYTES:,} bytes"
        reading.error("table-unreadable", message, "give a smaller one", name.place)
        return ()
    return tuple(_entries(path, text, name, reading))


def _entries(path: Path, text: str, name: Text, reading: Reading) -> Iterator[TableEntry]:
    lines = text.splitlines(keepends=True)
    delimiter = ";" if lines and ";" in lines[0] else ","
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        if tuple(normalize(cell) for cell in next(rows, [])) != _TABLE_HEADER:
            message = f"the value table '{name}' has no header cell,value"
            reading.error("table-header", message, _TABLE_HINT, name.place)
            return
        for cells in rows:
            place = LinePlace(str(path), rows.line_num, 1, (lines[rows.line_num - 1]).rstrip("\r\n"))
            if len(cells) == len(_TABLE_HEADER):
                yield TableEntry(Text(cells[0], place), Text(cells[1], place))
            elif any(cells):
                message = f"the line has {len(cells)} cells and not 2"
                reading.error("table-line", message, "quote a cell that holds the delimiter", place)
    except csv.Error as error:
        reading.error("table-unreadable", f"the value table '{name}' is no CSV: {error}", _TABLE_HINT, name.place)


# --- one file with all of it --------------------------------------------------------------------


def bundled(path: Path, node: Node, reading: Reading) -> bytes:
    """The file's own bytes where it was read alone; else one file with its shared part and value tables taken in.

    Nothing is read a second time: these are the bytes that the mapping was made from.
    """
    if len(reading.contents) == 1:
        return reading.contents[path]
    # JSON is YAML too, and every text in quotes is read as the text that it is.
    taken_in = json.dumps(_taken_in(node, reading), ensure_ascii=False, indent=1)
    return f"# A copy of {path.name} with all that it takes from other files.\n{taken_in}\n".encode()


def _names_table(value: Text, around: Keys, reading: Reading) -> bool:
    """Whether it is the name of a table, and not the column of a question whose key is `values`."""
    return ("column" in around or "join" in around) and _beside(value) in reading.contents


def _taken_in(node: Node, reading: Reading) -> Any:
    if isinstance(node, Text):
        return str(node)
    if isinstance(node, Items):
        return [_taken_in(item, reading) for item in node]
    return {
        str(key): {str(entry.cell): str(entry.target) for entry in read_table_file(value, reading)}
        if key == "values" and isinstance(value, Text) and _names_table(value, node, reading)
        else _taken_in(value, reading)
        for key, value in node.items()
    }
