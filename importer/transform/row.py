"""Turns a row into a request body and its bytes, or into all problems of the row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from importer.mapping import Kind, ResolvedAnswer, ResolvedEntries, ResolvedMapping, blank_words
from importer.models import (
    Answer,
    AnswerType,
    Application,
    Operation,
    PoolCandidate,
    Question,
    ReadyCandidate,
    Row,
    Submission,
)
from importer.problems import Column, Problem
from importer.settings import WireFormat
from importer.text.normalize import stripped
from importer.transform.candidates import Filtered, filtered
from importer.transform.entries import EntriesReader
from importer.transform.lookups import value_reader
from importer.transform.texts import in_mapping, quoted, undeclared
from importer.transform.values import ValueReader


@dataclass(frozen=True, slots=True)
class Invalid:
    """A row that cannot be sent; `problems` are all problems found in it, at least one.

    `email`: its e-mail address, "" where that cannot be read.
    """

    row: int
    problems: tuple[Problem, ...]
    email: str = ""


def transform_row(row: Row, mapping: ResolvedMapping) -> Application | PoolCandidate | Filtered | Invalid:
    """The body of the request for a row (service description 4.2 or 4.3), or why there is none.

    An invalid answer with `leave_out` is not part of the body, and does not make the row invalid.

    Pure: opens no file, sends nothing, reads no clock. Never raises for what cells hold.
    """
    excluded = filtered(row, mapping.filters)
    if excluded is not None:
        return excluded
    if any(problem.is_of_row for problem in row.problems):
        return Invalid(row.number, row.problems)  # its cells may be those of other columns
    found: list[Problem] = []
    reader = body_reader(mapping)
    if row.problems:
        row = replace(row, problems=undeclared(row, reader.blank))
    body = reader.read(row, found)
    # A cell with a problem is reported once, by the stage that found it first. A problem in an unused column stops no
    # candidate: an error value in a column of remarks.
    earlier = [problem for problem in row.problems if not problem.is_in(mapping.unread | reader.left_out_columns)]
    reported = {problem.place for problem in earlier}
    if not earlier and not found:
        return body
    found = [problem for problem in (*found, *body.left_out) if problem.place not in reported]
    return Invalid(row.number, tuple(dict.fromkeys((*earlier, *found))), body.email)


# --- the body -------------------------------------------------------------------------------------


class BodyReader:
    """Reads bodies from rows; made once for a mapping.

    fields: the readers of the body's own fields, by their names in it; answers: one for each question.
    """

    def __init__(self, mapping: ResolvedMapping) -> None:
        wire = mapping.wire
        self._is_application = mapping.target.operation is Operation.APPLY
        self.fields = {name: value_reader(value, wire) for name, value in mapping.candidate.items()}
        self._required = frozenset(name for name, value in mapping.candidate.items() if value.field.required)
        self.answers = tuple(AnswerReader(answer, wire) for answer in mapping.answers)
        read = [column for reader in self.fields.values() for column in reader.columns]
        others = [*(each.column for each in mapping.filters), *([mapping.grouping.column] if mapping.grouping else [])]
        read += others
        read += [column for answer in self.answers if not answer.leave_out for column in answer.columns]
        # The columns that only such answers use.
        self.left_out_columns = frozenset(
            column.index for answer in self.answers if answer.leave_out for column in answer.columns
        ).difference(column.index for column in read)
        self.blank = blank_words(mapping.single_values, mapping.entry_sources, others)

    def read(self, row: Row, problems: list[Problem]) -> Application | PoolCandidate:
        """The body of the request; it may be sent only if no problem was added."""
        person: dict[str, Any] = {name: self.read_field(name, row, problems) for name in self.fields}
        if not self._is_application:
            return PoolCandidate(row.number, **person)
        left_out: list[Problem] = []
        answers = [
            answer.read_or_leave_out(row, left_out) if answer.leave_out else answer.read(row, problems)
            for answer in self.answers
        ]
        return Application(
            row.number,
            **person,
            answers=tuple(answer for answer in answers if answer),
            left_out=tuple(dict.fromkeys(left_out)),
        )

    def read_field(self, name: str, row: Row, problems: list[Problem]) -> Any:
        """A field of the body; "" if a required one has a problem."""
        reader = self.fields[name]
        return _required(reader, row, problems) if name in self._required else reader.read(row, problems)


@lru_cache(maxsize=8)
def body_reader(mapping: ResolvedMapping) -> BodyReader:
    """The reader of a mapping's rows; mappings are compared by identity, so each is built once."""
    return BodyReader(mapping)


# --- one field, one answer ------------------------------------------------------------------------


# Two people do not have the same.
_PERSONAL = frozenset((Kind.EMAIL, Kind.NAME, Kind.PHONE, Kind.URL, Kind.CV, Kind.DOCUMENT))


