"""A mapping after it was held against a header and the live questions: what transform works from, row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from importer.mapping.entries import EntryKind, EntryOrder
from importer.mapping.field_specs import FieldSpec
from importer.mapping.linear_pattern import LinearPattern
from importer.mapping.model import Repeated
from importer.mapping.values import Formats, Otherwise, Part, Take
from importer.models import Column, LinePlace, Origin, Problem, Question, Row, Target, WireFormat


class Table(Protocol):
    """What is needed of another table that entries are taken from."""

    @property
    def origin(self) -> Origin: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    def rows(self) -> Iterator[Row]: ...


@dataclass(frozen=True, eq=False)
class ChildIndex:
    """The rows of a child table, in memory. A key is the cell's text without the spaces context it, exactly.

    order_by: the column whose whole numbers order the rows of one key; without it they are in the table's order.
    """

    origin: Origin
    key: Column
    order_by: Column | None
    by_key: dict[str, tuple[Row, ...]]

    def rows_of(self, key: str) -> tuple[Row, ...]:
        """The rows of a key, none for a blank one."""
        return self.by_key.get(key.strip(), ()) if key.strip() else ()


def index_rows(origin: Origin, rows: Iterable[Row], key: Column, order_by: Column | None) -> ChildIndex:
    """Read all rows of a child table."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.cells[key.index].strip()].append(row)
    return ChildIndex(origin, key, order_by, {text: tuple(of_key) for text, of_key in found.items()})


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
    before: str = ""  # put context what the cell says
    after: str = ""
    default: str | None = None
    missing: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()


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
class ResolvedFilter:
    """Rows count whose column says one of the normalized words, or none of them where `negated`.

    `label`: the key that says so, as where.
    """

    column: Column
    words: frozenset[str]
    negated: bool
    label: str = "where"


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
