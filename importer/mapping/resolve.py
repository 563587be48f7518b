"""Checks a mapping against a header and the live questions once, before the first row."""

from __future__ import annotations

import json
from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from datetime import date

from importer.documents.folder import DocumentFolder
from importer.mapping.entries import EntriesAnswer
from importer.mapping.fields import CANDIDATE_FIELDS, FieldSpec, Kind, spec_of_question
from importer.mapping.header import ColumnLookup, Context
from importer.mapping.model import AnswerSpec, Mapping, QuestionBy
from importer.mapping.nodes import Diagnostics
from importer.mapping.resolve_entries import resolve_entries
from importer.mapping.resolve_values import resolve_filter, resolve_value
from importer.mapping.resolved import (
    ChildTable,
    FromGroup,
    ResolvedAnswer,
    ResolvedEntries,
    ResolvedGrouping,
    ResolvedMapping,
    ResolvedValue,
    blank_words,
)
from importer.mapping.tables import ChildSource, GroupBy
from importer.mapping.values import InvalidOptional, NameRule, Replacement, Surname, UnusedColumns
from importer.models import AnswerType, Operation, Question
from importer.problems import Column, FilePlace, LinePlace, Problem, UnusableInput
from importer.settings import WireFormat
from importer.text.normalize import closest, normalize, normalized


def resolve(
    mapping: Mapping,
    columns: Sequence[Column],
    questions: Sequence[Question],
    wire: WireFormat,
    tables: Dictionary[ChildSource, ChildTable] | None = None,
    today: date | None = None,
    documents: Dictionary[str, DocumentFolder] | None = None,
) -> ResolvedMapping:
    """The mapping, ready for rows with these columns; `questions` is empty for a talent pool.

    tables: the other tables, one for each of `mapping.child_sources`; their rows are read into memory. A table that is
    not given has no columns. today: where given, a date that cannot be in the future must not be. documents: the opened
    folders of `mapping.document_folders`; without them, names of files are not looked up.

    Raises UnusableInput: with every problem, each at its line and column: missing or ambiguous columns, unknown
    questions, required questions without a mapping (service description 2.1: such an application is rejected), texts
    that are not an option.
    """
    diagnostics = Diagnostics()
    context = Context(mapping, ColumnLookup(columns), diagnostics, tables or {}, today, documents or {})
    candidate = _candidate(context)
    conditions = ((mapping.route, "route"), (mapping.where, "where"))
    filters = [resolve_filter(spec, context, label) for spec, label in conditions if spec]
    is_application = mapping.target.operation is Operation.APPLY
    answers = resolve_answers(questions, wire, context) if is_application else ()
    grouping = _grouping(mapping.group_by, candidate, answers, context) if mapping.group_by else None
    if context.header.is_wrong_row():
        _report_wrong_header_row(context)
    else:
        _report_unused(context)
    diagnostics.raise_errors()
    return ResolvedMapping(
        mapping.target,
        candidate,
        answers,
        tuple(one for one in filters if one is not None),
        grouping,
        mapping.defaults.duplicates,
        wire,
        context.header.unread(),
        diagnostics.warnings,
    )


