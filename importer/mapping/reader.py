"""Reads a mapping file, and tells every mistake of it at once, each at its line and column."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from importer.mapping.findings import Findings
from importer.mapping.inheritance import EXTENDS, WITHOUT, read_extended
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
from importer.mapping.read_entries import entry_kind_of, read_entries
from importer.mapping.read_filter import read_filter
from importer.mapping.read_formats import FORMAT_KEYS, read_formats
from importer.mapping.read_source import SourceSection, read_source
from importer.mapping.read_values import read_fields_node, read_value
from importer.mapping.seen_questions import read_seen
from importer.mapping.shape import Fields, read_fields, read_filled, read_word
from importer.models import Operation, Target

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
    findings = Findings(path.parent)
    fields = read_fields(read_extended(path, findings), "the mapping file", findings)
    mapping = _read_sections(fields, path, findings) if fields else None
    findings.refuse_mistakes()
    if mapping is None:  # an absent part is always a mistake, and mistakes were refused above
        raise AssertionError("a mapping without a target was accepted")
    return mapping


def _read_sections(fields: Fields, path: Path, findings: Findings) -> Mapping | None:
    fields.only(TOP_KEYS)
    version = fields.require("version", read_filled, f"add version: {_VERSION}")
    if version is not None and version.value != _VERSION:
        message = f"version {version.value} of the mapping language is not known"
        findings.mistake("unknown-version", message, f"write version: {_VERSION}", version.place)
    target = fields.require("target", _read_target, "add target: {job_post: ...} or target: {talent_pool: ...}")
    route = fields.read("route", _read_route)
    source = fields.read("source", read_source) or SourceSection()
    defaults = fields.read("defaults", _read_defaults) or _Defaults()
    candidate = fields.require("candidate", read_fields, "add candidate: with email, first_name, last_name and cv")
    operation = target.operation if target else None
    candidate_fields = _read_candidate(candidate, operation, findings) if candidate else ()
    answers = fields.read("answers", _read_answers) or ()
    if operation is Operation.ADD_TO_POOL and fields.has("answers"):
        findings.mistake(
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


def _read_target(node: Node, name: str, findings: Findings) -> Target | None:
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(tuple(_OPERATIONS))
    given = [key for key in _OPERATIONS if fields.has(key)]
    if len(given) != 1:
        message = "target has neither job_post nor talent_pool" if not given else "target has job_post and talent_pool"
        findings.mistake("target-count", message, "give one of them", fields.place)
        return None
    text = fields.read(given[0], read_filled)
    return _target(given[0], text, findings) if text else None


def _target(key: str, text: Text, findings: Findings) -> Target | None:
    try:
        return Target(_OPERATIONS[key], text.value)
    except ValueError as error:
        findings.mistake("target-id", str(error), _ID_HINTS[key], text.place)
        return None


def _read_route(node: Node, name: str, findings: Findings) -> Filter | None:
    route = read_filter(node, name, findings)
    if route is not None and route.negated:
        message, hint = "route has is_not, which could take rows of another mapping", "write is: with its own words"
        findings.mistake("route-negated", message, hint, node.place)
        return None
    return route


# --- defaults -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Defaults:
    formats: Formats = field(default=Formats())
    unused_columns: UnusedColumns = UnusedColumns.WARN
    repeated: Repeated = Repeated.FIRST


def _read_defaults(node: Node, name: str, findings: Findings) -> _Defaults | None:
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(DEFAULTS_KEYS)
    repeated = fields.read("duplicates", read_word(Repeated))
    unused = fields.read("unused_columns", read_word(UnusedColumns))
    formats = read_formats(fields, findings)
    return _Defaults(formats, unused or UnusedColumns.WARN, repeated or Repeated.FIRST)


# --- candidate ----------------------------------------------------------------------------------

_NOT_HERE = {
    "source_platform": "a job application has no source_platform",
    "terms_of_use": "a talent pool has no terms_of_use",
}


def _read_candidate(fields: Fields, operation: Operation | None, findings: Findings) -> tuple[CandidateField, ...]:
    known = _CANDIDATE_KEYS[operation] if operation else (*_REQUIRED_OF_CANDIDATE, *_NOT_HERE)
    foreign = [key for key in _NOT_HERE if key not in known and fields.has(key)]
    for key in foreign:
        findings.mistake("foreign-key", _NOT_HERE[key], "take it out", fields.key(key).place)
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


def _read_answers(node: Node, name: str, findings: Findings) -> tuple[AnswerSpec, ...] | None:
    mapping = read_fields_node(node, name, findings)
    if mapping is None:
        return None
    answers = [_read_answer(pair, findings) for pair in mapping.pairs]
    return tuple(answer for answer in answers if answer is not None)


def _read_answer(pair: Pair, findings: Findings) -> AnswerSpec | None:
    content = _read_content(pair.value, pair.key.value, findings)
    by = _named_by(pair.key)
    name = _name_without_prefix(pair.key, by)
    if not name.value:
        findings.mistake("question-blank", f"'{pair.key}' names no question", "give its key, text: or id:", name.place)
        return None
    return AnswerSpec(by, name, content) if content else None


def _read_content(node: Node, name: str, findings: Findings) -> ValueSpec | EntriesSpec | None:
    kind = entry_kind_of(node)
    return read_entries(node, kind, findings) if kind else read_value(node, name, findings)


def _named_by(key: Text) -> QuestionBy:
    for by in (QuestionBy.TEXT, QuestionBy.ID):
        if key.value.strip().casefold().startswith(f"{by}:"):
            return by
    return QuestionBy.KEY


def _name_without_prefix(key: Text, by: QuestionBy) -> Text:
    start = 0 if by is QuestionBy.KEY else len(f"{by}:")
    return Text(key.value.strip()[start:].strip(), key.place)
