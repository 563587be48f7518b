"""Turns a row into a request body and its bytes, or into all problems of the row."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

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
    ResolvedSource,
)
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
from importer.problems import CellPlace, Column, Problem
from importer.settings import WireFormat
from importer.transform.candidates import Filtered, filtered
from importer.transform.entry_rows import EntryRow, columns_of, finder_of
from importer.transform.texts import quoted
from importer.transform.values import OPEN_END, ValueCache, ValueReader


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
    if any(isinstance(problem.place, CellPlace) and problem.place.column is None for problem in row.problems):
        return Invalid(row.number, row.problems)  # its cells may be those of other columns
    found: list[Problem] = []
    reader = body_reader(mapping)
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

_REQUIRED = ("email", "first_name", "last_name", "cv")


class BodyReader:
    """Reads bodies from rows; made once for a mapping.

    fields: the readers of the body's own fields, by their names in it; answers: one for each question.
    """

    def __init__(self, mapping: ResolvedMapping) -> None:
        wire, candidate = mapping.wire, mapping.candidate
        self._is_application = mapping.target.operation is Operation.APPLY
        named = {name: getattr(candidate, name) for name in (*_REQUIRED, "terms_of_use", "source_platform")}
        self.fields = {name: ValueReader(value, wire) for name, value in named.items() if value is not None}
        self.answers = tuple(AnswerReader(answer, wire) for answer in mapping.answers)
        read = [column for reader in self.fields.values() for column in reader.columns]
        read += [filter.column for filter in mapping.filters]
        read += [mapping.grouping.column] if mapping.grouping else []
        read += [column for answer in self.answers if not answer.leave_out for column in answer.columns]
        # The columns that only such answers use.
        self.left_out_columns = frozenset(
            column.index for answer in self.answers if answer.leave_out for column in answer.columns
        ).difference(column.index for column in read)

    def read(self, row: Row, problems: list[Problem]) -> Application | PoolCandidate:
        """The body of the request; it may be sent only if no problem was added."""
        person: dict[str, Any] = {
            name: _required(reader, row, problems) if name in _REQUIRED else reader.read(row, problems)
            for name, reader in self.fields.items()
        }
        if not self._is_application:
            return PoolCandidate(row.number, **person)
        left_out: list[Problem] = []
        answers = [answer.read(row, left_out if answer.leave_out else problems) for answer in self.answers]
        return Application(
            row.number,
            **person,
            answers=tuple(answer for answer in answers if answer),
            left_out=tuple(dict.fromkeys(left_out)),
        )


@lru_cache(maxsize=8)
def body_reader(mapping: ResolvedMapping) -> BodyReader:
    """The reader of a mapping's rows; mappings are compared by identity, so each is built once."""
    return BodyReader(mapping)


def _required(reader: ValueReader, row: Row, problems: list[Problem]) -> str:
    before = len(problems)
    found = reader.read(row, problems)
    if found is None and len(problems) == before:
        problems.append(_blank(f"{reader.value.field.label} is missing", row, reader))
    return found or ""


def _blank(message: str, row: Row, reader: ValueReader | EntriesReader) -> Problem:
    hint = "fill it in"
    if isinstance(reader, ValueReader) and (lookup := reader.value.lookup):
        children, key = lookup.join.children, row.cells[lookup.join.equals.index].strip()
        names = " or ".join(f"'{column.label}'" for column in lookup.value.columns)
        if key:
            hint = f"in {children.table}, fill in {names} in a row with {quoted(key)} as '{children.key.label}'"
    return Problem("required-value-missing", message, hint, row.place(reader.first_filled(row)))


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
            self.reader = ValueReader(answer.content, wire)
            self._as_file = answer.content.field.is_file
            if answer.question.answer_type == AnswerType.SHORT_TEXT:
                self._limit = wire.short_text_limit

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the candidate's own row that the answer is from."""
        return self.reader.columns

    def read(self, row: Row, problems: list[Problem]) -> Answer | None:
        """The answer item, or None where an optional question is not answered or a problem was added.

        An answer that may be left out is sent whole or not at all, also where reading the file found the problem.
        """
        if not self.leave_out:
            return self._read(row, problems)
        own = frozenset(column.index for column in self.columns) if row.problems else frozenset()
        found = [problem for problem in row.problems if problem.is_in(own)]
        answer = None if found else self._read(row, found)
        problems += (
            replace(one, message=f"{one.message}; the answer to {self.question.label} is left out") for one in found
        )
        return None if found else answer

    def _read(self, row: Row, problems: list[Problem]) -> Answer | None:
        before = len(problems)
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


def _reference(question: Question, wire: WireFormat) -> int | dict[str, Any]:
    """The question as an answer item names it (service description 2.2: both forms occur)."""
    if wire.question_reference == "id":
        return question.id
    return {"id": question.id} if question.key is None else {"id": question.id, "question_key": question.key}


# --- entries: the education or experience of a row as one JSON string -----------------------------

_FLAGS = tuple(fields[-1] for fields in ENTRY_FIELDS.values())
_ENTRIES_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


class EntrySource(NamedTuple):
    """The readers of the fields of an entry, by their names, and the row that they read."""

    readers: Mapping[str, ValueReader]
    row: EntryRow


