"""What a mapping file says, as frozen values that know their line; nothing is looked up in a file or a service yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from importer.mapping.linear_pattern import LinearPattern
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
Part = Literal["first", "last", "start", "end"]  # of a full name; of a range of two values


class Surname(StrEnum):
    """Which words of a full name are the last name."""

    LAST_WORD = "last_word"
    FIRST_WORD = "first_word"
    CAPITALS = "capitals"
    BEFORE_COMMA = "before_comma"


@dataclass(frozen=True, slots=True)
class NameRule:
    """How a full name is taken apart.

    particles: words that belong to the last name where they stand right before it (`van`, `de la`); suffixes: words
    that belong to it where they end the whole name (`Jr.`). Both folded.
    """

    surname: Surname = Surname.LAST_WORD
    particles: frozenset[str] = frozenset()
    suffixes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Formats:
    """How the texts of a column are read; None means that nothing was said here."""

    dates: tuple[str, ...] | None = None  # strptime codes or words such as excel, all tried
    short_year: LinePlace | None = None  # where the first of them with a year of two digits is, which needs a pivot
    months: tuple[str, ...] | None = None  # languages of month names
    pivot: int | None = None  # two-digit years lie in the hundred years from this one
    decimal: str | None = None
    thousands: str | None = None
    region: str | None = None  # of phones, ISO 3166-1 alpha-2
    missing_day: Edge | None = None  # for dates that say a month only
    missing_month: Edge | None = None  # for dates that say a year only
    yes: tuple[str, ...] | None = None
    no: tuple[str, ...] | None = None
    names: NameRule | None = None


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
    """What becomes of a text that neither a value table nor the options of its question know."""

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
class Pattern:
    """A regular expression that a cell must fit whole, and the named group of it that is the value."""

    expression: LinearPattern
    group: str
    place: LinePlace


class Take(StrEnum):
    """Which of the pieces of a split cell is the value."""

    FIRST = "first"
    FIRST_VALID = "first_valid"


@dataclass(frozen=True, slots=True)
class ValueSpec:
    """Where a value comes from and how its text is read."""

    source: ValueSource
    place: LinePlace
    pattern: Pattern | None = None
    split: str | None = None
    take: Take | None = None
    table: ValueTable | None = None
    part: Part | None = None
    before: str = ""  # put context what the cell says, where it says something
    after: str = ""
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
class OwnColumns:
    """Columns of the row itself, which holds one entry at most."""


@dataclass(frozen=True, slots=True)
class ChildSource:
    """Another table that entries are taken from: a sheet of the same workbook (`file` is None), or a file beside the
    source, read by its own options."""

    file: str | None
    options: SourceOptions

    def __str__(self) -> str:
        return self.file or self.options.sheet or ""


@dataclass(frozen=True, slots=True)
class ChildRows:
    """The rows of a child table whose `key` says what `equals` says in the row; `order_by` holds their order."""

    source: ChildSource
    key: Text
    equals: Text
    order_by: Text | None
    place: LinePlace


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The rows of one candidate, all of them or those of a record type; needs `group_by`."""

    where: Filter | None
    place: LinePlace


@dataclass(frozen=True, slots=True)
class CellPieces:
    """The pieces of one cell, each of which must fit a pattern whole; its named groups are the columns."""

    column: Text
    split: str
    pattern: LinearPattern
    place: LinePlace


@dataclass(frozen=True, slots=True)
class JsonCell:
    """A list in one cell, written as JSON or as Python prints it; the keys of its objects are the columns."""

    column: Text
    place: LinePlace


@dataclass(frozen=True, slots=True)
class ParallelLists:
    """Lists in several cells that belong together by position, or by the number that each item ends in.

    `split` is None where each list is written as JSON or as Python prints it.
    """

    split: str | None
    numbered: bool
    place: LinePlace


EntriesSource = OwnColumns | NumberedGroups | ChildRows | GroupRows | CellPieces | JsonCell | ParallelLists


class EntryOrder(StrEnum):
    """In which order entries are sent."""

    KEPT = "kept"
    NEWEST_FIRST = "newest_first"
    OLDEST_FIRST = "oldest_first"


@dataclass(frozen=True, slots=True)
class EntryField:
    """A field of an entry and where its value comes from."""

    name: Text
    value: ValueSpec


@dataclass(frozen=True, slots=True)
class EntriesSpec:
    """Entries packed into one answer."""

    kind: EntryKind
    source: EntriesSource
    fields: tuple[EntryField, ...]
    order: EntryOrder
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


@dataclass(frozen=True, slots=True)
class GroupBy:
    """Rows that say the same in `column` are one candidate.

    blank_continues: a row that is blank there belongs to the row above it. main: the rows that hold the candidate's
    own cells, where rows are of several record types.
    """

    column: Text
    blank_continues: bool
    main: Filter | None
    place: LinePlace


class Repeated(StrEnum):
    """What becomes of rows with one e-mail: the first is sent, or none is."""

    FIRST = "first"
    ERROR = "error"


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
    group_by: GroupBy | None
    route: Filter | None
    formats: Formats
    unused_columns: UnusedColumns
    repeated: Repeated
    candidate: tuple[CandidateField, ...]
    candidate_place: LinePlace
    answers: tuple[AnswerSpec, ...]
    answers_place: LinePlace
    questions_seen: tuple[SeenQuestion, ...] | None = None

    @property
    def child_sources(self) -> tuple[ChildSource, ...]:
        """The other tables that entries are taken from, each once."""
        contents = [answer.content for answer in self.answers]
        sources = [content.source for content in contents if isinstance(content, EntriesSpec)]
        return tuple(dict.fromkeys(source.source for source in sources if isinstance(source, ChildRows)))