def _candidate(context: Context) -> dict[str, ResolvedValue]:
    values: dict[str, ResolvedValue] = {}
    for name, spec in context.mapping.candidate.items():
        if name == "email" and (spec.value or spec.default or isinstance(spec.otherwise, Replacement)):
            message = f"email would be the same for {'every row' if spec.value else 'several rows'}"
            hint = "set it to the column that contains the e-mail address"
            context.error("constant-for-all", message, hint, spec.place)
        value = resolve_value(spec, CANDIDATE_FIELDS[name], context)
        if value is not None:
            values[str(name)] = value
    first, last = values.get("first_name"), values.get("last_name")
    for part, value, other in (("first", first, "last"), ("last", last, "first")):
        if value and value.columns and value.spec.part == other:
            message = f"{part}_name gets the {other} name of '{value.columns[0].label}'"
            hint = f"write part: {part}; if the last name comes first, set names: {{surname: first_word}}"
            context.diagnostics.warning("names-exchanged", message, hint, value.place)
    is_shared = first and last and first.columns[:1] == last.columns[:1] and bool(first.columns)
    if first and last and is_shared and not (first.lookup or last.lookup) and (_is_whole(first) or _is_whole(last)):
        label = first.columns[0].label
        both = "first_name and last_name both get" if _is_whole(first) and _is_whole(last) else "one of the names gets"
        message = f"{both} the whole cell of '{label}'"
        parts = " and ".join(f"{part}_name: {{column: {label}, part: {part}}}" for part in ("first", "last"))
        two = "(and names: {surname: last_two_words} under defaults: if people have two last names)"
        hint = f"if it has full names, write {parts} {two}; otherwise correct one of the columns"
        context.error("names-identical", message, hint, last.place)
    elif first and last and first.columns == last.columns and _split_differently(first, last):
        message = f"first_name and last_name split '{first.columns[0].label}' by different rules"
        context.error("names-split-differently", message, "set names: under defaults:, for both", last.place)
    return values


def _split_differently(first: ResolvedValue, last: ResolvedValue) -> bool:
    """Whether a word of the full name could be in both names, or in none."""
    return {first.spec.part, last.spec.part} == {"first", "last"} and _rule_of(first) != _rule_of(last)


def _rule_of(value: ResolvedValue) -> tuple[object, ...]:
    rule = value.formats.names or NameRule()
    return rule.surname or Surname.LAST_WORD, rule.particles, rule.suffixes


def _is_whole(value: ResolvedValue) -> bool:
    """Whether it is a whole cell."""
    return not any(
        (value.spec.join, value.spec.part, value.spec.pattern, value.spec.pick, value.spec.split, value.table)
    )


# --- rows of one candidate ----------------------------------------------------------------------


def _grouping(
    spec: GroupBy, candidate: dict[str, ResolvedValue], answers: Sequence[ResolvedAnswer], context: Context
) -> ResolvedGrouping | None:
    column = context.find(spec.column)
    main = resolve_filter(spec.main, context, "main") if spec.main else None
    if column is None or (spec.main is not None and main is None):
        return None
    contents = (*candidate.values(), *(answer.content for answer in answers))
    single = [content for content in contents if isinstance(content, ResolvedValue)]  # one per candidate
    sources = [one for content in contents if isinstance(content, ResolvedEntries) for one in content.sources]
    shared = tuple({column.index: column for value in single for column in value.columns}.values())
    own = tuple({column.index: column for one in sources for column in one.shared if column not in shared}.values())
    groups = [(one.source.where, one) for one in sources if isinstance(one.source, FromGroup)]
    of_entries = frozenset(column.index for _, one in groups for value in one.values for column in value.columns)
    of_rows = tuple(where for where, _ in groups if where) if all(where for where, _ in groups) else ()
    missing, blank = normalized(context.mapping.missing), blank_words(single, sources)
    exact = frozenset(column.index for value in single if value.is_exact for column in value.columns)
    return ResolvedGrouping(
        column, spec.blank is not None, main, shared, exact, of_entries, own, of_rows, missing, blank, spec.place
    )


# --- a wrong header row, and unused columns ------------------------------------------------------


def _report_wrong_header_row(context: Context) -> None:
    """Reports one error instead of one for each column of the mapping."""
    columns, declared = context.header.columns, context.mapping.source.header_row
    context.diagnostics.retract(context.header.unknown)
    row = f"row {declared}" if declared else "the header"
    names = ", ".join(f"'{column.name}'" for column in columns[:6]) + (", ..." if len(columns) > 6 else "")
    message = f"none of the mapping's columns is in {row} of the file, which contains {names}"
    other = "correct header_row: under source:, or remove it so that the header is detected"
    hint = other if declared else "check that this is the right file and sheet, or set header_row: under source:"
    context.error("header-row-wrong", message, hint, FilePlace(str(context.mapping.path)))