class EntriesReader:
    """Reads all entries of a row."""

    def __init__(self, entries: ResolvedEntries, wire: WireFormat) -> None:
        self._sources = tuple(_SourceReader(source, entries.kind, wire) for source in entries.sources)
        self._order = entries.order
        # Several sources, and an export with one row per combination, repeat entries.
        self._repeats = len(self._sources) > 1 or isinstance(entries.sources[0].source, FromGroup)
        self.columns = tuple(column for source in self._sources for column in source.columns)

    def read(self, row: Row, problems: list[Problem]) -> str | None:
        """A JSON array of the entries (service description 2.2 to 2.4), or None where the row has none.

        Blank groups are skipped; an entry has only the fields that are filled in. Only entries that are equal in all
        fields are sent once.
        """
        entries = self._arranged([entry for source in self._sources for entry in source.read(row, problems)])
        return _ENTRIES_ENCODER.encode(entries) if entries else None

    def sources(self, row: Row) -> list[EntrySource]:
        """Where each entry of the answer comes from, in the order of the answer; for a row without problems."""
        read = [one for source in self._sources for one in source.read_with_source(row)]
        source_of = {id(entry): source for entry, source in read}
        return [source_of[id(entry)] for entry in self._arranged([entry for entry, _ in read])]

    def _arranged(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The entries that are sent, in order."""
        entries = [entry for entry in found if entry]
        if self._repeats:
            entries = [entry for index, entry in enumerate(entries) if entry not in entries[:index]]
        return _in_order(entries, self._order)

    def first_filled(self, row: Row) -> Column | None:
        """The column that a problem of the whole answer is shown at."""
        return self.columns[0] if self.columns else None


class _SourceReader:
    """Reads the entries of one source."""

    def __init__(self, entries: ResolvedSource, kind: EntryKind, wire: WireFormat) -> None:
        caches: dict[str, ValueCache] = defaultdict(ValueCache)
        self._own_columns = isinstance(entries.source, FromRow)
        self._find = finder_of(entries.source, entries.missing)
        self._groups = tuple(_GroupReader(group, kind, wire, caches) for group in entries.groups)
        own = tuple(column for group in self._groups for column in group.columns)
        self.columns = columns_of(entries.source) or own  # those of the candidate's own row

    def read(self, row: Row, problems: list[Problem]) -> list[dict[str, Any]]:
        """The entries, in the order of the source; an entry without cells is empty."""
        if self._own_columns:
            return [group.read(row, problems) for group in self._groups if group.has_cells(row)]
        return [self._read_one(entry_row, problems) for entry_row in self._find(row, problems)]

    def read_with_source(self, row: Row) -> list[tuple[dict[str, Any], EntrySource]]:
        """The entries, and where each comes from; for a row without problems."""
        if self._own_columns:
            found = [(group, EntryRow(row)) for group in self._groups]
        else:
            found = [(self._groups[0], one) for one in self._find(row, [])]
        return [(group.read(one.row, []), EntrySource(group.readers, one)) for group, one in found]

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
        self._always_flagged = wire.currently_flags == "always"
        self.readers = {name: ValueReader(value, wire, caches[name]) for name, value in group.fields.items()}
        self.columns = tuple(column for reader in self.readers.values() for column in reader.value.columns)
        self._from_cells = frozenset(
            name for name, reader in self.readers.items() if reader.value.columns and reader.value.default is None
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
        entry = {name: reader.read(row, problems) for name, reader in self.readers.items()}
        if len(problems) == before:
            if not self._is_filled(entry, row):
                return {}
            self._check(entry, row, problems)
        self._set_flag(entry)
        return {name: value for name, value in entry.items() if value is not None}

    def _is_filled(self, entry: dict[str, Any], row: Row) -> bool:
        """Whether cells fill in the entry; a flag set to no (a check box in every row) does not."""
        for name, value in entry.items():
            if value is None or value is False:
                continue
            if (name in self._from_cells and value is not OPEN_END) or self.readers[name].from_cells(row):
                return True
        return False

    def _check(self, entry: dict[str, Any], row: Row, problems: list[Problem]) -> None:
        if entry.get(self._name) is None:
            filled = (name for name, reader in self.readers.items() if reader.from_cells(row))
            field = self._name if self._name in self.readers else next(filled)
            message = f"the entry has no {self._name}"
            problems.append(
                self._problem("entry-name-missing", message, "fill it in, or clear the cells of the entry", field, row)
            )
        start, end, flag = entry.get("start_date"), entry.get("end_date"), entry.get(self._flag)
        if flag is True and isinstance(end, str):
            message = f"the entry is marked as current but has the end date {end}"
            problems.append(self._problem("entry-current-conflict", message, "remove one of the two", "end_date", row))
        if flag is False and end is OPEN_END and self.readers["end_date"].from_cells(row):
            message = "the end date marks the entry as current, but its flag does not"
            problems.append(self._problem("entry-current-conflict", message, "correct one of the two", "end_date", row))
        if start is not None and isinstance(end, str) and start > end:
            message = f"the start date {start} is after the end date {end}"
            problems.append(self._problem("entry-dates-reversed", message, "correct one of the two", "start_date", row))

    def _problem(self, code: str, message: str, hint: str, field: str, row: Row) -> Problem:
        return Problem(code, message, hint, row.place(self.readers[field].first_filled(row)))

    def _set_flag(self, entry: dict[str, Any]) -> None:
        """An open end is sent as the flag, without an end date; a flag set to no outweighs a blank end.

        Whether the service needs a flag that is false is not shown, so it is a setting.
        """
        flag = entry.get(self._flag)
        if entry.get("end_date") is OPEN_END:
            entry["end_date"] = None
            flag = flag is not False
        entry[self._flag] = True if flag else False if self._always_flagged else None


# --- the bytes ------------------------------------------------------------------------------------


def encode(submission: Submission) -> ReadyCandidate:
    """The submission with its request body (4.2, 4.3) as JSON; equal rows give equal bytes."""
    body = _ENCODER.encode(submission.payload()).encode("ascii")
    return ReadyCandidate(submission.row, submission.email, body, submission.left_out)


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be part of a request body")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_as_dict, check_circular=False)
