"""Traces each answer of a body to the cells that it comes from, by asking the readers that read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from importer.mapping import ResolvedMapping
from importer.models import Answer, Application, PoolCandidate, Question, Row
from importer.problems import CellPlace, Problem
from importer.transform.entries import EntriesReader, EntrySource
from importer.transform.entry_rows import EntryRow
from importer.transform.row import AnswerReader, body_reader, transform_row
from importer.transform.texts import undeclared
from importer.transform.values import ValueReader


@dataclass(frozen=True, slots=True)
class TracedCell:
    """A cell that an answer comes from, and its text; of an entry in a list within a cell, the text of its part."""

    place: CellPlace
    text: str


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """One answer or field of a request body.

    label: the field's name, or the question's label. cells: those that it comes from; if nothing is sent, those that
    are filled in. sent: as in the body, None if nothing is sent. entries: of education or experience, the fields of
    each entry in the order in which they are sent; its `cells` are then empty.
    """

    label: str
    cells: tuple[TracedCell, ...] = ()
    sent: str | bool | None = None
    entries: tuple[tuple[TracedAnswer, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class TracedPart:
    """A field of the candidate, or the answer to a question, of a row that perhaps cannot be sent.

    question: None for a field. problems: why it is not read; they hold the row back, unless it is left out for them.
    """

    question: Question | None
    traced: TracedAnswer
    problems: tuple[Problem, ...] = ()
    is_left_out: bool = False


def trace_row(row: Row, mapping: ResolvedMapping) -> tuple[TracedAnswer, ...]:
    """How the body of a row comes to be: its fields, then one for each question; () if `transform_row` makes none."""
    if not isinstance(transform_row(row, mapping), Application | PoolCandidate):
        return ()
    return tuple(part.traced for part in trace_parts(row, mapping))


def trace_parts(row: Row, mapping: ResolvedMapping) -> Iterator[TracedPart]:
    """Each field and each answer of a row by itself, as `transform_row` reads them; pure."""
    reader = body_reader(mapping)
    row = replace(row, problems=undeclared(row, reader.blank))
    for name, field in reader.fields.items():
        problems: list[Problem] = []
        sent = reader.read_field(name, row, problems)
        yield TracedPart(None, _value(name, field, row, None if problems else sent), tuple(problems))
    for answer_reader in reader.answers:
        found: list[Problem] = []
        if answer_reader.leave_out:
            traced = _answer(answer_reader, row, answer_reader.read_or_leave_out(row, found))
        else:
            answer = answer_reader.read(row, found)
            traced = _answer(answer_reader, row, None if found else answer)
        if found and not traced.cells:
            filled = [column for column in answer_reader.columns if row.cells[column.index]]
            traced = replace(traced, cells=tuple(TracedCell(row.place(one), row.cells[one.index]) for one in filled))
        yield TracedPart(answer_reader.question, traced, tuple(found), answer_reader.leave_out)


def _answer(reader: AnswerReader, row: Row, answer: Answer | None) -> TracedAnswer:
    label = reader.question.label
    sent = None if answer is None else answer.answer if answer.answer_file is None else answer.answer_file
    if isinstance(reader.reader, EntriesReader):
        return TracedAnswer(label, sent=sent, entries=_entries(reader.reader, row, sent))
    return _value(label, reader.reader, row, sent)


def _entries(reader: EntriesReader, row: Row, sent: str | None) -> tuple[tuple[TracedAnswer, ...], ...]:
    if sent is None:
        return ()
    bodies = json.loads(sent)
    return tuple(_entry(source, body) for source, body in zip(reader.sources(row), bodies, strict=True))


def _entry(source: EntrySource, body: dict[str, str | bool]) -> tuple[TracedAnswer, ...]:
    fields = [_value(name, reader, source.row.row, body.get(name)) for name, reader in source.readers.items()]
    for name in body.keys() - source.readers.keys():  # the flag of a current entry that its end date gives
        end = next((field.cells for field in fields if field.label == "end_date"), ())
        fields.append(TracedAnswer(name, end, body[name]))
    return tuple(replace(field, cells=tuple(_shown(cell, source.row) for cell in field.cells)) for field in fields)


def _shown(cell: TracedCell, row: EntryRow) -> TracedCell:
    place = row.shown(cell.place)
    return TracedCell(place, cell.text) if isinstance(place, CellPlace) else cell


def _value(label: str, reader: ValueReader, row: Row, sent: str | bool | None) -> TracedAnswer:
    reader, row = reader.source(row)
    cells = tuple(TracedCell(row.place(column), row.cells[column.index]) for column in reader.used(row))
    return TracedAnswer(label, cells, sent)