def _required(reader: ValueReader, row: Row, problems: list[Problem]) -> str:
    before = len(problems)
    found = reader.read(row, problems)
    if found is None and len(problems) == before:
        label = reader.value.field.label
        label = label.replace("document ID", "file") if reader.value.spec.folder else label  # what its cell names
        problems.append(_blank(f"{label} is missing", row, reader))
    return found or ""


def _blank(message: str, row: Row, reader: ValueReader | EntriesReader) -> Problem:
    column = reader.first_filled(row)
    if not isinstance(reader, EntriesReader) and reader.value.spec.name is not None:  # of a file: its first blank part
        filled = reader.filled(row)
        column = next((each for each in reader.value.columns if each not in filled), column)
    problem = Problem("required-value-missing", message, "fill it in", row.place(column))
    if isinstance(reader, EntriesReader):
        return problem
    if lookup := reader.value.lookup:
        children, key = lookup.join.children, row.cells[lookup.join.equals.index].strip()
        names = " or ".join(f"'{column.label}'" for column in lookup.value.columns)
        hint = f"in {children.table}, fill in {names} in a row with {quoted(key)} as '{children.key.label}'"
        return replace(problem, hint=hint) if key else problem
    cell = stripped(row.cells[column.index]) if column is not None else ""
    if cell:
        hint = f"fill it in, or change missing: or values: for it {in_mapping(reader.value.place)}"
        return replace(problem, message=f"{message}: {quoted(cell)} is read as an empty cell", hint=hint)
    field = reader.value.field
    if field.kind in _PERSONAL or field.is_birth:
        return problem
    return replace(problem, hint=f"fill it in, or set default: for all blank cells {in_mapping(reader.value.place)}")


class AnswerReader:
    """Reads the answer to one question."""

    def __init__(self, answer: ResolvedAnswer, wire: WireFormat) -> None:
        self.question = answer.question
        self.reference = _reference(answer.question, wire)
        self.leave_out = answer.leave_out
        self._limit: int | None = None  # characters
        self.reader: EntriesReader | ValueReader
        if isinstance(answer.content, ResolvedEntries):
            self.reader = EntriesReader(answer.content, wire)
            self._as_file = False
        else:
            self.reader = value_reader(answer.content, wire)
            self._as_file = answer.content.field.is_file
            if answer.question.answer_type == AnswerType.SHORT_TEXT:
                self._limit = wire.short_text_limit

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the candidate's own row that the answer is from."""
        return self.reader.columns

    def read(self, row: Row, problems: list[Problem], entries: list[Problem] | None = None) -> Answer | None:
        """The answer item, or None where an optional question is not answered or a problem was added.

        entries: gets the problems of single entries, without which it is read.
        """
        before = len(problems)
        if entries is not None and isinstance(self.reader, EntriesReader):
            found = self.reader.read(row, problems, entries)
        else:
            found = self.reader.read(row, problems)
        if found is None:
            if self.question.required and len(problems) == before:
                message = f"the required question {self.question.label} has no answer"
                problems.append(_blank(message, row, self.reader))
            return None
        if self._as_file:
            return Answer(self.reference, answer_file=found)
        if self._limit is not None and len(found) > self._limit:
            message = f"the text has {len(found):,} characters, and IMPORTER_SHORT_TEXT_LIMIT allows {self._limit:,}"
            place = row.place(self.reader.first_filled(row))
            problems.append(Problem("text-too-long", message, "shorten it", place))
        return Answer(self.reference, answer=found)

    def read_or_leave_out(self, row: Row, left_out: list[Problem]) -> Answer | None:
        """The same, with the problems for which it or one of its entries is left out, also those that reading found."""
        own = frozenset(column.index for column in self.columns) if row.problems else frozenset()
        found, entries = [problem for problem in row.problems if problem.is_in(own)], list[Problem]()
        answer = None if found else self.read(row, found, entries)
        for what, problems in ((f"the answer to {self.question.label}", found), ("this entry", entries)):
            left_out += (
                replace(one, message=f"{one.message}; {what} is left out", severity="warning") for one in problems
            )
        return None if found else answer


def _reference(question: Question, wire: WireFormat) -> int | dict[str, Any]:
    """The question as an answer item names it (service description 2.2: both forms occur)."""
    if wire.question_reference == "id":
        return question.id
    return {"id": question.id} if question.key is None else {"id": question.id, "question_key": question.key}


# --- the bytes ------------------------------------------------------------------------------------


def encode(submission: Submission) -> ReadyCandidate:
    """The submission with its request body (4.2, 4.3) as JSON; equal rows give equal bytes."""
    body = _ENCODER.encode(submission.payload()).encode("ascii")
    return ReadyCandidate(submission.row, submission.email, body)


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be part of a request body")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_as_dict, check_circular=False)
