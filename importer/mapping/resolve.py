"""Holds a mapping against a header and the live questions, once, before the first row."""

from __future__ import annotations

from collections.abc import Sequence

from importer.mapping.findings import Findings
from importer.mapping.fold import fold
from importer.mapping.header import Header
from importer.mapping.model import Constant, Filter, Mapping, UnusedColumns, ValueSpec
from importer.mapping.resolve_answers import resolve_answers
from importer.mapping.resolve_value import Surroundings, resolve_value
from importer.mapping.resolved import ResolvedCandidate, ResolvedFilter, ResolvedMapping, ResolvedValue
from importer.mapping.wanted import wanted_of_candidate
from importer.models import Column, FilePlace, Operation, Question, WireFormat


def resolve(
    mapping: Mapping, columns: Sequence[Column], questions: Sequence[Question], wire: WireFormat
) -> ResolvedMapping:
    """The mapping ready for rows of a sheet with these columns; `questions` is empty for a talent pool.

    Raises:
        UnusableInput: with everything that does not fit, each at its line and column: columns that are not there or
            not clear, questions that are not there, required questions without a mapping (service description 2.1:
            such an application is rejected), texts that are no option.
    """
    findings = Findings()
    around = Surroundings(mapping, Header(columns), findings)
    candidate = _candidate(around)
    where = _filter(mapping.where, around) if mapping.where else None
    is_application = mapping.target.operation is Operation.APPLY
    answers = resolve_answers(questions, wire, around) if is_application else ()
    _tell_unused(around)
    findings.refuse_mistakes()
    if candidate is None:
        raise AssertionError("a candidate field was lost without being told")
    return ResolvedMapping(mapping.target, candidate, answers, where, wire, findings.warnings)


def _candidate(around: Surroundings) -> ResolvedCandidate | None:
    values: dict[str, ResolvedValue] = {}
    for field in around.mapping.candidate:
        _check_constant_email(field.name.value, field.value, around)
        value = resolve_value(field.value, wanted_of_candidate(field.name.value), around)
        if value is not None:
            values[field.name.value] = value
    required = ("email", "first_name", "last_name", "cv")
    return ResolvedCandidate(**values) if all(name in values for name in required) else None


def _check_constant_email(name: str, spec: ValueSpec, around: Surroundings) -> None:
    if name == "email" and isinstance(spec.source, Constant):
        message, hint = "email would be the same for every row", "name the column that holds the e-mail"
        around.findings.mistake("constant-email", message, hint, spec.place)


def _filter(where: Filter, around: Surroundings) -> ResolvedFilter | None:
    column = around.header.find(where.column, around.findings)
    if column is None:
        return None
    return ResolvedFilter(column, frozenset(fold(word) for word in where.words), where.negated)


def _tell_unused(around: Surroundings) -> None:
    unused = around.header.unused()
    if not unused or around.mapping.unused_columns is UnusedColumns.IGNORE:
        return
    names = ", ".join(f"'{column.name}' ({column.letter})" for column in unused)
    message = f"{len(unused)} column{'s are' if len(unused) > 1 else ' is'} not used: {names}"
    hint = "map what should be imported, or set unused_columns: ignore under defaults:"
    place = FilePlace(str(around.mapping.path))
    if around.mapping.unused_columns is UnusedColumns.ERROR:
        around.findings.mistake("columns-unused", message, hint, place)
    else:
        around.findings.warning("columns-unused", message, hint, place)
