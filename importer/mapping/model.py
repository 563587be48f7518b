"""What a mapping file says, as frozen values that know their line; nothing is looked up in a file or a service yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from importer.models import LinePlace, SourceOptions, Target


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the file and where it is."""

    value: str
    place: LinePlace

    def __str__(self) -> str:
        return self.value


# --- how cells are read -------------------------------------------------------------------------

Edge = Literal["first", "last"]


@dataclass(frozen=True, slots=True)
class Formats:
    """How the texts of a column are read; None means that nothing was said here."""

    dates: tuple[str, ...] | None = None  # strptime codes, tried in order
    decimal: str | None = None
    thousands: str | None = None
    region: str | None = None  # of phones, ISO 3166-1 alpha-2
    missing_day: Edge | None = None  # for dates that say a month only
    missing_month: Edge | None = None  # for dates that say a year only
    yes: tuple[str, ...] | None = None
    no: tuple[str, ...] | None = None


# --- values -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FromColumns:
    """The first of these columns that is filled in and valid. A name, or `=AB` for a column by its letter."""

    columns: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """These columns joined, blank ones left out."""

    columns: tuple[Text, ...]
    separator: str


@dataclass(frozen=True, slots=True)
class Constant:
    """The same text for every row."""

    text: Text


ValueSource = FromColumns | Joined | Constant


class Otherwise(StrEnum):
    """What becomes of a text that is not in a value table."""

    ERROR = "error"
    KEEP = "keep"
    BLANK = "blank"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One line of a value table: what the cell says, and what it stands for."""

    cell: Text
    target: Text


@dataclass(frozen=True, slots=True)
class ValueTable:
    """A value table, exact after folding."""

    entries: tuple[TableEntry, ...]
    otherwise: Otherwise
    replacement: Text | None  # with Otherwise.VALUE
    place: LinePlace


@dataclass(frozen=True, slots=True)
class ValueSpec:
    """Where a value comes from and how its text is read."""

    source: ValueSource
    place: LinePlace
    split: str | None = None
    table: ValueTable | None = None
    part: Edge | None = None  # of a full name
    default: Text | None = None
    missing: tuple[str, ...] | None = None  # None: as the source says
    present: tuple[str, ...] = ()  # words of an open end
    formats: Formats = Formats()


# --- entries ------------------------------------------------------------------------------------


class EntryKind(StrEnum):
    """The two kinds of entries (service description 2.3 and 2.4)."""

    EDUCATION = "education"
    EXPERIENCE = "experience"


PLACEHOLDER = "{n}"


@dataclass(frozen=True, slots=True)
class NumberedGroups:
    """Column groups whose names hold `{n}`, counted from the header; the first may carry no number."""

    first_unnumbered: bool
    place: LinePlace


@dataclass(frozen=True, slots=True)
class EntryField:
    """A field of an entry and where its value comes from."""

    name: Text
    value: ValueSpec


@dataclass(frozen=True, slots=True)
class EntriesSpec:
    """Entries packed into one answer. `groups` is None where a row holds one entry at most."""

    kind: EntryKind
    groups: NumberedGroups | None
    fields: tuple[EntryField, ...]
    place: LinePlace


# --- answers, candidate, rows -------------------------------------------------------------------


class QuestionBy(StrEnum):
    """What a question is named by."""

    KEY = "key"
    TEXT = "text"
    ID = "id"


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """A question, named by key, text or id, and what answers it."""

    by: QuestionBy
    question: Text
    content: ValueSpec | EntriesSpec


@dataclass(frozen=True, slots=True)
class CandidateField:
    """A field of the request body beside the answers."""

    name: Text
    value: ValueSpec


@dataclass(frozen=True, slots=True)
class Filter:
    """Only rows whose column says (or does not say) one of the words are imported."""

    column: Text
    words: tuple[str, ...]
    negated: bool


class UnusedColumns(StrEnum):
    """What to do about columns that no value is taken from."""

    IGNORE = "ignore"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class SeenQuestion:
    """A question as it was when the mapping was written, named as under `answers:`; ids differ for each job post."""

    name: Text
    text: str
    answer_type: str
    question_type: str
    required: bool
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping file as read. `answers_place` is where a missing answer belongs; `questions_seen` is None where the
    file does not say what was asked when it was written."""

    path: Path
    target: Target
    target_place: LinePlace
    source: SourceOptions
    missing: tuple[str, ...]
    where: Filter | None
    formats: Formats
    unused_columns: UnusedColumns
    candidate: tuple[CandidateField, ...]
    candidate_place: LinePlace
    answers: tuple[AnswerSpec, ...]
    answers_place: LinePlace
    questions_seen: tuple[SeenQuestion, ...] | None = None
