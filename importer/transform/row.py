"""Turns a row into a request body and its bytes, or into all problems of the row."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from importer.mapping import (
    ENTRY_FIELDS,
    EntryKind,
    EntryOrder,
    FromGroup,
    FromRow,
    ResolvedAnswer,
    ResolvedEntries,
    ResolvedGroup,
    ResolvedMapping,
    ResolvedValue,
)
from importer.models import Answer, Application, Operation, PoolCandidate, Question, ReadyCandidate, Row, Submission
from importer.problems import CellPlace, Column, Problem
from importer.settings import WireFormat
from importer.transform.candidates import Filtered, filtered
from importer.transform.entry_rows import EntryRow, columns_of, finder_of
from importer.transform.texts import in_mapping, quoted, stripped
from importer.transform.values import OPEN_END, ValueCache, ValueReader


@dataclass(frozen=True, slots=True)
class Invalid:
    """A row that cannot be sent; `problems` are all problems found in it, at least one."""

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
    # A cell with a problem is reported once, by the stage that found it first.
    earlier = [problem for problem in row.problems if not _is_unused(problem, mapping)]
    reported = {problem.place for problem in earlier}
    problems = [*earlier, *(problem for problem in found if problem.place not in reported)]
    return Invalid(row.number, tuple(dict.fromkeys(problems))) if problems else body


def _is_unused(problem: Problem, mapping: ResolvedMapping) -> bool:
    """Whether the problem is in an unused column: an error value in a column of remarks stops no candidate."""
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
        """The body of the request; it may be sent only if no problem was added."""
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
    """The reader of a mapping's rows; mappings are compared by identity, so each is built once."""
    return _BodyReader(mapping)


def _optional(value: ResolvedValue | None, wire: WireFormat) -> ValueReader | None:
    return ValueReader(value, wire) if value is not None else None


def _required(reader: ValueReader, row: Row, problems: list[Problem]) -> str:
    before = len(problems)
    found = reader.read(row, problems)
    if found is None and len(problems) == before:
        problems.append(_blank(f"{reader.value.field.label} is missing", row, reader))
    return found or ""


def _blank(message: str, row: Row, reader: ValueReader | _EntriesReader) -> Problem:
    column = reader.first_filled(row)
    cell = stripped(row.cells[column.index]) if column is not None else ""
    problem = Problem("required-value-missing", message, "fill it in", row.place(column))
    if not cell or isinstance(reader, _EntriesReader):
        return problem
    hint = f"fill it in, or change missing: or values: for it {in_mapping(reader.value.place)}"
    return replace(problem, message=f"{message}: {quoted(cell)} is read as an empty cell", hint=hint)


class _AnswerReader:
    """Reads the answer to one question."""

    def __init__(self, answer: ResolvedAnswer, wire: WireFormat) -> None:
        self._question = answer.question
        self._reference = _reference(answer.question, wire)
        self._reader: _EntriesReader | ValueReader
        if isinstance(answer.content, ResolvedEntries):
            self._reader = _EntriesReader(answer.content, wire)
            self._as_file = False
        else:
            self._reader = ValueReader(answer.content, wire)
            self._as_file = answer.content.field.is_file

    def read(self, row: Row, problems: list[Problem]) -> Answer | None:
        """The answer item, or None where an optional question is not answered or a problem was added."""
        before = len(problems)
        found = self._reader.read(row, problems)
        if found is None:
            if self._question.required and len(problems) == before:
                message = f"the required question {self._question.label} has no answer"
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


# --- entries: the education or experience of a row as one JSON string -----------------------------

_FLAGS = tuple(fields[-1] for fields in ENTRY_FIELDS.values())
_ENTRIES_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


class _EntriesReader:
    """Reads all entries of a row."""

    def __init__(self, entries: ResolvedEntries, wire: WireFormat) -> None:
        caches: dict[str, ValueCache] = defaultdict(ValueCache)
        self._order = entries.order
        self._own_columns = isinstance(entries.source, FromRow)
        self._repeats = isinstance(entries.source, FromGroup)  # an export with one row per combination repeats entries
        self._columns = columns_of(entries.source)
        self._find = finder_of(entries.source, entries.missing)
        self._groups = tuple(_GroupReader(group, entries.kind, wire, caches) for group in entries.groups)

    def read(self, row: Row, problems: list[Problem]) -> str | None:
        """A JSON array of the entries (service description 2.2 to 2.4), or None where the row has none.

        Blank groups are skipped; an entry has only the fields that are filled in.
        """
        if self._own_columns:
            found = [group.read(row, problems) for group in self._groups if group.has_cells(row)]
        else:
            found = [self._read_one(entry_row, problems) for entry_row in self._find(row, problems)]
        entries = [entry for entry in found if entry]
        if self._repeats:
            entries = [entry for index, entry in enumerate(entries) if entry not in entries[:index]]
        return _ENTRIES_ENCODER.encode(_in_order(entries, self._order)) if entries else None

    def first_filled(self, row: Row) -> Column | None:
        """The column that a problem of the whole answer is shown at."""
        columns = self._columns or tuple(column for group in self._groups for column in group.columns)
        return columns[0] if columns else None

    def _read_one(self, entry_row: EntryRow, problems: list[Problem]) -> dict[str, Any]:
        group = self._groups[0]
        if not group.has_cells(entry_row.row):
            return {}
        found: list[Problem] = []
        entry = group.read(entry_row.row, found)
        inside = entry_row.inside
        problems.extend(replace(problem, place=inside) if inside else problem for problem in found)
        return entry