_MOST_SHOWN = 12  # columns in a message


def _report_unused(context: Context) -> None:
    if context.mapping.defaults.unused_columns is UnusedColumns.IGNORE:
        return
    is_error = context.mapping.defaults.unused_columns is UnusedColumns.ERROR
    report = context.diagnostics.error if is_error else context.diagnostics.warning
    todo = "map the columns that should be imported"
    if context.mapping.target.operation is Operation.ADD_TO_POOL:
        todo = "a talent pool takes only e-mail, names, CV and source_platform: send the file to a job post"
    for header in (context.header, *context.child_headers.values()):
        if unused := header.unused():
            names = ", ".join(f"'{column.name}' ({column.letter})" for column in unused[:_MOST_SHOWN])
            names += f" and {len(unused) - _MOST_SHOWN} more" if len(unused) > _MOST_SHOWN else ""
            noun, verb = ("columns", "are") if len(unused) > 1 else ("column", "is")
            of = f" of '{header.table}'" if header.table else ""
            message = f"{len(unused)} {noun}{of} {verb} not used: {names}"
            hint = f"{todo}, or, under defaults:, set unused_columns: ignore"
            report("columns-unused", message, hint, FilePlace(str(context.mapping.path)))


_TEXT_TYPES = (AnswerType.SHORT_TEXT, AnswerType.LONG_TEXT)


def resolve_answers(questions: Sequence[Question], wire: WireFormat, context: Context) -> tuple[ResolvedAnswer, ...]:
    """The answers in the order of the questions; problems are reported."""
    answers: dict[int, ResolvedAnswer] = {}
    asked: dict[int, AnswerSpec] = {}
    for spec in context.mapping.answers:
        question = _find(spec, questions, context)
        if question is None:
            continue
        if question.id in asked:
            first = asked[question.id].question.place.line
            message, hint = f"{question.label} is answered twice", f"keep one; the other is on line {first}"
            context.error("keys-conflict", message, hint, spec.question.place)
            continue
        asked[question.id] = spec
        answer = _resolve_answer(spec, question, wire, context)
        if answer is not None:
            answers[question.id] = answer
    _report_unanswered([question for question in questions if question.id not in asked], context)
    return tuple(answers[question.id] for question in questions if question.id in answers)


def _find(spec: AnswerSpec, questions: Sequence[Question], context: Context) -> Question | None:
    exact = [question for question in questions if _name_of(question, spec.by) == spec.question]
    found = exact or [q for q in questions if normalize(_name_of(q, spec.by)) == normalize(spec.question)]
    if len(found) > 1 and spec.by is QuestionBy.TEXT:
        # Questions without a key are identified by their text.
        found = [question for question in found if not question.key] or found
    if len(found) == 1:
        return found[0]
    if found:
        ids = " or ".join(f'"id: {question.id}"' for question in found)
        message = f"'{spec.question}' matches {len(found)} questions"
        context.error("question-not-found", message, f"use {ids}", spec.question.place)
        return None
    message = f"the job post has no question with the {spec.by} '{spec.question}'"
    context.error("question-not-found", message, _proposal(spec, questions), spec.question.place)
    return None


def _name_of(question: Question, by: QuestionBy) -> str:
    if by is QuestionBy.KEY:
        return question.key or ""
    return question.text if by is QuestionBy.TEXT else str(question.id)


def _proposal(spec: AnswerSpec, questions: Sequence[Question]) -> str:
    if not questions:
        return "the job post has no questions"
    keys = [question.key for question in questions if question.key]
    typed = spec.question
    similar = closest(typed, [_name_of(question, spec.by) for question in questions if _name_of(question, spec.by)])
    if similar is not None:
        return f"did you mean '{similar if spec.by is QuestionBy.KEY else f'{spec.by}: {similar}'}'?"
    by_text = [question for question in questions if question.text]
    similar_text = closest(typed, [question.text for question in by_text]) if spec.by is QuestionBy.KEY else None
    if similar_text is not None:
        question = next(question for question in by_text if question.text == similar_text)
        return f"did you mean '{question.key or f'text: {question.text}'}'?"
    return f"the keys are {', '.join(keys[:24])}" if keys else 'use "text: ..." or "id: ..." for a question'


