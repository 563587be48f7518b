"""A mapping after it was held against a header and the live questions: what transform works from, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from importer.mapping.entries import EntryKind, EntryOrder
from importer.mapping.linear_pattern import LinearPattern
from importer.mapping.values import Formats, Otherwise, Part, Repeated, Take
from importer.models import AnswerType, Question, Row, Target
from importer.problems import Column, LinePlace, Origin, Problem
from importer.settings import WireFormat
from importer.text.normalize import normalize

# --- what the service wants of each value -------------------------------------------------------


class Kind(StrEnum):
    """The kinds of values: each has one reader in transform."""

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
    CV = "cv"  # a document ID that may be any token


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What the service wants of a value: its kind, what a message calls it, and the options of a choice.

    `noun` completes "is not ...": `a degree that the service accepts`, `an option of level`.
    `label` completes "... is missing".
    """

    kind: Kind
    label: str
    noun: str = ""
    options: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether an answer of this kind is sent as answer_file."""
        return self.kind is Kind.DOCUMENT


class Options:
    """The options of a choice. Two that are normalized alike are kept apart by their exact spelling only."""

    def __init__(self, options: Sequence[str]) -> None:
        self.spelled = tuple(options)
        self._exact = frozenset(options)
        self._normalized: dict[str, str | None] = {}
        for option in options:
            normalized = normalize(option)
            self._normalized[normalized] = None if normalized in self._normalized else option

    def find(self, text: str) -> str | None:
        """The option in its own spelling, or None."""
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
# Service description 2.1: these markers say more about an answer than its answer_type does.
_SPECIAL_KINDS = {"photo": Kind.DOCUMENT, "phone": Kind.PHONE}


def spec_of_candidate(name: str) -> FieldSpec:
    """What a candidate field wants (bodies of service description 4.2 and 4.3)."""
    return _CANDIDATE[name]


def spec_of_entry(kind: EntryKind, name: str) -> FieldSpec:
    """What an entry field wants (service description 2.3 and 2.4)."""
    label = f"{name} of {kind}"
    if name == "degree":
        return FieldSpec(Kind.CHOICE, label, "a degree that the service accepts", DEGREES)
    if name == "employment_type":
        return FieldSpec(Kind.CHOICE, label, "an employment type that the service accepts", EMPLOYMENT_TYPES)
    return FieldSpec(_ENTRY_KINDS.get(name, Kind.LINE), label)


def spec_of_question(question: Question) -> FieldSpec | None:
    """What a question wants (service description 2.1), or None where its answer_type is not known."""
    label = f"the answer to {question.label}"
    kind = _SPECIAL_KINDS.get(question.type or "")
    if question.type == "address":  # a text, whatever its answer type
        kind = Kind.TEXT if question.answer_type == AnswerType.LONG_TEXT else Kind.LINE
    if kind is None and question.answer_type in set(AnswerType):
        kind = _ANSWER_KINDS[AnswerType(question.answer_type)]
    if kind is None:
        return None
    options = question.options if kind in (Kind.CHOICE, Kind.CHOICES) else ()
    return FieldSpec(kind, label, f"an option of {question.label}", options)


# --- values -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that a cell must fit whole, and the named group of it that is the value."""

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
    """A value ready to be read: from the first of `columns` that is filled in and valid, or from all of them joined
    with `separator`, or `constant` where there are no columns. `missing` and `present` hold normalized words; "" among
    the present ones: a blank is an open end."""

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
    before: str = ""  # put before what the cell says
    after: str = ""
    default: str | None = None
    missing: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ResolvedGroup:
    """The columns of one entry: its fields by their names, in the order of the service description."""

    fields: dict[str, ResolvedValue]


@dataclass(frozen=True, slots=True)
class ResolvedFilter:
    """Rows count whose column says one of the normalized words, or none of them where `negated`.

    `label`: the key that says so, as where.
    """

    column: Column
    words: frozenset[str]
    negated: bool
    label: str = "where"


# --- entries ------------------------------------------------------------------------------------


