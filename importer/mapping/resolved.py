"""A mapping that is resolved against a header and the live questions: the input of transform for each row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Protocol

from importer.documents.folder import DocumentFolder
from importer.mapping.entries import EntryKind, EntryOrder
from importer.mapping.fields import FieldSpec, Kind
from importer.mapping.scalars import CellPattern
from importer.mapping.values import DuplicatePolicy, Formats, Otherwise, ValueSpec
from importer.models import Question, Row, Target
from importer.problems import Column, LinePlace, Origin, Problem
from importer.settings import WireFormat
from importer.text.normalize import join_key, normalize, stripped

# --- values -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResolvedTable:
    """A value table by normalized cell text."""

    targets: dict[str, str]
    otherwise: Otherwise
    replacement: str | None
    place: LinePlace


@dataclass(frozen=True, slots=True)
class ResolvedValue:
    """A value as the mapping has it, with the columns that it is read from, and how it is read.

    formats: with the defaults of the mapping. missing, present: normalized words; with "" in `present`, an empty cell
    is an open end. latest: a later date is a problem. With a lookup, `columns` is the column that is equal to its key.
    """

    spec: ValueSpec
    field: FieldSpec
    formats: Formats
    columns: tuple[Column, ...] = ()
    table: ResolvedTable | None = None
    latest: date | None = None
    missing: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    lookup: Lookup | None = None
    documents: DocumentFolder | None = None  # of a value with `folder:`; None also if it was not opened

    @property
    def place(self) -> LinePlace:
        return self.spec.place

    @property
    def is_exact(self) -> bool:
        """Whether another case of its letters is another value: of the ID of a document, and of a web address."""
        is_id = self.field.kind in (Kind.CV, Kind.DOCUMENT) and not self.spec.folder
        return self.lookup is None and (is_id or self.field.kind is Kind.URL)


@dataclass(frozen=True, slots=True)
class ResolvedFilter:
    """Includes rows whose column has one of the normalized words, or none of them if `negated`.

    `label`: the key of the filter in the mapping, for example where.
    """

    column: Column
    words: frozenset[str]
    negated: bool
    label: str


# --- other tables -------------------------------------------------------------------------------


class ChildTable(Protocol):
    """Another table than the source."""

    @property
    def origin(self) -> Origin: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    @property
    def delimiter(self) -> str: ...

    def rows(self) -> Iterator[Row]: ...


@dataclass(frozen=True, eq=False)
class ChildIndex:
    """The rows of another table, in memory. Keys are compared as `join_key` gives them.

    order_by: the column of whole numbers that orders the rows of one key; None: the order of the table. without_key:
    rows that have none, by the key above them: they may be of that candidate.
    """

    origin: Origin
    columns: Sequence[Column]
    key: Column
    order_by: Column | None
    by_key: Dictionary[str, Sequence[Row]]
    without_key: Dictionary[str, Sequence[Row]] = field(default_factory=dict)

    @cached_property
    def by_number(self) -> Dictionary[str, Sequence[str]]:
        """The keys that are whole numbers, by their digits without zeros in front: a number format may add these."""
        found = defaultdict[str, list[str]](list)
        for key in self.by_key:
            if key.isdecimal():
                found[key.lstrip("0")].append(key)
        return found

    @property
    def table(self) -> str:
        """The name of the table for a person: the file, and its sheet."""
        return f"{self.origin.file}, {self.origin.sheet}" if self.origin.sheet else self.origin.file


@dataclass(frozen=True, slots=True)
class FromChild:
    """The entries, or the value of a lookup, are in the rows of another table whose key matches the column `equals`."""

    equals: Column
    children: ChildIndex
    missing: frozenset[str]

    def rows_of(self, row: Row) -> Sequence[Row]:
        """The rows there that belong to this row, in the order of that table; none for a blank key."""
        key = join_key(row.cells[self.equals.index], self.missing)
        return self.children.by_key.get(key, ()) if key else ()

    def without_key(self, row: Row) -> Iterator[Problem]:
        """The problems of rows there that have no key, below one that belongs to this row."""
        key = join_key(row.cells[self.equals.index], self.missing)
        for child in self.children.without_key.get(key, ()) if key else ():
            message = "this row has no key of its own: it may be of the candidate above it"
            hint = f"fill in '{self.children.key.label}', or delete the row"
            yield Problem("join-key-blank", message, hint, child.place(self.children.key))

    def problem_of(self, row: Row) -> Problem | None:
        """The problem of a key that is there with other zeros in front: it may be the same number."""
        key = join_key(row.cells[self.equals.index])
        alike = self.children.by_number.get(key.lstrip("0"), ()) if key.isdecimal() else ()
        if (other := next((each for each in alike if each != key), None)) is None:
            return None
        column = f"the column '{self.children.key.label}' of {self.children.table}"
        message = f"'{key}' is not in {column}, but '{other}' is"
        if key in self.children.by_key:
            message = f"{column} has both '{key}' and '{other}'"
        hint = "if both are of one person, write them alike; if not, clear this cell: nothing is looked up for it then"
        return Problem("key-spelled-differently", message, hint, row.place(self.equals))


@dataclass(frozen=True, slots=True)
class Lookup:
    """A value in the row of another table: all rows of one key must have the same one, or none."""

    join: FromChild
    value: ResolvedValue


# --- entries ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FromRow:
    """The entries are in the row itself, one for each group of columns."""


@dataclass(frozen=True, slots=True)
class FromGroup:
    """The entries are those rows of the candidate that the filter includes."""

    where: ResolvedFilter | None


@dataclass(frozen=True, slots=True)
class FromPieces:
    """The entries are the pieces of one cell; the groups of the pattern, in order, are the columns of the fields."""

    column: Column
    split: str
    pattern: CellPattern
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
ResolvedGroup = dict[str, ResolvedValue]  # the values of one entry by field, in the order of the service description


@dataclass(frozen=True, slots=True)
class ResolvedSource:
    """A source of entries and their values; several groups only with FromRow.
    `missing`: normalized words that are read as an empty cell of entries."""

    source: EntriesFrom
    groups: tuple[ResolvedGroup, ...]
    missing: frozenset[str]

    @property
    def values(self) -> Iterator[ResolvedValue]:
        return (value for group in self.groups for value in group.values())

    @property
    def shared(self) -> tuple[Column, ...]:
        """The columns of the candidate's own row that all entries are read from; () if each has a row of its own."""
        match self.source:
            case FromRow():
                return tuple(column for value in self.values for column in value.columns)
            case FromGroup():
                return ()
            case FromLists(columns=columns):
                return columns
            case FromChild(equals=column) | FromPieces(column=column) | FromJson(column=column):
                return (column,)

    @property
    def in_own_rows(self) -> bool:
        """Whether its values are cells of the candidate's own rows."""
        return isinstance(self.source, FromRow | FromGroup)

    @property
    def lookups(self) -> tuple[FromChild, ...]:
        """The joins of values that are looked up; `equals` is a column of the rows that the entries are read from."""
        return tuple(value.lookup.join for value in self.values if value.lookup)


