"""A mapping that is resolved against a header and the live questions: the input of transform for each row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, fields
from datetime import date
from enum import StrEnum
from typing import Protocol

from importer.mapping.entries import EntryKind, EntryOrder
from importer.mapping.linear_pattern import LinearPattern
from importer.mapping.values import DuplicatePolicy, Formats, Otherwise, Part, Take
from importer.models import AnswerType, Question, Row, Target
from importer.problems import Column, LinePlace, Origin, Problem
from importer.settings import WireFormat
from importer.text.normalize import normalize

# --- what the service expects of each value -----------------------------------------------------


class Kind(StrEnum):
    """The kinds of values; transform has one reader for each."""

    TEXT = "text"  # may have several lines
    LINE = "line"
    NAME = "name"
    EMAIL = "email"
    PHONE = "phone"
    URL = "url"
    DATE = "date"
    INTEGER = "integer"
    DECIMAL = "decimal"
    YES_NO = "yes_no"  # an answer, in the words of the wire format
    FLAG = "flag"  # a boolean of the request body or of an entry
    CHOICE = "choice"
    CHOICES = "choices"
    DOCUMENT = "document"  # a document ID: an integer or numeric text
    CV = "cv"  # a document ID that may contain letters


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What the service expects of a value: its kind, its name in messages, and the options of a choice.

    `noun` completes "is not ...": `a degree that the service accepts`, `an option of level`.
    `label` completes "... is missing".
    years_ahead: how far in the future a date may lie; None: anywhere. is_birth: of a date of birth.
    """

    kind: Kind
    label: str
    noun: str = ""
    options: tuple[str, ...] = ()
    years_ahead: int | None = None
    is_birth: bool = False

    @property
    def is_file(self) -> bool:
        """Whether an answer of this kind is sent as answer_file."""
        return self.kind is Kind.DOCUMENT


class Options:
    """The options of a choice. Options with equal normalized texts are distinguished by their exact spelling."""

    def __init__(self, options: Sequence[str]) -> None:
        self.spelled = tuple(options)
        self._exact = frozenset(options)
        self._normalized: dict[str, str | None] = {}
        for option in options:
            normalized = normalize(option)
            self._normalized[normalized] = None if normalized in self._normalized else option

    def find(self, text: str) -> str | None:
        """The option as the service spells it, or None."""
        return text if text in self._exact else self._normalized.get(normalize(text))


DEGREES = (
    "high_school_diploma",
    "associate_degree",
    "bachelors_degree",
    "masters_degree",
    "doctorate_degree",
    "certificate_or_diploma",
)
EMPLOYMENT_TYPES = ("full_time", "part_time", "contract", "intern")

_CANDIDATE = {
    "email": FieldSpec(Kind.EMAIL, "the e-mail address"),
    "first_name": FieldSpec(Kind.NAME, "the first name"),
    "last_name": FieldSpec(Kind.NAME, "the last name"),
    "cv": FieldSpec(Kind.CV, "the CV's document ID"),
    "terms_of_use": FieldSpec(Kind.FLAG, "terms_of_use"),
    "source_platform": FieldSpec(Kind.LINE, "source_platform"),
}

_ENTRY_KINDS = {
    "start_date": Kind.DATE,
    "end_date": Kind.DATE,
    "currently_pursuing": Kind.FLAG,
    "currently_employed": Kind.FLAG,
}
_ANSWER_KINDS = {
    AnswerType.DATE: Kind.DATE,
    AnswerType.SHORT_TEXT: Kind.LINE,
    AnswerType.LONG_TEXT: Kind.TEXT,
    AnswerType.INTEGER: Kind.INTEGER,
    AnswerType.DECIMAL: Kind.DECIMAL,
    AnswerType.YES_NO: Kind.YES_NO,
    AnswerType.SINGLE_CHOICE: Kind.CHOICE,
    AnswerType.MULTIPLE_CHOICE: Kind.CHOICES,
    AnswerType.FILE_UPLOAD: Kind.DOCUMENT,
    AnswerType.URL: Kind.URL,
}
# Service description 2.1: these question types are more specific than the answer_type.
# Dates of what has happened; studies may end in the future.
_YEARS_AHEAD = {
    ("education", "start_date"): 0,
    ("education", "end_date"): 10,
    ("experience", "start_date"): 0,
    ("experience", "end_date"): 0,
}
# Questions about a birth date, in the languages of the months and some more.
_BIRTH = re.compile(
    r"birth|\bdob\b|dogum|doğum|geburt|naissance|nacimiento|nascita|nascimento|geboorte|urodz|рожд|народж|narozen|"
    r"f[øo]dsel|f[öo]delse|syntym|szület|naster|naşter|γέννη|生年月日|出生|ميلاد|जन्म"
)
_SPECIAL_KINDS = {"photo": Kind.DOCUMENT, "phone": Kind.PHONE}


