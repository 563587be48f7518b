"""Reads a mapping file or a folder of mapping files, and reports all errors together, each at its line and column."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from importer.mapping.examples import TEST_ROWS
from importer.mapping.model import Mapping, MappingFile, mapping_of
from importer.mapping.nodes import Diagnostics, Items, Keys, Node, Reader, Text, read_nodes, relative_path, texts_in
from importer.mapping.scalars import table_file_lines
from importer.mapping.tables import Filter, GroupBy
from importer.problems import FilePlace, LinePlace, Problem, UnusableInput
from importer.text.normalize import normalize, normalize_name


def read_mapping(path: Path, elsewhere: str | None = None) -> Mapping:
    """Read a mapping file; columns and questions are not looked up yet (see `resolve`).

    elsewhere: further folders, separated as in PATH, that may contain the files it names.

    Raises UnusableInput: with every error of the file, each at its line and column, in the order of the file.
    """
    allowed = (Path(folder) for folder in (elsewhere or "").split(os.pathsep) if folder)
    reading = Reader((path.parent, *allowed))
    node = read_extended(path, reading)
    file = MappingFile.read(node, reading)
    return mapping_of(file, path, reading.folders, bundled(path, node, reading), unreviewed(reading))


_MARK = re.compile(r"\s*(?:[^\s#].*\s)?(#\s*please check\b)", re.IGNORECASE)
_SHOWN = 5  # marks


def unreviewed(reading: Reader) -> Problem | None:
    """The marks that `mapping new` leaves at what it is not sure of, until a person removes them."""
    places = [
        LinePlace(str(path), number, found.start(1) + 1, line)
        for path, content in reading.contents.items()
        for number, line in enumerate(content.decode("utf-8-sig", "replace").splitlines(), start=1)
        if (found := _MARK.match(line))
    ]
    if not places:
        return None
    own = [str(place.line) for place in places if place.file == places[0].file]
    shared = [f"{Path(place.file).name}:{place.line}" for place in places if place.file != places[0].file]
    listed = ", ".join([*own, *shared][:_SHOWN]) + (", ..." if len(places) > _SHOWN else "")
    lines = f"1 line is marked 'please check': {listed}"
    if len(places) > 1:
        lines = f"{len(places):,} lines are marked 'please check': {listed}"
    hint = "check each of them, and remove its mark when it is right; the real service gets nothing before that"
    return Problem("mapping-unreviewed", lines, hint, places[0])


# --- shared files (extends:) --------------------------------------------------------------------

# In these sections, single keys override those of the shared file; every other key is replaced as a whole.
_MERGED_SECTIONS = ("source", "defaults", "candidate", "answers")
_MAX_CHAIN = 20


def read_extended(path: Path, reading: Reader, above: tuple[Path, ...] = ()) -> Node:
    """The nodes of a mapping file, merged with those of the shared files that it extends.

    above: the files that extend this one.

    Raises UnusableInput: a file cannot be read, is outside the allowed folders, or the files extend one another in a
    circle.
    """
    node = read_nodes(path, reading)
    if not isinstance(node, Keys):
        return node
    shared = node.value("extends")
    if not isinstance(shared, Text) or not shared.strip():
        return _without(node, node, reading)
    base = reading.named_file(shared)
    reading.raise_errors()
    assert base is not None, "a file outside the allowed folders was not reported"
    chain = (*above, path.resolve())
    if len(chain) == _MAX_CHAIN:
        message, hint = f"more than {_MAX_CHAIN} files extend one another", "merge some of them"
        reading.raise_error("extends-invalid", message, hint, shared.place)
    if base.resolve() in chain:
        message, hint = f"'{shared}' and this file extend each other", "remove extends: from one of them"
        reading.raise_error("extends-invalid", message, hint, shared.place)
    try:
        below = read_extended(base, reading, chain)
    except UnusableInput:
        if base.is_file():
            raise
        message, hint = f"the file '{shared}' does not exist", "give its path relative to the folder of this mapping"
        reading.raise_error("extends-invalid", message, hint, shared.place)
    return _without(_merged(node, below), node, reading) if isinstance(below, Keys) else below


def _merged(own: Keys, below: Keys) -> Keys:
    merged = _replaced(own, below)
    merged.update(
        (key, below[key]) for key in below if key in ("extends", "without")
    )  # kept, so that they are reported
    for name in _MERGED_SECTIONS:
        mine, shared = own.value(name), below.value(name)
        if isinstance(mine, Keys) and isinstance(shared, Keys):
            merged[own.key(name)] = _replaced(mine, shared)
    return merged


def _replaced(own: Keys, below: Keys) -> Keys:
    pairs = {key: (key, value) for key, value in below.items()} | {key: (key, value) for key, value in own.items()}
    return Keys(pairs.values(), own.place, own.name)


def _without(node: Keys, own: Keys, reading: Reader) -> Keys:
    """The nodes without the answers that `without` names, and without `extends` and `without` if these are valid."""
    unwanted, answers, mine = texts_in(own.value("without")), node.value("answers"), own.value("answers")
    valid = [key for key in ("extends", "without") if not _is_broken(node.value(key), key)]
    left = Keys([(key, value) for key, value in node.items() if key not in valid], node.place, node.name)
    if isinstance(answers, Keys) and unwanted:
        for text in unwanted:
            if isinstance(mine, Keys) and text in mine:
                message = f"this file has an answer '{text}' of its own"
                reading.error("without-answer-unknown", message, "remove it from without:", text.place)
            elif text not in answers:
                message = f"the shared file has no answer '{text}'"
                reading.error("without-answer-unknown", message, "remove it from without:", text.place)
        kept = [(key, value) for key, value in answers.items() if key not in unwanted]
        key = left.key("answers")
        left[key] = Keys(kept, answers.place, answers.name)
        if not kept:  # a talent pool does not allow answers:, even if it is empty
            del left[key]
    return left


def _is_broken(node: Node | None, key: str) -> bool:
    if key == "extends":
        return node is not None and not (isinstance(node, Text) and node.strip())
    texts = node if isinstance(node, Items) else [node]
    return node is not None and (not texts or not all(isinstance(text, Text) for text in texts))


# --- one file without references --------------------------------------------------------------


def bundled(path: Path, node: Node, reading: Reader) -> bytes:
    """The bytes of the file; if it names other files, one file with its shared files and value tables inlined.

    Nothing is read a second time, so this is exactly what the mapping was made from.
    """
    if len(reading.contents) == 1:
        return reading.contents[path]
    lines = "\n".join(_lines(_inlined(node, reading)))
    return f"# A copy of {path.name} with the contents of the files that it names.\n{lines}\n".encode()


def _lines(node: dict[str, Any], indent: str = "") -> Iterator[str]:
    """YAML in which every text is quoted as in JSON, so that it is read as a text; in blocks, which can be edited."""
    for key, value in node.items():
        written = f"{indent}{json.dumps(key, ensure_ascii=False)}:"
        if isinstance(value, dict) and value:
            yield written
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{written} {json.dumps(value, ensure_ascii=False)}"


def _names_table(value: Text, around: Keys, reading: Reader) -> bool:
    """Whether `values` names a table file, and is not the key of a question."""
    return ("column" in around or "join" in around) and relative_path(value) in reading.contents


def _inlined(node: Node, reading: Reader) -> Any:
    if isinstance(node, Text):
        return str(node)
    if isinstance(node, Items):
        return [_inlined(item, reading) for item in node]
    return {
        str(key): {str(entry.cell): str(entry.target) for entry in table_file_lines(value, reading)}
        if key == "values" and isinstance(value, Text) and _names_table(value, node, reading)
        else _inlined(value, reading)
        for key, value in node.items()
    }


# --- a folder of mappings: one export with rows for several targets ------------------------------

_ENDINGS = (".yaml", ".yml")
_SHARED_PREFIX = "_"  # shared files, which are not mappings of their own


def mappings_in(folder: Path) -> list[Path]:
    """The mapping files of a folder, sorted by name; one whose name begins with _ is a shared file."""
    files = (path for path in folder.iterdir() if path.suffix in _ENDINGS and not path.name.endswith(TEST_ROWS))
    return sorted(file for file in files if not file.name.startswith(_SHARED_PREFIX))


def read_mappings(folder: Path, elsewhere: str | None = None) -> tuple[Mapping, ...]:
    """The mappings of a folder, see `mappings_in`.

    elsewhere: as in `read_mapping`.

    Raises UnusableInput: with every error of every file; also if a file has no route, or two files select the same
    rows, have the same target, use different route columns or read the source differently.
    """
    diagnostics = Diagnostics()
    mappings: list[Mapping] = []
    for path in mappings_in(folder):
        try:
            mappings.append(read_mapping(path, elsewhere))
        except UnusableInput as error:
            diagnostics.errors += error.problems
    diagnostics.raise_errors()
    if not mappings:
        message, hint = "this folder contains no mapping file", "add a file NAME.yaml for each job post"
        diagnostics.raise_error("mapping-unreadable", message, hint, FilePlace(str(folder)))
    _report_conflicts(mappings, diagnostics)
    diagnostics.raise_errors()
    return tuple(mappings)


def _report_conflicts(mappings: Sequence[Mapping], diagnostics: Diagnostics) -> None:
    first = mappings[0]
    owners: dict[str, Mapping] = {}
    targets: dict[str, Mapping] = {}
    for mapping in mappings:
        if mapping.route is None:
            hint = "add route: {column: ..., is: ...} to select its rows"
            diagnostics.error("route-missing", "the mapping has no route", hint, FilePlace(str(mapping.path)))
            continue
        column = mapping.route.column
        if first.route and normalize_name(column) != normalize_name(first.route.column):
            message = f"the route uses the column '{column}', but {first.path.name} uses '{first.route.column}'"
            hint = "use the same column in all files of the folder"
            diagnostics.error("route-differs", message, hint, column.place)
        if mapping.group_by is not None and mapping.group_by.blank:
            message = "with route:, every row needs the key of its candidate: its rows could go to several targets"
            hint = "fill the key and the value of the route in every row, and remove `blank: continues`"
            diagnostics.error("route-condition-invalid", message, hint, mapping.group_by.place)
        for what in ("source", "where", "group_by"):  # with others, a row could be left out by all of them
            theirs, ours = (
                one.model_dump(warnings=False) if isinstance(one, Filter | GroupBy) else one
                for one in (getattr(first, what), getattr(mapping, what))
            )
            if theirs != ours:
                message = f"{what}: differs from {what}: in {first.path.name}"
                hint = "put source: into a shared file that both extend; import one that needs another by itself"
                diagnostics.error("route-differs", message, hint, FilePlace(str(mapping.path)))
        for word in mapping.route.words:
            owner = owners.setdefault(normalize(word), mapping)
            if owner is not mapping:
                message = f"{owner.path.name} also selects rows with '{word}'"
                diagnostics.error("route-overlap", message, "keep the value in one of them", column.place)
        other = targets.setdefault(str(mapping.target), mapping)
        if other is not mapping:
            message = f"{mapping.target} is also the target of {other.path.name}"
            hint = "combine the values of both routes in one file"
            diagnostics.error("route-target-duplicate", message, hint, mapping.target_place)
