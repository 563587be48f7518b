"""Reads a mapping file, or a folder of them, and reports every error at once, each at its line and column."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from importer.errors import UnusableInput
from importer.mapping.diagnostics import Diagnostics
from importer.mapping.files import bundled, read_extended
from importer.mapping.header import Header
from importer.mapping.model import Mapping, MappingFile, mapping_of
from importer.mapping.nodes import Reading
from importer.mapping.shapes import report
from importer.models import Column, FilePlace, LinePlace, Problem
from importer.text.normalize import normalize, normalize_name


def read_mapping(path: Path) -> Mapping:
    """The mapping file as values; columns and questions are not looked up yet (see `resolve`).

    Raises:
        UnusableInput: with every error of the file, each at its line and column, from the top down.
    """
    reading = Reading(path.parent)
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
    return mapping_of(file, path, bundled(path, node, reading))


def _position(error: Problem, files: Sequence[str]) -> tuple[int, int, int]:
    place = error.place
    return (files.index(place.file), place.line, place.column) if isinstance(place, LinePlace) else (0, 0, 0)


# --- a folder of them: one export whose rows go to many targets ---------------------------------

_ENDINGS = (".yaml", ".yml")
SHARED_PREFIX = "_"  # files that are only there to be extended


def read_mappings(folder: Path) -> tuple[Mapping, ...]:
    """The mappings of a folder in the order of their names; a file whose name begins with _ is a shared part.

    Raises:
        UnusableInput: with every error of every file; a file without a route, two that take the same rows, have
            the same target, route by different columns or read the export differently.
    """
    paths = sorted(path for path in folder.iterdir() if path.suffix in _ENDINGS)
    paths = [path for path in paths if not path.name.startswith(SHARED_PREFIX)]
    if not paths:
        message, hint = "there is no mapping file in this folder", "add a file NAME.yaml for each job post"
        raise UnusableInput(Problem("folder-empty", message, hint, FilePlace(str(folder))))
    problems: list[Problem] = []
    mappings: list[Mapping] = []
    for path in paths:
        try:
            mappings.append(read_mapping(path))
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
            message, hint = "the mapping has no route", "add route: {column: ..., is: ...}: which rows are its own"
            diagnostics.error("route-missing", message, hint, FilePlace(str(mapping.path)))
            continue
        column = mapping.route.column
        if first.route and normalize_name(column) != normalize_name(first.route.column):
            message = f"the route goes by '{column}', and that of {first.path.name} by '{first.route.column}'"
            diagnostics.error("route-column", message, "name the same column in all files of the folder", column.place)
        if mapping.source != first.source:
            message = f"the export is read otherwise than in {first.path.name}"
            hint = "put source: into the shared part that both extend"
            diagnostics.error("route-source", message, hint, FilePlace(str(mapping.path)))
        for word in mapping.route.words:
            taker = takers.setdefault(normalize(word), mapping)
            if taker is not mapping:
                message = f"rows with '{word}' are taken by {taker.path.name} too"
                diagnostics.error("route-overlap", message, "keep the word in one of them", column.place)
        other = targets.setdefault(str(mapping.target), mapping)
        if other is not mapping:
            message = f"{mapping.target} is the target of {other.path.name} too"
            hint = "put the words of both routes into one file"
            diagnostics.error("route-target", message, hint, mapping.target_place)


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