def spec_of_candidate(name: str) -> FieldSpec:
    """The specification of a candidate field (bodies of service description 4.2 and 4.3)."""
    return _CANDIDATE[name]


def spec_of_entry(kind: EntryKind, name: str) -> FieldSpec:
    """The specification of an entry field (service description 2.3 and 2.4)."""
    label = f"{name} of {kind}"
    if name == "degree":
        return FieldSpec(Kind.CHOICE, label, "a degree that the service accepts", DEGREES)
    if name == "employment_type":
        return FieldSpec(Kind.CHOICE, label, "an employment type that the service accepts", EMPLOYMENT_TYPES)
    ahead = _YEARS_AHEAD.get((kind, name))
    return FieldSpec(_ENTRY_KINDS.get(name, Kind.LINE), label, years_ahead=ahead)


def spec_of_question(question: Question) -> FieldSpec | None:
    """The specification of an answer (service description 2.1); None if the answer_type is unknown."""
    label = f"the answer to {question.label}"
    kind = _SPECIAL_KINDS.get(question.type or "")
    if question.type == "address":  # a text, whatever its answer type
        kind = Kind.TEXT if question.answer_type == AnswerType.LONG_TEXT else Kind.LINE
    if kind is None and question.answer_type in set(AnswerType):
        kind = _ANSWER_KINDS[AnswerType(question.answer_type)]
    if kind is None:
        return None
    options = question.options if kind in (Kind.CHOICE, Kind.CHOICES) else ()
    is_birth = kind is Kind.DATE and _BIRTH.search(normalize(f"{question.key} {question.text}")) is not None
    return FieldSpec(kind, label, f"an option of {question.label}", options, 0 if is_birth else None, is_birth)


# --- values -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that must match a whole cell, and the named group that is the value."""

    expression: LinearPattern
    group: str
    place: LinePlace


@dataclass(frozen=True, slots=True)
class ResolvedTable:
    """A value table by normalized cell text."""

    targets: dict[str, str]
    otherwise: Otherwise
    replacement: str | None
    place: LinePlace


@dataclass(frozen=True, slots=True)
class ResolvedValue:
    """A value, ready to be read: from the first of `columns` that is filled in and valid, from all of them joined with
    `separator`, or `constant` if there are no columns. `missing` and `present` are normalized words; if `present`
    contains "", an empty cell is an open end. With a lookup, `columns` is the column that is equal to its key."""

    field: FieldSpec
    place: LinePlace
    formats: Formats
    columns: tuple[Column, ...] = ()
    separator: str | None = None
    constant: str | None = None
    pattern: Pattern | None = None
    split: str | None = None
    take: Take | None = None
    table: ResolvedTable | None = None
    part: Part | None = None
    before: str = ""  # put before the text of the cell
    after: str = ""
    default: str | None = None
    latest: date | None = None  # a later date is a problem
    missing: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    lookup: Lookup | None = None


@dataclass(frozen=True, slots=True)
class ResolvedGroup:
    """The columns of one entry: its fields by name, in the order of the service description."""

    fields: dict[str, ResolvedValue]


@dataclass(frozen=True, slots=True)
class ResolvedFilter:
    """Includes rows whose column has one of the normalized words, or none of them if `negated`.

    `label`: the key of the filter in the mapping, for example where.
    """

    column: Column
    words: frozenset[str]
    negated: bool
    label: str = "where"


# --- entries ------------------------------------------------------------------------------------


class Table(Protocol):
    """Another table than the source."""

    @property
    def origin(self) -> Origin: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    def rows(self) -> Iterator[Row]: ...


@dataclass(frozen=True, eq=False)
class ChildIndex:
    """The rows of another table, in memory. Keys are compared exactly, without surrounding spaces.

    order_by: the column of whole numbers that orders the rows of one key; None: the order of the table.
    """

    origin: Origin
    key: Column
    order_by: Column | None
    by_key: Dictionary[str, Sequence[Row]]

    @property
    def table(self) -> str:
        """The name of the table for a person: the file, and its sheet."""
        return f"{self.origin.file}, {self.origin.sheet}" if self.origin.sheet else self.origin.file

    def rows_of(self, key: str) -> Sequence[Row]:
        """The rows of a key; empty for a blank key."""
        return self.by_key.get(key.strip(), ()) if key.strip() else ()


@dataclass(frozen=True, slots=True)
class FromRow:
    """The entries are in the row itself, one for each group of columns."""


