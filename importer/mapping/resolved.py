"""A mapping after it was held against a header and the live questions: what transform works from, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from importer.mapping.model import Edge, EntryKind, Formats, Otherwise
from importer.models import Column, LinePlace, Problem, Question, Target, WireFormat


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
class Wanted:
    """What the service wants of a value: its kind, what a message calls it, and the options of a choice.

    `noun` completes "is no ...": `degree this service knows`, `option of level`. `label` completes "... is missing".
    """

    kind: Kind
    label: str
    noun: str = ""
    options: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether an answer of this kind is sent as answer_file."""
        return self.kind is Kind.DOCUMENT


@dataclass(frozen=True, slots=True)
class ResolvedTable:
    """A value table by folded cell text."""

    targets: dict[str, str]
    otherwise: Otherwise
    replacement: str | None
    place: LinePlace


@dataclass(frozen=True, slots=True)
class ResolvedValue:
    """A value ready to be read: from the first of `columns` that is filled in and valid, or from all of them joined
    with `separator`, or `constant` where there are no columns. `missing` and `present` hold folded words."""

    wanted: Wanted
    place: LinePlace
    columns: tuple[Column, ...] = ()
    separator: str | None = None
    constant: str | None = None
    split: str | None = None
    table: ResolvedTable | None = None
    part: Edge | None = None
    default: str | None = None
    missing: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    formats: Formats = field(default=Formats())


@dataclass(frozen=True, slots=True)
class ResolvedField:
    """A field of an entry."""

    name: str
    value: ResolvedValue


@dataclass(frozen=True, slots=True)
class ResolvedGroup:
    """The columns of one entry; fields in the order of the service description."""

    fields: tuple[ResolvedField, ...]


@dataclass(frozen=True, slots=True)
class ResolvedEntries:
    """The groups of an entries answer, in order."""

    kind: EntryKind
    groups: tuple[ResolvedGroup, ...]
    place: LinePlace


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
class ResolvedFilter:
    """Rows count whose column says one of the folded words, or none of them where `negated`."""

    column: Column
    words: frozenset[str]
    negated: bool


@dataclass(frozen=True, eq=False)
class ResolvedMapping:
    """Everything that rows are transformed by. `warnings` is what a person should know and may leave so.

    Two of these are the same only if they are the same object: transform remembers what it made of one.
    """

    target: Target
    candidate: ResolvedCandidate
    answers: tuple[ResolvedAnswer, ...]
    where: ResolvedFilter | None
    wire: WireFormat
    warnings: tuple[Problem, ...] = ()