def _resolve_answer(spec: AnswerSpec, question: Question, wire: WireFormat, context: Context) -> ResolvedAnswer | None:
    field = spec_of_question(question)
    place = spec.question.place
    if field is None:
        type_ = question.answer_type
        message = f"{question.label} has the answer type '{type_}', which this version does not support"
        hint = "remove the question from answers:, or install a newer importer"
        context.error("answer-type-unknown", message, hint, place)
        return None
    leave_out = _leave_out(spec, question, context)
    if isinstance(spec.content, EntriesAnswer):
        entries = _resolve_entries(spec.content, question, place, context)
        return ResolvedAnswer(question, entries, leave_out) if entries is not None else None
    _check_options(field, question, wire, place, context)
    if question.type == "photo" and spec.content.value is not None:
        message = f"{question.label} would be the same photo for every row"
        hint = "set it to the column that contains the document ID"
        context.error("constant-for-all", message, hint, spec.content.place)
    value = resolve_value(spec.content, field, context)
    return ResolvedAnswer(question, value, leave_out) if value is not None else None


def _leave_out(spec: AnswerSpec, question: Question, context: Context) -> bool:
    own = spec.content.optional
    if own is InvalidOptional.LEAVE_OUT and question.required:
        message = f"optional: leave_out has no effect on {question.label}, which is a required question"
        context.diagnostics.warning("key-not-applicable", message, "remove it", spec.content.node.place_of("optional"))
    return (own or context.mapping.defaults.optional) is InvalidOptional.LEAVE_OUT and not question.required


def _resolve_entries(
    entries: EntriesAnswer, question: Question, place: LinePlace, context: Context
) -> ResolvedEntries | None:
    special = question.type if question.type in ("photo", "phone", "address") else None
    if special or question.answer_type not in _TEXT_TYPES:
        message = f"{question.label} asks for {special or question.answer_type} and cannot take {entries.kind} entries"
        context.error("answers-not-applicable", message, "use a short_text or long_text question for entries", place)
        return None
    return resolve_entries(entries, context)


def _check_options(field: FieldSpec, question: Question, wire: WireFormat, place: LinePlace, context: Context) -> None:
    if field.kind in (Kind.CHOICE, Kind.CHOICES) and not field.options:
        message = f"the service lists no options for {question.label}, so its answers cannot be checked"
        context.diagnostics.warning("options-missing", message, "check the question in the job post", place)
    separator = wire.choice_separator
    clashing = [option for option in field.options if separator and separator in option]
    if field.kind is Kind.CHOICES and clashing:
        message = f"the option '{clashing[0]}' of {question.label} contains the separator between choices"
        hint = "set multiple_choice to json or to another separator"
        context.error("option-separator-conflict", message, hint, place)


def _report_unanswered(questions: Sequence[Question], context: Context) -> None:
    for question in (question for question in questions if question.required):
        name = question.key or json.dumps(f"text: {question.text}", ensure_ascii=False)
        text = f" ('{question.text}')" if question.key and question.text else ""
        message = f"the required question {question.label}{text}, {question.answer_type}, has no mapping"
        hint = f"add it under answers:, for example {name}: COLUMN"
        context.error("question-not-mapped", message, hint, context.mapping.answers_place)


_COLUMN_CODES = "column-"  # the prefix of problem codes about columns


def check_without_columns(mapping: Mapping, questions: Sequence[Question], wire: WireFormat) -> tuple[Problem, ...]:
    """The warnings for a mapping with these questions; columns are not checked.

    Raises UnusableInput: with every problem about questions.
    """
    try:
        return resolve(mapping, (), questions, wire).warnings
    except UnusableInput as error:
        problems = [problem for problem in error.problems if not problem.code.startswith(_COLUMN_CODES)]
        if problems:
            raise UnusableInput(problems) from None
        return ()