@dataclass(frozen=True, slots=True)
class FromChild:
    """The entries, or the value of a lookup, are in the rows of another table whose key matches the column `equals`."""

    equals: Column
    children: ChildIndex

    def rows_of(self, row: Row) -> Sequence[Row]:
        """The rows there that belong to this row, in the order of that table."""
        return self.children.rows_of(row.cells[self.equals.index])


@dataclass(frozen=True, slots=True)
class Lookup:
    """A value in the row of another table: all rows of one key must have the same one, or none."""

    join: FromChild
    value: ResolvedValue


@dataclass(frozen=True, slots=True)
class FromGroup:
    """The entries are those rows of the candidate that the filter includes."""

    where: ResolvedFilter | None


@dataclass(frozen=True, slots=True)
class FromPieces:
    """The entries are the pieces of one cell; the groups of the pattern, in order, are the columns of the fields."""

    column: Column
    split: str
    pattern: LinearPattern
    place: LinePlace


@dataclass(frozen=True, slots=True)
class FromJson:
    """The entries are the objects of a list in one cell; `keys` are the columns of the fields."""

    column: Column
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromLists:
    """The entries are the items of parallel lists in these columns; see ParallelLists."""

    columns: tuple[Column, ...]
    split: str | None
    numbered: bool


EntriesFrom = FromRow | FromChild | FromGroup | FromPieces | FromJson | FromLists


@dataclass(frozen=True, slots=True)
class ResolvedSource:
    """A source of entries and their columns; several groups only with FromRow.
    `missing`: normalized words that are read as an empty cell of entries."""

    source: EntriesFrom
    groups: tuple[ResolvedGroup, ...]
    missing: frozenset[str]


@dataclass(frozen=True, slots=True)
class ResolvedEntries:
    """The entries of an answer, from one or several sources."""

    kind: EntryKind
    sources: tuple[ResolvedSource, ...]
    order: EntryOrder


# --- the whole ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    """A question of the target and what answers it. `leave_out`: an invalid answer is not sent, and its row is."""

    question: Question
    content: ResolvedValue | ResolvedEntries
    leave_out: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedCandidate:
    """The fields of the request body except the answers."""

    email: ResolvedValue
    first_name: ResolvedValue
    last_name: ResolvedValue
    cv: ResolvedValue
    terms_of_use: ResolvedValue | None = None
    source_platform: ResolvedValue | None = None


@dataclass(frozen=True, slots=True)
class ResolvedGrouping:
    """How rows become candidates; see GroupBy. `shared`: the columns that must be equal in all rows of a
    candidate."""

    column: Column
    blank_continues: bool
    main: ResolvedFilter | None
    shared: tuple[Column, ...]
    place: LinePlace


@dataclass(frozen=True, eq=False)
class ResolvedMapping:
    """Everything that transform needs. `warnings` do not stop a run.

    `unread`: the indexes of the columns that are not used; problems in their cells do not make a row invalid.

    Two of these are equal only if they are the same object, because transform caches by mapping.
    """

    target: Target
    candidate: ResolvedCandidate
    answers: tuple[ResolvedAnswer, ...]
    filters: tuple[ResolvedFilter, ...]
    grouping: ResolvedGrouping | None
    duplicate_policy: DuplicatePolicy
    wire: WireFormat
    unread: frozenset[int] = frozenset()
    warnings: tuple[Problem, ...] = ()

    @property
    def values(self) -> Iterator[ResolvedValue]:
        """All values, including those of entries and in other tables."""
        contents = [
            *(getattr(self.candidate, each.name) for each in fields(self.candidate)),
            *(answer.content for answer in self.answers),
        ]
        for content in contents:
            if isinstance(content, ResolvedValue):
                yield content.lookup.value if content.lookup else content
            elif content is not None:
                groups = (group for source in content.sources for group in source.groups)
                yield from (value for group in groups for value in group.fields.values())

    @property
    def joins(self) -> tuple[FromChild, ...]:
        """The joins with tables of entries, in the order of the answers."""
        contents = [answer.content for answer in self.answers]
        sources = [
            one.source for content in contents if isinstance(content, ResolvedEntries) for one in content.sources
        ]
        return tuple(source for source in sources if isinstance(source, FromChild))

    @property
    def lookups(self) -> tuple[FromChild, ...]:
        """The joins with tables of values: rows that belong to several candidates, or to none, are as expected."""
        person = (getattr(self.candidate, field.name) for field in fields(self.candidate))
        values = (*person, *(answer.content for answer in self.answers))
        return tuple(one.lookup.join for one in values if isinstance(one, ResolvedValue) and one.lookup)
