"""Reads a folder of mapping files: one export whose rows go to many targets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from importer.errors import UnusableInput
from importer.mapping.findings import Findings
from importer.mapping.model import Mapping
from importer.mapping.reader import read_mapping
from importer.models import FilePlace, Problem
from importer.text.normalize import normalize, normalize_name

_ENDINGS = (".yaml", ".yml")
SHARED_PREFIX = "_"  # files that are only there to be extended


def read_mappings(folder: Path) -> tuple[Mapping, ...]:
    """The mappings of a folder in the order of their names; a file whose name begins with _ is a shared part.

    Raises:
        UnusableInput: with every mistake of every file; a file without a route, two that take the same rows, have
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
    findings = Findings()
    _tell_what_clashes(mappings, findings)
    findings.refuse_mistakes()
    return tuple(mappings)


def _tell_what_clashes(mappings: Sequence[Mapping], findings: Findings) -> None:
    first = mappings[0]
    takers: dict[str, Mapping] = {}
    targets: dict[str, Mapping] = {}
    for mapping in mappings:
        if mapping.route is None:
            message, hint = "the mapping has no route", "add route: {column: ..., is: ...}: which rows are its own"
            findings.mistake("route-missing", message, hint, FilePlace(str(mapping.path)))
            continue
        column = mapping.route.column
        if first.route and normalize_name(column.value) != normalize_name(first.route.column.value):
            message = f"the route goes by '{column}', and that of {first.path.name} by '{first.route.column}'"
            findings.mistake("route-column", message, "name the same column in all files of the folder", column.place)
        if mapping.source != first.source:
            message = f"the export is read otherwise than in {first.path.name}"
            hint = "put source: into the shared part that both extend"
            findings.mistake("route-source", message, hint, FilePlace(str(mapping.path)))
        for word in mapping.route.words:
            taker = takers.setdefault(normalize(word), mapping)
            if taker is not mapping:
                message = f"rows with '{word}' are taken by {taker.path.name} too"
                findings.mistake("route-overlap", message, "keep the word in one of them", column.place)
        other = targets.setdefault(str(mapping.target), mapping)
        if other is not mapping:
            message = f"{mapping.target} is the target of {other.path.name} too"
            hint = "put the words of both routes into one file"
            findings.mistake("route-target", message, hint, mapping.target_place)