def _in_order(entries: list[dict[str, Any]], order: EntryOrder) -> list[dict[str, Any]]:
    """The entries sorted by end date, then start date; current ones count as the latest.

    Entries without dates come last; equal ones keep their order.
    """
    if order is EntryOrder.KEPT:
        return entries
    known = [entry for entry in entries if any(_period_of(entry))]
    known.sort(key=_period_of, reverse=order is EntryOrder.NEWEST_FIRST)
    return [*known, *(entry for entry in entries if not any(_period_of(entry)))]


_CURRENT = "9999"


def _period_of(entry: dict[str, Any]) -> tuple[str, str]:
    current = any(entry.get(flag) is True for flag in _FLAGS)
    start = str(entry.get("start_date") or "")
    return (_CURRENT if current else str(entry.get("end_date") or start), start)


class _GroupReader:
    """Reads the entry of one column group."""

    def __init__(self, group: ResolvedGroup, kind: EntryKind, wire: WireFormat, caches: dict[str, ValueCache]) -> None:
        self._name, *_, self._flag = ENTRY_FIELDS[kind]  # the field that names the entry, and the flag of a current one
        self._readers = {name: ValueReader(value, wire, caches[name]) for name, value in group.fields.items()}
        self.columns = tuple(column for reader in self._readers.values() for column in reader.value.columns)
        self._from_cells = frozenset(
            name for name, reader in self._readers.items() if reader.value.columns and reader.value.default is None
        )
        self._indexes = tuple(column.index for column in self.columns)

    # Loops instead of any(...): these run for each entry of each row, and loops take half as long.

    def has_cells(self, row: Row) -> bool:
        """Whether any cell of the group is filled in; in most rows, most groups are empty."""
        cells = row.cells
        for index in self._indexes:  # noqa: SIM110
            if cells[index]:
                return True
        return False

    def read(self, row: Row, problems: list[Problem]) -> dict[str, Any]:
        """The entry; an empty one where the group is blank."""
        before = len(problems)
        entry = {name: reader.read(row, problems) for name, reader in self._readers.items()}
        if len(problems) == before:
            if not self._is_filled(entry, row):
                return {}
            self._check(entry, row, problems)
        self._replace_open_end(entry)
        return {name: value for name, value in entry.items() if value is not None}

    def _is_filled(self, entry: dict[str, Any], row: Row) -> bool:
        """Whether cells fill in the entry; a flag set to no (a check box in every row) does not."""
        for name, value in entry.items():
            if value is None or value is False:
                continue
            if (name in self._from_cells and value is not OPEN_END) or self._readers[name].from_cells(row):
                return True
        return False

    def _check(self, entry: dict[str, Any], row: Row, problems: list[Problem]) -> None:
        if entry.get(self._name) is None:
            filled = (name for name, reader in self._readers.items() if reader.from_cells(row))
            field = self._name if self._name in self._readers else next(filled)
            message = f"the entry has no {self._name}"
            problems.append(
                self._problem("entry-name-missing", message, "fill it in, or clear the cells of the entry", field, row)
            )
        start, end, flag = entry.get("start_date"), entry.get("end_date"), entry.get(self._flag)
        if flag is True and isinstance(end, str):
            message = f"the entry is marked as current but has the end date {end}"
            problems.append(self._problem("entry-current-conflict", message, "remove one of the two", "end_date", row))
        if flag is False and end is OPEN_END and self._readers["end_date"].from_cells(row):
            message = "the end date marks the entry as current, but its flag does not"
            problems.append(self._problem("entry-current-conflict", message, "correct one of the two", "end_date", row))
        if start is not None and isinstance(end, str) and start > end:
            message = f"the start date {start} is after the end date {end}"
            problems.append(self._problem("entry-dates-reversed", message, "correct one of the two", "start_date", row))

    def _problem(self, code: str, message: str, hint: str, field: str, row: Row) -> Problem:
        return Problem(code, message, hint, row.place(self._readers[field].first_filled(row)))

    def _replace_open_end(self, entry: dict[str, Any]) -> None:
        """An open end is sent as the flag, without an end date; a flag set to no stays."""
        if entry.get("end_date") is OPEN_END:
            entry["end_date"] = None
            if entry.get(self._flag) is not False:
                entry[self._flag] = True


# --- the bytes ------------------------------------------------------------------------------------


def encode(submission: Submission) -> ReadyCandidate:
    """The submission with its request body (4.2, 4.3) as JSON; equal rows give equal bytes."""
    return ReadyCandidate(submission.row, submission.email, _ENCODER.encode(submission.payload()).encode("ascii"))


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be part of a request body")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_as_dict, check_circular=False)
