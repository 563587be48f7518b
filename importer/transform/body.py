"""Builds the body of a request from a row: an application, or a pool candidate."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from importer.mapping import ResolvedAnswer, ResolvedEntries, ResolvedMapping, ResolvedValue
from importer.models import Answer, Application, Operation, PoolCandidate, Problem, Question, Row, WireFormat
from importer.transform.entries import EntriesReader
from importer.transform.values import ValueReader


class BodyReader:
    """Reads bodies from rows; made once for a mapping."""

    def __init__(self, mapping: ResolvedMapping) -> None:
        wire, candidate = mapping.wire, mapping.candidate
        self._is_application = mapping.target.operation is Operation.APPLY
        self._email = ValueReader(candidate.email, wire)
        self._first_name = ValueReader(candidate.first_name, wire)
        self._last_name = ValueReader(candidate.last_name, wire)
        self._cv = ValueReader(candidate.cv, wire)
        self._terms = _optional(candidate.terms_of_use, wire)
        self._platform = _optional(candidate.source_platform, wire)
        self._answers = tuple(_AnswerReader(answer, wire) for answer in mapping.answers)

    def read(self, row: Row, problems: list[Problem]) -> Application | PoolCandidate:
        """The body of the request; it may be sent only where no problem was added."""
        person = {
            "email": _required(self._email, row, problems),
            "first_name": _required(self._first_name, row, problems),
            "last_name": _required(self._last_name, row, problems),
            "cv": _required(self._cv, row, problems),
        }
        if not self._is_application:
            platform = self._platform.read(row, problems) if self._platform else None
            return PoolCandidate(row.number, **person, source_platform=platform)
        terms = self._terms.read(row, problems) if self._terms else None
        answers = [answer.read(row, problems) for answer in self._answers]
        return Application(
            row.number, **person, terms_of_use=terms, answers=tuple(answer for answer in answers if answer)
        )


@lru_cache(maxsize=8)
def body_reader(mapping: ResolvedMapping) -> BodyReader:
    """The reader of a mapping's rows; a mapping is known by identity, and made into a reader once."""
    return BodyReader(mapping)


def _optional(value: ResolvedValue | None, wire: WireFormat) -> ValueReader | None:
    return ValueReader(value, wire) if value is not None else None


def _required(reader: ValueReader, row: Row, problems: list[Problem]) -> str:
    before = len(problems)
    found = reader.read(row, problems)
    if found is None and len(problems) == before:
        message = f"{reader.value.field.label} is missing"
        problems.append(Problem("required-blank", message, "fill it in", row.place(reader.first_filled(row))))
    return found or ""


class _AnswerReader:
    """Reads the answer to one question."""

    def __init__(self, answer: ResolvedAnswer, wire: WireFormat) -> None:
        self._question = answer.question
        self._reference = _reference(answer.question, wire)
        self._reader: EntriesReader | ValueReader
        if isinstance(answer.content, ResolvedEntries):
            self._reader = EntriesReader(answer.content, wire)
            self._as_file = False
        else:
            self._reader = ValueReader(answer.content, wire)
            self._as_file = answer.content.field.is_file

    def read(self, row: Row, problems: list[Problem]) -> Answer | None:
        """The answer item, or None where an optional question is left open or a problem was added."""
        before = len(problems)
        found = self._reader.read(row, problems)
        if found is None:
            if self._question.required and len(problems) == before:
                problems.append(self._unanswered(row))
            return None
        if self._as_file:
            return Answer(self._reference, answer_file=found)
        return Answer(self._reference, answer=found)

    def _unanswered(self, row: Row) -> Problem:
        column = self._reader.first_filled(row)
        message = f"the required question {self._question.label} is not answered"
        return Problem("required-blank", message, "fill it in", row.place(column))


def _reference(question: Question, wire: WireFormat) -> int | dict[str, Any]:
    """The question as an answer item names it (service description 2.2: both forms occur)."""
    if wire.question_reference == "id":
        return question.id
    return {"id": question.id} if question.key is None else {"id": question.id, "question_key": question.key}
