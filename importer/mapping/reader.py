"""Reads a mapping file, or a folder of them, and reports every error at once, each at its line and column."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from importer.errors import UnusableInput
from importer.mapping.diagnostics import Diagnostics
from importer.mapping.files import EXTENDS, WITHOUT, read_extended
from importer.mapping.header import Header
from importer.mapping.model import (
    AnswerSpec,
    CandidateField,
    EntriesSpec,
    Filter,
    Formats,
    Mapping,
    QuestionBy,
    Repeated,
    Text,
    UnusedColumns,
    ValueSpec,
)
from importer.mapping.nodes import Node, Pair
from importer.mapping.question_snapshot import read_seen
from importer.mapping.read_sections import SourceSection, entry_kind_of, read_entries, read_filter, read_source
from importer.mapping.read_values import FORMAT_KEYS, read_fields_node, read_formats, read_value
from importer.mapping.scalars import Fields, read_fields, read_filled, read_word
from importer.models import Column, FilePlace, Operation, Problem, Target
from importer.text.normalize import normalize, normalize_name

TOP_KEYS = (
    "version",
    EXTENDS,
    WITHOUT,
    "target",
    "route",
    "source",
    "defaults",
    "candidate",
    "answers",
    "questions_seen",
)
DEFAULTS_KEYS = (*FORMAT_KEYS, "unused_columns", "duplicates")
_REQUIRED_OF_CANDIDATE = ("email", "first_name", "last_name", "cv")
_CANDIDATE_KEYS = {
    Operation.APPLY: (*_REQUIRED_OF_CANDIDATE, "terms_of_use"),
    Operation.ADD_TO_POOL: (*_REQUIRED_OF_CANDIDATE, "source_platform"),
}
_VERSION = "1"


def read_mapping(path: Path) -> Mapping:
    """The mapping file as values; columns and questions are not looked up yet (see `resolve`).

    Raises:
        UnusableInput: with every mistake of the file, each at its line and column.
    """
    diagnostics = Diagnostics(path.parent)
    fields = read_fields(read_extended(path, diagnostics), "the mapping file", diagnostics)
    mapping = _read_sections(fields, path, diagnostics) if fields else None
    diagnostics.raise_errors()
    if mapping is None:  # an absent part is always a mistake, and mistakes were refused above
        raise AssertionError("a mapping without a target was accepted")
    return mapping


def _read_sections(fields: Fields, path: Path, diagnostics: Diagnostics) -> Mapping | None:
    fields.only(TOP_KEYS)
    version = fields.require("version", read_filled, f"add version: {_VERSION}")
    if version is not None and version.value != _VERSION:
        message = f"version {version.value} of the mapping language is not known"
        diagnostics.error("unknown-version", message, f"write version: {_VERSION}", version.place)
    target = fields.require("target", _read_target, "add target: {job_post: ...} or target: {talent_pool: ...}")
    route = fields.read("route", _read_route)
    source = fields.read("source", read_source) or SourceSection()
    defaults = fields.read("defaults", _read_defaults) or _Defaults()
    candidate = fields.require("candidate", read_fields, "add candidate: with email, first_name, last_name and cv")
    operation = target.operation if target else None
    candidate_fields = _read_candidate(candidate, operation, diagnostics) if candidate else ()
    answers = fields.read("answers", _read_answers) or ()
    if operation is Operation.ADD_TO_POOL and fields.has("answers"):
        diagnostics.error(
            "answers-of-pool",
            "a talent pool has no questions to answer",
            "take answers: out, or give a job post as target",
            fields.key("answers").place,
        )
    seen = fields.read("questions_seen", read_seen)
    if target is None:
        return None
    return Mapping(
        path=path,
        target=target,
        target_place=fields.key("target").place,
        source=source.options,
        missing=source.missing,
        where=source.where,
        group_by=source.group_by,
        route=route,
        formats=defaults.formats,
        unused_columns=defaults.unused_columns,
        repeated=defaults.repeated,
        candidate=candidate_fields,
        candidate_place=fields.key("candidate").place if fields.has("candidate") else fields.place,
        answers=answers,
        answers_place=fields.key("answers").place if fields.has("answers") else fields.key("target").place,
        questions_seen=seen,
    )


# --- target -------------------------------------------------------------------------------------

_OPERATIONS = {"job_post": Operation.APPLY, "talent_pool": Operation.ADD_TO_POOL}
_ID_HINTS = {
    "job_post": "give the hash of the job post: letters, digits, _ and -",
    "talent_pool": "give the number of the talent pool, in digits",
}


def _read_target(node: Node, name: str, diagnostics: Diagnostics) -> Target | None:
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    fields.only(tuple(_OPERATIONS))
    given = [key for key in _OPERATIONS if fields.has(key)]
    if len(given) != 1:
        message = "target has neither job_post nor talent_pool" if not given else "target has job_post and talent_pool"
        diagnostics.error("target-count", message, "give one of them", fields.place)
        return None
    text = fields.read(given[0], read_filled)
    return _target(given[0], text, diagnostics) if text else None


def _target(key: str, text: Text, diagnostics: Diagnostics) -> Target | None:
    try:
        return Target(_OPERATIONS[key], text.value)
    except ValueError as error:
        diagnostics.error("target-id", str(error), _ID_HINTS[key], text.place)
        return None


def _read_route(node: Node, name: str, diagnostics: Diagnostics) -> Filter | None:
    route = read_filter(node, name, diagnostics)
    if route is not None and route.negated:
        message, hint = "route has is_not, which could take rows of another mapping", "write is: with its own words"
        diagnostics.error("route-negated", message, hint, node.place)
        return None
    return route


# --- defaults -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Defaults:
    formats: Formats = field(default=Formats())
    unused_columns: UnusedColumns = UnusedColumns.WARN
    repeated: Repeated = Repeated.FIRST


def _read_defaults(node: Node, name: str, diagnostics: Diagnostics) -> _Defaults | None:
    fields = read_fields(node, name, diagnostics)
    if fields is None:
        return None
    fields.only(DEFAULTS_KEYS)
    repeated = fields.read("duplicates", read_word(Repeated))
    unused = fields.read("unused_columns", read_word(UnusedColumns))
    formats = read_formats(fields, diagnostics)
    return _Defaults(formats, unused or UnusedColumns.WARN, repeated or Repeated.FIRST)


# --- candidate ----------------------------------------------------------------------------------

_NOT_HERE = {
    "source_platform": "a job application has no source_platform",
    "terms_of_use": "a talent pool has no terms_of_use",
}


def _read_candidate(
    fields: Fields, operation: Operation | None, diagnostics: Diagnostics
) -> tuple[CandidateField, ...]:
    known = _CANDIDATE_KEYS[operation] if operation else (*_REQUIRED_OF_CANDIDATE, *_NOT_HERE)
    foreign = [key for key in _NOT_HERE if key not in known and fields.has(key)]
    for key in foreign:
        diagnostics.error("foreign-key", _NOT_HERE[key], "take it out", fields.key(key).place)
    fields.only((*known, *foreign))
    found = []
    for key in known:
        value = (
            fields.require(key, read_value, f"name its column, as {key}: ...")
            if key in _REQUIRED_OF_CANDIDATE
            else fields.read(key, read_value)
        )
        if value is not None:
            found.append(CandidateField(fields.key(key), value))
    return tuple(found)


# --- answers ------------------------------------------------------------------------------------


def _read_answers(node: Node, name: str, diagnostics: Diagnostics) -> tuple[AnswerSpec, ...] | None:
    mapping = read_fields_node(node, name, diagnostics)
    if mapping is None:
        return None
    answers = [_read_answer(pair, diagnostics) for pair in mapping.pairs]
    return tuple(answer for answer in answers if answer is not None)


def _read_answer(pair: Pair, diagnostics: Diagnostics) -> AnswerSpec | None:
    content = _read_content(pair.value, pair.key.value, diagnostics)
    by = _named_by(pair.key)
    name = _name_without_prefix(pair.key, by)
    if not name.value:
        diagnostics.error("question-blank", f"'{pair.key}' names no question", "give its key, text: or id:", name.place)
        return None
    return AnswerSpec(by, name, content) if content else None


def _read_content(node: Node, name: str, diagnostics: Diagnostics) -> ValueSpec | EntriesSpec | None:
    kind = entry_kind_of(node)
    return read_entries(node, kind, diagnostics) if kind else read_value(node, name, diagnostics)


def _named_by(key: Text) -> QuestionBy:
    for by in (QuestionBy.TEXT, QuestionBy.ID):
        if key.value.strip().casefold().startswith(f"{by}:"):
            return by
    return QuestionBy.KEY


def _name_without_prefix(key: Text, by: QuestionBy) -> Text:
    start = 0 if by is QuestionBy.KEY else len(f"{by}:")
    return Text(key.value.strip()[start:].strip(), key.place)


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
        if first.route and normalize_name(column.value) != normalize_name(first.route.column.value):
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
    """The index of the column, and the folded words by which each mapping takes its rows."""

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
        raise AssertionError("a routing column was lost without being told")
    words = {mapping: tuple(normalize(word) for word in route.words) for mapping, route in routes.items()}
    return RouteColumn(column.index, words)
