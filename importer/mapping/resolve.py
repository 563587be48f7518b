"""Holds a mapping against a header and the live questions, once, before the first row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Dictionary

from importer.mapping.child_index import Table
from importer.mapping.children import Children
from importer.mapping.findings import Findings
from importer.mapping.header import Header
from importer.mapping.model import ChildSource, Constant, GroupBy, Mapping, UnusedColumns, ValueSpec
from importer.mapping.resolve_answers import resolve_answers
from importer.mapping.resolve_filter import resolve_filter
from importer.mapping.resolve_value import Surroundings, resolve_value
from importer.mapping.resolved import (
    ResolvedAnswer,
    ResolvedCandidate,
    ResolvedGrouping,
    ResolvedMapping,
    ResolvedValue,
)
from importer.mapping.wanted import wanted_of_candidate
from importer.models import Column, FilePlace, Operation, Question, WireFormat


def resolve(
    mapping: Mapping,
    columns: Sequence[Column],
    questions: Sequence[Question],
    wire: WireFormat,
    tables: Dictionary[ChildSource, Table] | None = None,
) -> ResolvedMapping:
    """The mapping ready for rows of a sheet with these columns; `questions` is empty for a talent pool.

    tables: the other tables that the mapping takes entries from, one for each of `mapping.child_sources`; their rows
    are read and kept in memory.

    Raises:
        UnusableInput: with everything that does not fit, each at its line and column: columns that are not there or
            not clear, questions that are not there, required questions without a mapping (service description 2.1:
            such an application is rejected), texts that are no option.
    """
    findings = Findings()
    around = Surroundings(mapping, Header(columns), findings, Children(tables or {}))
    candidate = _candidate(around)
    filters = [
        resolve_filter(spec, around.header, findings, label)
        for spec, label in ((mapping.route, "route"), (mapping.where, "where"))
        if spec
    ]
    is_application = mapping.target.operation is Operation.APPLY
    answers = resolve_answers(questions, wire, around) if is_application else ()
    grouping = _grouping(mapping.group_by, candidate, answers, around) if mapping.group_by else None
    if around.header.is_another_row():
        _tell_another_row(around)
    else:
        _tell_unused(around)
    findings.refuse_mistakes()
    if candidate is None:
        raise AssertionError("a candidate field was lost without being told")
    return ResolvedMapping(
        mapping.target,
        candidate,
        answers,
        tuple(one for one in filters if one is not None),
        grouping,
        mapping.repeated,
        wire,
        around.header.unread(),
        findings.warnings,
    )


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


# --- rows of one candidate ----------------------------------------------------------------------


def _grouping(
    spec: GroupBy, candidate: ResolvedCandidate | None, answers: Sequence[ResolvedAnswer], around: Surroundings
) -> ResolvedGrouping | None:
    column = around.header.find(spec.column, around.findings)
    main = resolve_filter(spec.main, around.header, around.findings, "main") if spec.main else None
    if column is None or candidate is None or (spec.main is not None and main is None):
        return None
    shared = {one.index: one for value in _single_values(candidate, answers) for one in value.columns}
    return ResolvedGrouping(column, spec.blank_continues, main, tuple(shared.values()), spec.place)


def _single_values(candidate: ResolvedCandidate, answers: Sequence[ResolvedAnswer]) -> Iterator[ResolvedValue]:
    """The values of which a candidate has one: all but those of entries."""
    yield from (candidate.email, candidate.first_name, candidate.last_name, candidate.cv)
    yield from (value for value in (candidate.terms_of_use, candidate.source_platform) if value is not None)
    yield from (answer.content for answer in answers if isinstance(answer.content, ResolvedValue))


# --- a header that is none, and columns that nobody asked for -----------------------------------


def _tell_another_row(around: Surroundings) -> None:
    """One mistake, and not one for each column that the mapping names."""
    columns, declared = around.header.columns, around.mapping.source.header_row
    around.findings.take_back(around.header.unknown)
    row = f"row {declared}" if declared else "the header"
    names = ", ".join(f"'{column.name}'" for column in columns[:6]) + (", ..." if len(columns) > 6 else "")
    message = f"none of the columns that the mapping names stands in {row} of the file; there it says {names}"
    other = "correct header_row: under source:, or take it out, and the header is found"
    hint = other if declared else "is it the right file? else declare header_row: under source:"
    around.findings.mistake("header-row-wrong", message, hint, FilePlace(str(around.mapping.path)))


def _tell_unused(around: Surroundings) -> None:
    if around.mapping.unused_columns is UnusedColumns.IGNORE:
        return
    for header in (around.header, *around.children.headers.values()):
        if header.unused():
            _tell_unused_of(header, around)


def _tell_unused_of(header: Header, around: Surroundings) -> None:
    unused = header.unused()
    names = ", ".join(f"'{column.name}' ({column.letter})" for column in unused)
    of = f" of '{header.table}'" if header.table else ""
    message = f"{len(unused)} column{'s' if len(unused) > 1 else ''}{of} {'are' if len(unused) > 1 else 'is'} not used"
    hint = "map what should be imported, or set unused_columns: ignore under defaults:"
    place = FilePlace(str(around.mapping.path))
    if around.mapping.unused_columns is UnusedColumns.ERROR:
        around.findings.mistake("columns-unused", f"{message}: {names}", hint, place)
    else:
        around.findings.warning("columns-unused", f"{message}: {names}", hint, place)
