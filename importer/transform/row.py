"""Makes a row into the body of a request and its bytes, or into all that is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from importer.mapping import ResolvedAnswer, ResolvedEntries, ResolvedMapping, ResolvedValue
from importer.models import (
    Answer,
    Application,
    CellPlace,
    Operation,
    PoolCandidate,
    Problem,
    Question,
    ReadyCandidate,
    Row,
    Submission,
    WireFormat,
)
from importer.transform.candidates import Filtered, filtered
from importer.transform.entries import EntriesReader
from importer.transform.values import ValueReader


@dataclass(frozen=True, slots=True)
class Invalid:
    """The row cannot be sent; `problems` are all that were found in it, at least one."""

    row: int
    problems: tuple[Problem, ...]


def transform_row(row: Row, mapping: ResolvedMapping) -> Application | PoolCandidate | Filtered | Invalid:
    """The body of the request for a row (service description 4.2 or 4.3), or why there is none.

    Pure: opens no file, sends nothing, reads no clock. Never raises for what cells hold.
    """
    left_out = filtered(row, mapping.filters)
    if left_out is not None:
        return left_out
    found: list[Problem] = []
    body = _body_reader(mapping).read(row, found)
    # A cell that reading could not make sense of is reported once, by the room that met it first.
    earlier = [problem for problem in row.problems if not _is_of_no_matter(problem, mapping)]
    reported = {problem.place for problem in earlier}
    problems = [*earlier, *(problem for problem in found if problem.place not in reported)]
    return Invalid(row.number, tuple(dict.fromkeys(problems))) if problems else body


def _is_of_no_matter(problem: Problem, mapping: ResolvedMapping) -> bool:
    """Whether it is in a cell that nothing takes: an error value in a column of remarks holds up no candidate."""
    place = problem.place
    return isinstance(place, CellPlace) and place.column is not None and place.column.index in mapping.unread


# --- the body -------------------------------------------------------------------------------------


class _BodyReader:
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
def _body_reader(mapping: ResolvedMapping) -> _BodyReader:
    """The reader of a mapping's rows; a mapping is known by identity, and made into a reader once."""
    return _BodyReader(mapping)


def _optional(value: ResolvedValue | None, wire: WireFormat) -> ValueReader | None:
    return ValueReader(value, wire) if value is not None else None


def _required(reader: ValueReader, row: Row, problems: list[Problem]) -> str:
    before = len(problems)
    found = reader.read(row, problems)
    if found is None and len(problems) == before:
        problems.append(_blank(f"{reader.value.field.label} is missing", row, reader))
    return found or ""


def _blank(message: str, row: Row, reader: ValueReader | EntriesReader) -> Problem:
    return Problem("required-blank", message, "fill it in", row.place(reader.first_filled(row)))


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
                message = f"the required question {self._question.label} is not answered"
                problems.append(_blank(message, row, self._reader))
            return None
        if self._as_file:
            return Answer(self._reference, answer_file=found)
        return Answer(self._reference, answer=found)


def _reference(question: Question, wire: WireFormat) -> int | dict[str, Any]:
    """The question as an answer item names it (service description 2.2: both forms occur)."""
    if wire.question_reference == "id":
        return question.id
    return {"id": question.id} if question.key is None else {"id": question.id, "question_key": question.key}


# --- the bytes ------------------------------------------------------------------------------------


def encode(submission: Submission) -> ReadyCandidate:
    """The submission with its request body (4.2, 4.3) as JSON; equal rows give equal bytes."""
    return ReadyCandidate(submission.row, submission.email, _ENCODER.encode(submission.payload()).encode("ascii"))


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in a request body")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_as_dict, check_circular=False)
