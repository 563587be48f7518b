"""Reads a mapping file, or a folder of them, and reports every error at once, each at its line and column."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from importer.mapping.model import Mapping, MappingFile, mapping_of
from importer.mapping.nodes import Diagnostics, Items, Keys, Node, Reading, Text, beside, read_nodes, texts_in
from importer.mapping.resolve_values import Header
from importer.mapping.scalars import table_file_lines
from importer.mapping.shapes import report
from importer.problems import Column, FilePlace, LinePlace, Problem, UnusableInput
from importer.text.normalize import normalize, normalize_name


def read_mapping(path: Path, elsewhere: str | None = None) -> Mapping:
    """The mapping file as values; columns and questions are not looked up yet (see `resolve`).

    elsewhere: the folders, as PATH lists them, below which other files that it names may lie, beside its own.

    Raises:
        UnusableInput: with every error of the file, each at its line and column, from the top down.
    """
    allowed = (Path(folder) for folder in (elsewhere or "").split(os.pathsep) if folder)
    reading = Reading((path.parent, *allowed))
    node = read_extended(path, reading)
    file = None
    try:
        file = MappingFile.model_validate(node, context=reading)
    except ValidationError as error:
        report(error, reading)
    files = [str(read) for read in reading.contents]
    reading.errors.sort(key=lambda error: _position(error, files))
    reading.raise_errors()
    if file is None:
        raise AssertionError("a mapping was refused without a word")
    return mapping_of(file, path, reading.folders, bundled(path, node, reading))


def _position(error: Problem, files: Sequence[str]) -> tuple[int, int, int]:
    place = error.place
    return (files.index(place.file), place.line, place.column) if isinstance(place, LinePlace) else (0, 0, 0)


# --- a shared part that is laid below a file ----------------------------------------------------

# In these sections the file's own keys are laid over those of the shared part, one by one; all else is replaced whole.
_LAID_OVER = ("source", "defaults", "candidate", "answers")
_MAX_CHAIN = 20


def read_extended(path: Path, reading: Reading, above: tuple[Path, ...] = ()) -> Node:
    """The nodes of a mapping file, with those of the shared part that it extends, and that one's, below it.

    above: the files that extend this one.

    Raises:
        UnusableInput: a file cannot be read, lies elsewhere than below the folder, or extends itself in the end.
    """
    node = read_nodes(path, reading)
    if not isinstance(node, Keys):
        return node
    shared = node.value("extends")
    if not isinstance(shared, Text) or not shared.strip():
        return _without(node, node, reading)
    base = reading.named_file(shared)
    if base is None:
        reading.raise_errors()
        raise AssertionError("a shared part was refused without being reported")
    chain = (*above, path.resolve())
    if len(chain) == _MAX_CHAIN:
        message, hint = f"more than {_MAX_CHAIN} files extend one another", "merge some of them"
        raise UnusableInput(Problem("extends-too-deep", message, hint, shared.place))
    if base.resolve() in chain:
        message, hint = f"'{shared}' and this file extend each other", "remove extends: from one of them"
        raise UnusableInput(Problem("extends-circular", message, hint, shared.place))
    try:
        below = read_extended(base, reading, chain)
    except UnusableInput as error:
        if base.is_file():
            raise
        message, hint = f"the file '{shared}' does not exist", "give its path relative to the folder of this mapping"
        raise UnusableInput(Problem("extends-not-found", message, hint, shared.place)) from error
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
    unwanted, answers = texts_in(own.value("without")), node.value("answers")
    sound = [key for key in ("extends", "without") if not _is_broken(node.value(key), key)]
    left = Keys([(key, value) for key, value in node.items() if key not in sound], node.place, node.name)
    if isinstance(answers, Keys) and unwanted:
        for text in unwanted:
            if text not in answers:
                message = f"the shared part has no answer '{text}'"
                reading.error("without-answer-unknown", message, "remove it from without:", text.place)
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
    return ("column" in around or "join" in around) and beside(value) in reading.contents


def _taken_in(node: Node, reading: Reading) -> Any:
    if isinstance(node, Text):
        return str(node)
    if isinstance(node, Items):
        return [_taken_in(item, reading) for item in node]
    return {
        str(key): {str(entry.cell): str(entry.target) for entry in table_file_lines(value, reading)}
        if key == "values" and isinstance(value, Text) and _names_table(value, node, reading)
        else _taken_in(value, reading)
        for key, value in node.items()
    }


# --- a folder of them: one export whose rows go to many targets ---------------------------------

_ENDINGS = (".yaml", ".yml")
SHARED_PREFIX = "_"  # files that are only there to be extended


def read_mappings(folder: Path, elsewhere: str | None = None) -> tuple[Mapping, ...]:
    """The mappings of a folder in the order of their names; a file whose name begins with _ is a shared part.

    elsewhere: as in `read_mapping`.

    Raises:
        UnusableInput: with every error of every file; a file without a route, two that take the same rows, have
            the same target, route by different columns or read the export differently.
    """
    paths = sorted(path for path in folder.iterdir() if path.suffix in _ENDINGS)
    paths = [path for path in paths if not path.name.startswith(SHARED_PREFIX)]
    if not paths:
        message, hint = "there is no mapping file in this folder", "add a file NAME.yaml for each job post"
        raise UnusableInput(Problem("mapping-folder-empty", message, hint, FilePlace(str(folder))))
    problems: list[Problem] = []
    mappings: list[Mapping] = []
    for path in paths:
        try:
            mappings.append(read_mapping(path, elsewhere))
        except UnusableInput as error:
            problems.extend(error.problems)
    if problems:
        raise UnusableInput(list(dict.fromkeys(problems)))
    diagnostics = Diagnostics()
    _report_what_clashes(mappings, diagnostics)
    diagnostics.raise_errors()
    return tuple(mappings)


def _report_what_clashes(mappings: Sequence[Mapping], diagnostics: Diagnostics) -> None:
    first = mappings[0]
    takers: dict[str, Mapping] = {}
    targets: dict[str, Mapping] = {}
    for mapping in mappings:
        if mapping.route is None:
            message, hint = (
                "the mapping has no route",
                "add route: {column: ..., is: ...} to say which rows belong to it",
            )
            diagnostics.error("route-missing", message, hint, FilePlace(str(mapping.path)))
            continue
        column = mapping.route.column
        if first.route and normalize_name(column) != normalize_name(first.route.column):
            message = f"the route uses the column '{column}', but {first.path.name} uses '{first.route.column}'"
            diagnostics.error(
                "route-column-differs", message, "use the same column in all files of the folder", column.place
            )
        if mapping.source != first.source:
            message = f"source: differs from source: in {first.path.name}"
            hint = "put source: into a shared file that both extend"
            diagnostics.error("route-source-differs", message, hint, FilePlace(str(mapping.path)))
        for word in mapping.route.words:
            taker = takers.setdefault(normalize(word), mapping)
            if taker is not mapping:
                message = f"{taker.path.name} also takes rows with '{word}'"
                diagnostics.error("route-overlap", message, "keep the word in one of them", column.place)
        other = targets.setdefault(str(mapping.target), mapping)
        if other is not mapping:
            message = f"{mapping.target} is also the target of {other.path.name}"
            hint = "combine the words of both routes in one file"
            diagnostics.error("route-target-duplicate", message, hint, mapping.target_place)


@dataclass(frozen=True, eq=False)
class RouteColumn:
    """The index of the column, and the normalized words by which each mapping takes its rows."""

    index: int
    words: Dictionary[Mapping, tuple[str, ...]]


def route_column(mappings: Sequence[Mapping], columns: Sequence[Column]) -> RouteColumn:
    """The column that the routes of all these mappings name (see `read_mappings`, which made sure of that).

    Raises:
        UnusableInput: the header has no such column, or several.
    """
    diagnostics = Diagnostics()
    routes = {mapping: mapping.route for mapping in mappings if mapping.route}
    first = next(iter(routes.values()))
    column = Header(columns).find(first.column, diagnostics)
    diagnostics.raise_errors()
    if column is None:
        raise AssertionError("a routing column was lost without being reported")
    words = {mapping: tuple(normalize(word) for word in route.words) for mapping, route in routes.items()}
    return RouteColumn(column.index, words)
