"""The values that rooms exchange. All are frozen; none depends on a library or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Final, Literal, NamedTuple

from importer.problems import CellPlace, Column, Origin, Problem

CREATED_EMAIL_DIFFERS = "created-email-differs"
"""The problem of a created row whose response has another e-mail address."""
CREATED_EARLIER = Problem(
    "created-by-earlier-request",
    "most likely created by our own earlier request, whose response was lost",
    "no action needed",
)
EXISTS_WORDS = "already-exists-words"
"""The problem of a row that exists already, with the service's words."""
CELLS_MERGED = "cells-merged"  # of a cell below the first one of a range, whose value may be meant for it too
UNCONFIRMED_ELSEWHERE = "unconfirmed-elsewhere"  # another run has sent this row with other data
IMPORTED_WITH_OTHER_DATA = "already-imported-different"  # a correction or another person: a person must decide
ROUTE_UNKNOWN = "route-unknown"  # of a row that no mapping of a folder selects


# --- source -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TakenFile:
    """A source that an inbox has moved: where a person finds it, and the commands that import it again from there."""

    file: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How a mapping sets its source to be read. None: detect it, and show what was detected."""

    sheet: str | None = None  # a name, or a number as text: 1 is the first visible sheet
    header_row: int | None = None  # the number that a spreadsheet program shows
    encoding: str | None = None
    delimiter: str | None = None
    header_rows: int | None = None  # of the header; more than one requires header_row, the first of them
    skip_rows: tuple[int, ...] = ()  # rows that are not read, such as instructions and examples
    stop_at: str | None = None  # the table ends before the row whose first filled cell is this
    short_rows: Literal["blank"] | None = None  # of a CSV: the last cells that Excel left out are blank; None: refused
    hidden_rows: Literal["read", "skip"] | None = None  # that a spreadsheet program hides; None: read, with a warning
    names: tuple[str, ...] = field(default=(), compare=False)  # of columns that are read: they show the header's row
    counts_from_1900: bool = field(default=False, compare=False)  # numbers are read as days since 1900


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a source as text, one cell for each column of its sheet, "" where a cell is empty.

    `number` is the row number that a spreadsheet program shows. `typed` has the indexes of the cells that a workbook
    stores as a number, a date or a boolean: their text has one canonical format (`1234.5`, `1234.5 EUR`, `2021-03-15`,
    `2021-03-15 14:30:00`, `TRUE`), whatever decimal separator or date format the mapping declares for text.
    `problems` were found while reading; a row with problems must not be sent. `members` are the source rows of a
    candidate who has several. `links`: the indexes of cells with a hyperlink, each with its address.
    """

    origin: Origin
    number: int
    cells: tuple[str, ...]
    typed: frozenset[int] = frozenset()
    problems: tuple[Problem, ...] = ()
    members: tuple[Row, ...] = ()
    links: tuple[tuple[int, str], ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process; without the values that most rows do not have, this takes two thirds of the time."""
        fields: tuple[object, ...] = (self.origin, self.number, self.cells)
        rest = (self.typed, self.problems, self.members, self.links)
        return Row, fields + rest if any(rest) else fields

    def place(self, column: Column | None = None) -> CellPlace:
        """The place of this row or of one of its cells; with several members, in the member that the cell is from."""
        if column is not None:
            for member in self.members:
                if member.cells[column.index] == self.cells[column.index]:
                    return CellPlace(self.origin, member.number, column)
        return CellPlace(self.origin, self.number, column)


@dataclass(frozen=True, slots=True)
class CorrectedCell:
    """A cell that is read with another text than it has in the source, which stays as it is.

    is_value: the new text is a number, a date or TRUE, as in `Row.typed`, and not what was typed as text.
    """

    row: int
    column: Column
    old: str
    new: str
    is_value: bool = False


# --- target -------------------------------------------------------------------------------------


class Operation(StrEnum):
    """The two operations that create something (service description 4.2 and 4.3)."""

    APPLY = "apply"
    ADD_TO_POOL = "add-candidate"


_TARGET_IDS = {Operation.APPLY: re.compile(r"[A-Za-z0-9_-]{1,128}"), Operation.ADD_TO_POOL: re.compile(r"[0-9]{1,18}")}


@dataclass(frozen=True, slots=True)
class Target:
    """A job post (by its hash) or a talent pool (by its number). The ID is part of a URL path, so it is checked.

    Raises ValueError: it is not a job post hash (`[A-Za-z0-9_-]{1,128}`) or pool number (`[0-9]{1,18}`).
    """

    operation: Operation
    id: str

    def __post_init__(self) -> None:
        if not _TARGET_IDS[self.operation].fullmatch(self.id):
            raise ValueError(f"{self.id!r} is not a valid {self.noun} ID")
        if self.operation is Operation.ADD_TO_POOL:  # 017 is pool 17, also in the ledger
            object.__setattr__(self, "id", self.id.lstrip("0") or "0")

    @property
    def noun(self) -> str:
        return "job post" if self.operation is Operation.APPLY else "talent pool"

    @property
    def key(self) -> Literal["job_post", "talent_pool"]:
        """The key of this kind of target in mappings and in summary.json."""
        return "job_post" if self.operation is Operation.APPLY else "talent_pool"

    def __str__(self) -> str:
        return f"{self.noun} {self.id}"


class Route(NamedTuple):
    """What a mapping of a folder has to know of all: the values of the rows that they select, as they are written.

    takes_unknown: whether rows that no mapping selects are told in the report of this one.
    """

    words: tuple[str, ...]
    takes_unknown: bool


class AnswerType(StrEnum):
    """The answer types of service description 2.1."""

    DATE = "date"
    SHORT_TEXT = "short_text"
    LONG_TEXT = "long_text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    YES_NO = "yes_no"
    SINGLE_CHOICE = "single_choice"
    MULTIPLE_CHOICE = "multiple_choice"
    FILE_UPLOAD = "file_upload"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Question:
    """A job post question (service description 2.1), with its options split.

    `answer_type` is an AnswerType, or another type of the service that the description does not list.
    """

    id: int
    text: str
    required: bool
    answer_type: str
    options: tuple[str, ...] = ()
    key: str | None = None
    type: str | None = None

    @property
    def label(self) -> str:
        """The question's name for a person: its key, or else its text."""
        return self.key or self.text or f"question {self.id}"


# --- what is sent -------------------------------------------------------------------------------


class Answer(NamedTuple):
    """An answer item (service description 2.2): `answer`, or `answer_file` with a document ID, never both."""

    job_post_question: int | Mapping[str, Any]
    answer: str | None = None
    answer_file: str | None = None

    def payload(self) -> dict[str, Any]:
        if self.answer_file is not None:
            return {"job_post_question": self.job_post_question, "answer_file": self.answer_file}
        return {"job_post_question": self.job_post_question, "answer": self.answer}


_PERSON: Final = ("email", "first_name", "last_name", "cv")


@dataclass(frozen=True, slots=True)
class Application:
    """A job application made from one row (body of service description 4.2).

    left_out: the problems of optional answers that are not sent, as warnings.
    """

    row: int
    email: str
    first_name: str
    last_name: str
    cv: str
    terms_of_use: bool | None = None
    answers: tuple[Answer, ...] = ()
    left_out: tuple[Problem, ...] = ()

    def payload(self) -> dict[str, Any]:
        """The request body as JSON values, its keys always in the same order."""
        body: dict[str, Any] = {name: getattr(self, name) for name in _PERSON}
        if self.terms_of_use is not None:
            body["terms_of_use"] = self.terms_of_use
        body["answers"] = [answer.payload() for answer in self.answers]
        return body


@dataclass(frozen=True, slots=True)
class PoolCandidate:
    """A talent pool addition made from one row (body of service description 4.3)."""

    left_out: ClassVar[tuple[Problem, ...]] = ()  # there are no answers

    row: int
    email: str
    first_name: str
    last_name: str
    cv: str
    source_platform: str | None = None

    def payload(self) -> dict[str, Any]:
        """The request body as JSON values, its keys always in the same order."""
        body: dict[str, Any] = {name: getattr(self, name) for name in _PERSON}
        if self.source_platform is not None:
            body["source_platform"] = self.source_platform
        return body


Submission = Application | PoolCandidate


class ReadyCandidate(NamedTuple):
    """A submission with the bytes of its request body: all that sending needs. Of who is forgotten they are b"".

    origin: the row that it was first, as a hash (see `Fingerprints.origin`).
    """

    row: int
    email: str
    body: bytes
    origin: bytes = b""


# --- outcomes -----------------------------------------------------------------------------------


class OutcomeKind(StrEnum):
    """The outcomes (docs/results.md): every source row has exactly one. The order is that of the report."""

    CREATED = "created"
    ALREADY_EXISTS = "already_exists"
    REJECTED = "rejected"
    INVALID = "invalid"
    FAILED = "failed"
    UNCONFIRMED = "unconfirmed"
    NOT_SENT = "not_sent"
    ALREADY_IMPORTED = "already_imported"
    FILTERED = "filtered"


NEEDS_ATTENTION: Final = (OutcomeKind.REJECTED, OutcomeKind.INVALID, OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED)
"""The outcomes that a person has to review."""
IN_SERVICE: Final = (OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS, OutcomeKind.ALREADY_IMPORTED)
TO_FIX: Final = (OutcomeKind.INVALID, OutcomeKind.REJECTED)
"""Those of rows that a person fixes."""
SENT_AGAIN: Final = (OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED, OutcomeKind.NOT_SENT)
"""Those of rows that the same command sends again."""

IMPORT_COLUMNS: Final = ("import_row", "import_status", "import_problem", "import_hint")
"""The columns that are added to the source's columns in results files."""

ID_COLUMN: Final = "import_candidate_id"
"""The column after these in the files of a talent pool: the ID of a created candidate in the service."""

CANDIDATE_COLUMN: Final = "import_candidate"
"""The column in the sheets of report.xlsx that shows name and e-mail beside the problems."""

SUMMARY_SHEET: Final = "Summary"
"""The first sheet of report.xlsx."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one source row in one run.

    `status` is the last HTTP status received for the row in this run, or None. `attempts` is the number of requests
    sent for the row in this run. `problems` are the reasons, with what to do. `candidate_id`: of a candidate that this
    run added to a talent pool, as far as the response showed it.
    """

    row: int
    kind: OutcomeKind
    status: int | None = None
    attempts: int = 0
    problems: tuple[Problem, ...] = field(default=())
    candidate_id: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Why sending stopped early, and what to do. `code` is stable."""

    code: str
    reason: str
    hint: str
