"""The values that cross the borders between rooms. All are frozen; none knows a library or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple

from importer.problems import CellPlace, Column, Origin, Problem

# --- where something is -------------------------------------------------------------------------


CREATED_EMAIL_DIFFERS = "created-email-differs"
CREATED_EMAILS = "created-emails"
"""The problem of a created row whose response names another e-mail, and the one beside it that holds both addresses:
it is told in the report, and neither on the terminal nor in a log.
"""


# --- source -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How a mapping file wants its source to be read; None means: find it, and say what was found."""

    sheet: str | None = None  # a name, or a number as text: 1 is the first visible sheet
    header_row: int | None = None  # the number that a spreadsheet program shows
    encoding: str | None = None
    delimiter: str | None = None
    header_rows: int = 1  # how many rows the header has; more than one needs header_row, the first of them
    skip_rows: tuple[int, ...] = ()  # rows that are not read: instructions, examples
    stop_at: str | None = None  # the table ends before the row whose first filled cell is this
    hidden_rows: Literal["read", "skip"] = "read"  # rows that a spreadsheet program hides or filters out
    longest_cell: int | None = None  # characters of a CSV's cell; more are taken for a quote that is never closed


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a source as text, one cell for each column of its sheet, "" where a cell is empty.

    `number` is the row number that a spreadsheet program shows. `typed` holds the indexes of the cells that a
    workbook keeps as a number, a date or a boolean: their text is the one canonical way to write the value
    (`1234.5`, `2021-03-15`, `2021-03-15 14:30:00`, `TRUE`), whatever decimal sign or date format the mapping
    declares for text. `problems` is what reading found wrong; such a row must not be sent. `members` are the rows of
    the source that this one stands for, where a candidate has several.
    """

    origin: Origin
    number: int
    cells: tuple[str, ...]
    typed: frozenset[int] = frozenset()
    problems: tuple[Problem, ...] = ()
    members: tuple[Row, ...] = ()

    def place(self, column: Column | None = None) -> CellPlace:
        """Where this row, or one cell of it, is in the source: of several members, in the one that the cell is from."""
        if column is not None:
            for member in self.members:
                if member.cells[column.index] == self.cells[column.index]:
                    return CellPlace(self.origin, member.number, column)
        return CellPlace(self.origin, self.number, column)


# --- target -------------------------------------------------------------------------------------


class Operation(StrEnum):
    """The two operations that create something (service description 4.2 and 4.3)."""

    APPLY = "apply"
    ADD_TO_POOL = "add-candidate"


_TARGET_IDS = {Operation.APPLY: re.compile(r"[A-Za-z0-9_-]{1,128}"), Operation.ADD_TO_POOL: re.compile(r"[0-9]{1,18}")}


@dataclass(frozen=True, slots=True)
class Target:
    """A job post (by its hash) or a talent pool (by its number). The id goes into a path, so its form is checked.

    Raises:
        ValueError: the id is no job post hash (`[A-Za-z0-9_-]{1,128}`) or pool number (`[0-9]{1,18}`).
    """

    operation: Operation
    id: str

    def __post_init__(self) -> None:
        if not _TARGET_IDS[self.operation].fullmatch(self.id):
            raise ValueError(f"{self.id!r} is not a valid {self.noun} ID")
        if self.operation is Operation.ADD_TO_POOL:  # 017 is pool 17: the ledger must know its candidates again
            object.__setattr__(self, "id", self.id.lstrip("0") or "0")

    @property
    def noun(self) -> str:
        return "job post" if self.operation is Operation.APPLY else "talent pool"

    @property
    def key(self) -> Literal["job_post", "talent_pool"]:
        """The key by which mapping files and summary.json name this kind of target."""
        return "job_post" if self.operation is Operation.APPLY else "talent_pool"

    def __str__(self) -> str:
        return f"{self.noun} {self.id}"


@dataclass(frozen=True, slots=True)
class TargetRun:
    """A target of an export to several, and the id of its run."""

    run: str
    target: Target


@dataclass(frozen=True, slots=True)
class ManyTargets:
    """The targets of one export, each with its run."""

    runs: tuple[TargetRun, ...]

    def __str__(self) -> str:
        nouns = {run.target.noun for run in self.runs}
        noun = nouns.pop() if len(nouns) == 1 else "target"
        return f"{len(self.runs)} {noun}{'' if len(self.runs) == 1 else 's'}"


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
    """A job post question (service description 2.1), its options taken apart.

    `answer_type` is an AnswerType, or the service's own word where it has one that the description does not list.
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
        """How a person tells this question from others: its key, or else its text."""
        return self.key or self.text or f"question {self.id}"


# --- what is sent -------------------------------------------------------------------------------


class Answer(NamedTuple):
    """An answer item (service description 2.2): `answer`, or `answer_file` with a document ID, never both."""

    job_post_question: int | Mapping[str, Any]
    answer: str | None = None
    answer_file: str | None = None

    def payload(self) -> dict[str, Any]:
        item: dict[str, Any] = {"job_post_question": self.job_post_question}
        if self.answer_file is not None:
            item["answer_file"] = self.answer_file
        else:
            item["answer"] = self.answer
        return item


@dataclass(frozen=True, slots=True)
class Application:
    """A job application made from one row (body of service description 4.2)."""

    row: int
    email: str
    first_name: str
    last_name: str
    cv: str
    terms_of_use: bool | None = None
    answers: tuple[Answer, ...] = ()

    def payload(self) -> dict[str, Any]:
        """The request body as JSON values, its keys always in the same order."""
        body: dict[str, Any] = {
            "email": self.email,
            "first_name": self.first_name,
            "last_name": self.last_name,
            "cv": self.cv,
        }
        if self.terms_of_use is not None:
            body["terms_of_use"] = self.terms_of_use
        body["answers"] = [answer.payload() for answer in self.answers]
        return body


@dataclass(frozen=True, slots=True)
class PoolCandidate:
    """A talent pool addition made from one row (body of service description 4.3)."""

    row: int
    email: str
    first_name: str
    last_name: str
    cv: str
    source_platform: str | None = None

    def payload(self) -> dict[str, Any]:
        """The request body as JSON values, its keys always in the same order."""
        body: dict[str, Any] = {
            "email": self.email,
            "first_name": self.first_name,
            "last_name": self.last_name,
            "cv": self.cv,
        }
        if self.source_platform is not None:
            body["source_platform"] = self.source_platform
        return body


Submission = Application | PoolCandidate


class ReadyCandidate(NamedTuple):
    """A submission as the bytes of its request body: all that sending needs to know of it."""

    row: int
    email: str
    body: bytes


# --- what became of it --------------------------------------------------------------------------


class OutcomeKind(StrEnum):
    """The outcomes of design section 5: every source row lands in exactly one. The order is that of the report."""

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
"""The outcomes that somebody has to look at."""

IMPORT_COLUMNS: Final = ("import_row", "import_status", "import_problem", "import_hint")
"""The columns that result CSVs have after the source's own. They are ignored when a result CSV is fed back."""

TYPED_COLUMN: Final = "import_typed"
"""After them where the source was a workbook: the letters of the cells that it kept as values."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source row in one run.

    `status` is the HTTP status that was last read for the row in this run, None where none was. `attempts` is the
    number of requests sent for the row in this run. `problems` says why, and what to do.
    """

    row: int
    kind: OutcomeKind
    status: int | None = None
    attempts: int = 0
    problems: tuple[Problem, ...] = field(default=())