@dataclass(frozen=True, slots=True)
class ResolvedEntries:
    """The entries of an answer, from one or several sources."""

    kind: EntryKind
    sources: tuple[ResolvedSource, ...]
    order: EntryOrder


def blank_words(
    values: Iterable[ResolvedValue], sources: Iterable[ResolvedSource] = (), others: Iterable[Column] = ()
) -> dict[int, frozenset[str]]:
    """The words that whatever reads a column takes as an empty cell, by its index. others: read as they are."""
    read = [(column, frozenset[str]()) for column in others]
    for source in sources:
        values = (*values, *(source.values if source.in_own_rows else ()))
        read += () if source.in_own_rows else [(column, source.missing) for column in source.shared]
    for value in values:
        words = value.lookup.join.missing if value.lookup else value.missing
        read += [(column, words) for column in value.columns]
    found: dict[int, frozenset[str]] = {}
    for column, words in read:
        found[column.index] = found.get(column.index, words) & words
    return found


# --- the whole ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    """A question of the target and what answers it. `leave_out`: an invalid answer is not sent, and its row is."""

    question: Question
    content: ResolvedValue | ResolvedEntries
    leave_out: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedGrouping:
    """How rows become candidates; see GroupBy. `shared`: the columns that must be equal in all rows of a candidate,
    those in `exact` (their indexes) also in their case.
    `of_entries`: the indexes of those that are an entry in each row; `of_own_entries`: those of entries that are read
    from all rows as one, and so must be equal, too. `of_rows`: what selects the rows that are entries; (): all may be.
    `missing`: normalized words that are no key; `blank`: those that
    whatever reads a column takes as an empty cell, by the index of the column.
    """

    column: Column
    blank_continues: bool
    main: ResolvedFilter | None
    shared: tuple[Column, ...]
    exact: frozenset[int]
    of_entries: frozenset[int]
    of_own_entries: tuple[Column, ...]
    of_rows: tuple[ResolvedFilter, ...]
    missing: frozenset[str]
    blank: Dictionary[int, frozenset[str]]
    place: LinePlace

    def key_of(self, row: Row) -> str:
        """The key of its candidate; "" if it has none."""
        return join_key(row.cells[self.column.index], self.missing)

    def is_blank(self, row: Row, index: int) -> bool:
        """Whether a cell is blank, or has a word that is read so."""
        text = stripped(row.cells[index])
        return not text or normalize(text) in self.blank.get(index, ())

    def continues(self, row: Row) -> bool:
        """Whether a row without a key is of the candidate above: it is declared, or it has an entry and no person."""
        if self.blank_continues:
            return True
        has_own = any(not self.is_blank(row, column.index) for column in self.shared)
        return not has_own and any(not self.is_blank(row, index) for index in self.of_entries)