class Table(Protocol):
    """What is needed of another table that entries are taken from."""

    @property
    def origin(self) -> Origin: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    def rows(self) -> Iterator[Row]: ...


@dataclass(frozen=True, eq=False)
class ChildIndex:
    """The rows of a child table, in memory. A key is the cell's text without the spaces around it, exactly.

    order_by: the column whose whole numbers order the rows of one key; without it they are in the table's order.
    """

    origin: Origin
    key: Column
    order_by: Column | None
    by_key: Dictionary[str, Sequence[Row]]

    def rows_of(self, key: str) -> Sequence[Row]:
        """The rows of a key, none for a blank one."""
        return self.by_key.get(key.strip(), ()) if key.strip() else ()


@dataclass(frozen=True, slots=True)
class FromRow:
    """The entries are in the row itself: one for each group of columns."""


@dataclass(frozen=True, slots=True)
class FromChild:
    """The entries are rows of another table whose key is what `equals` says in the row."""

    equals: Column
    children: ChildIndex


@dataclass(frozen=True, slots=True)
class FromGroup:
    """The entries are the rows of the candidate, those that the filter takes."""

    where: ResolvedFilter | None


@dataclass(frozen=True, slots=True)
class FromPieces:
    """The entries are the pieces of one cell; the columns of the fields are the pattern's groups, in its order."""

    column: Column
    split: str
    pattern: LinearPattern
    place: LinePlace


@dataclass(frozen=True, slots=True)
class FromJson:
    """The entries are the objects of a list in one cell; the columns of the fields are keys, which `keys` lists."""

    column: Column
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromLists:
    """The entries are the items of lists in these columns, by position or number; see ParallelLists."""

    columns: tuple[Column, ...]
    split: str | None
    numbered: bool


EntriesFrom = FromRow | FromChild | FromGroup | FromPieces | FromJson | FromLists


@dataclass(frozen=True, slots=True)
class ResolvedEntries:
    """Where the entries of an answer come from, and the columns of each; several groups only with FromRow.
    `missing`: normalized words that make a whole cell of entries blank."""

    kind: EntryKind
    source: EntriesFrom
    groups: tuple[ResolvedGroup, ...]
    order: EntryOrder
    missing: frozenset[str]
    place: LinePlace


# --- the whole ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    """A question of the target and what answers it."""

    question: Question
    content: ResolvedValue | ResolvedEntries


@dataclass(frozen=True, slots=True)
class ResolvedCandidate:
    """The fields of the request body beside the answers."""

    email: ResolvedValue
    first_name: ResolvedValue
    last_name: ResolvedValue
    cv: ResolvedValue
    terms_of_use: ResolvedValue | None = None
    source_platform: ResolvedValue | None = None


@dataclass(frozen=True, slots=True)
class ResolvedGrouping:
    """How rows become candidates; see GroupBy. `shared`: the columns in which all rows of one must say the same."""

    column: Column
    blank_continues: bool
    main: ResolvedFilter | None
    shared: tuple[Column, ...]
    place: LinePlace


@dataclass(frozen=True, eq=False)
class ResolvedMapping:
    """Everything that rows are transformed by. `warnings` is what a person should know and may leave so.

    `unread` are the indexes of the columns that nothing takes: what is wrong in their cells holds up no row.

    Two of these are the same only if they are the same object: transform remembers what it made of one.
    """

    target: Target
    candidate: ResolvedCandidate
    answers: tuple[ResolvedAnswer, ...]
    filters: tuple[ResolvedFilter, ...]
    grouping: ResolvedGrouping | None
    repeated: Repeated
    wire: WireFormat
    unread: frozenset[int] = frozenset()
    warnings: tuple[Problem, ...] = ()

    @property
    def joins(self) -> tuple[FromChild, ...]:
        """The joins with other tables, in the order of the answers."""
        contents = [answer.content for answer in self.answers]
        sources = [content.source for content in contents if isinstance(content, ResolvedEntries)]
        return tuple(source for source in sources if isinstance(source, FromChild))
