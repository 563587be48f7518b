"""Traces each answer of a body to the cells that it comes from, by asking the readers that read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from importer.mapping import Kind, ResolvedMapping, ResolvedValue
from importer.models import Answer, Application, PoolCandidate, Question, Row
from importer.problems import CellPlace, Problem
from importer.sent_answers import Note, TracedAnswer, TracedCell
from importer.text.normalize import stripped
from importer.transform.entries import EntriesReader, EntrySource
from importer.transform.entry_rows import EntryRow
from importer.transform.interpreter import OPEN_END
from importer.transform.row import AnswerReader, body_reader, transform_row
from importer.transform.values import ReadFrom, ValueReader


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
    for name, field in reader.fields.items():
        problems: list[Problem] = []
        sent = reader.read_field(name, row, problems)
        yield TracedPart(None, _value(name, field, row, None if problems else sent), tuple(problems))
    for answer_reader in reader.answers:
        found: list[Problem] = []
        read = answer_reader.read_or_leave_out if answer_reader.leave_out else answer_reader.read
        answer = read(row, found)
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
        end = next((field.cells for field in fields if Note.CURRENT in field.notes), ())
        fields.append(TracedAnswer(name, end, body[name], (Note.CURRENT,)))
    return tuple(replace(field, cells=tuple(_shown(cell, source.row) for cell in field.cells)) for field in fields)


def _shown(cell: TracedCell, row: EntryRow) -> TracedCell:
    place = row.shown(cell.place)
    return TracedCell(place, cell.text) if isinstance(place, CellPlace) else cell


def _value(label: str, reader: ValueReader, row: Row, sent: str | bool | None) -> TracedAnswer:
    reader, row = reader.source(row)
    read = reader.explain(row)
    cells = tuple(TracedCell(row.place(column), row.cells[column.index]) for column in read.columns)
    return TracedAnswer(label, cells, sent, tuple(_notes(reader.value, read, row, sent)))


def _notes(value: ResolvedValue, read: ReadFrom, row: Row, sent: str | bool | None) -> list[Note]:
    """The notes in the order of `Note`."""
    texts = [row.cells[column.index] for column in read.columns]
    links = [dict(row.links).get(column.index) for column in read.columns]
    text, spec = " ".join(texts), value.spec
    found = {
        Note.OTHERWISE: "otherwise" in read.tables,
        Note.NOT_SENT: sent is None and read.value is not OPEN_END and bool(texts),
        Note.SECOND_CHOICE: read.skipped,
        Note.LINK: value.field.kind is Kind.URL and sent is not None and sent in links and sent not in texts,
        Note.JOINED: spec.join is not None and len(texts) > 1,
        Note.SPLIT: any((spec.part, spec.pattern, spec.pick, spec.split and spec.split in text)),
        Note.VALUE_TABLE: "table" in read.tables,
        Note.DEFAULT: sent is not None and not texts and spec.default is not None,
        Note.CURRENT: read.value is OPEN_END,
        Note.CONSTANT: spec.value is not None,
    }
    if isinstance(sent, str) and texts and value.field.kind is Kind.DATE:
        numbers = {int(digits) for digits in re.findall("[0-9]+", text)}
        declared = value.formats.dates or ()
        found[Note.SHORT_YEAR] = any("%y" in form for form in declared) and sent[:4] not in text
        completed = value.formats.missing_day is not None and int(sent[8:]) not in numbers
        found[Note.DATE_COMPLETED] = completed
    if isinstance(sent, str) and texts and value.field.kind is Kind.PHONE:
        found[Note.COUNTRY_CODE] = not stripped(text).startswith(("+", "00"))
    return [note for note in Note if found.get(note) and (texts or note in (Note.DEFAULT, Note.CONSTANT))]