@dataclass(frozen=True, eq=False)
class ResolvedMapping:
    """Everything that transform needs. `warnings` do not stop a run.

    `candidate`: the fields of the request body except the answers, by their names in it. `unread`: the indexes of the
    columns that are not used; problems in their cells do not make a row invalid.

    Two of these are equal only if they are the same object, because transform caches by mapping.
    """

    target: Target
    candidate: dict[str, ResolvedValue]
    answers: tuple[ResolvedAnswer, ...]
    filters: tuple[ResolvedFilter, ...]
    grouping: ResolvedGrouping | None
    duplicate_policy: DuplicatePolicy
    wire: WireFormat
    unread: frozenset[int] = frozenset()
    warnings: tuple[Problem, ...] = ()

    @property
    def single_values(self) -> Iterator[ResolvedValue]:
        """The values of which a candidate has one."""
        yield from self.candidate.values()
        yield from (answer.content for answer in self.answers if isinstance(answer.content, ResolvedValue))

    @property
    def entry_sources(self) -> Iterator[ResolvedSource]:
        contents = (answer.content for answer in self.answers)
        return (source for one in contents if isinstance(one, ResolvedEntries) for source in one.sources)

    @property
    def values(self) -> Iterator[ResolvedValue]:
        """All values, including those of entries and in other tables."""
        inside = (value for source in self.entry_sources for value in source.values)
        return (one.lookup.value if one.lookup else one for one in (*self.single_values, *inside))

    @property
    def joins(self) -> tuple[FromChild, ...]:
        """The joins with tables of entries, in the order of the answers."""
        return tuple(one.source for one in self.entry_sources if isinstance(one.source, FromChild))

    @property
    def lookups(self) -> tuple[FromChild, ...]:
        """The joins with tables of values: rows that belong to several candidates, or to none, are as expected."""
        return tuple(one.lookup.join for one in self.single_values if one.lookup)

    @property
    def entry_lookups(self) -> tuple[FromChild, ...]:
        """The same of values of entries; see ResolvedSource."""
        return tuple(join for source in self.entry_sources for join in source.lookups)
