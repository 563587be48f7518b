"""What a page shows of each question beside its columns, and of a row beside what would be sent for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from importer.mapping import EntryKind
from importer.problems import Problem
from importer.web.models.sent_lines import SentLine

MatchState = Literal["open", "matched", "held", "review", "unknown", "wrong"]


@dataclass(frozen=True, slots=True)
class SampledRow:
    """A row of the file: the cells of a value, and what is sent for them or why nothing is."""

    row: int
    cells: str
    sent: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class UnknownText:
    """A text that cannot be read, in how many of the first rows, and why. options: those that can be chosen for it;
    field: of entries, the one that it is in."""

    text: str
    count: int
    problem: str
    options: tuple[str, ...] = ()
    field: str = ""

    @property
    def is_choice(self) -> bool:
        return bool(self.options)


@dataclass(frozen=True, slots=True)
class DateForm:
    """A form of dates, and how it reads a cell of the column."""

    form: str
    cell: str
    means: str
    is_used: bool


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of an answer. groups: the columns of each group, by field, if it is read from the row itself;
    candidates: the entries of some of them as they would be sent, by row, each with its texts by field; other: the kind
    of source that they come from; fields: the columns, if that is each row of a candidate, or of another sheet; sheet:
    its name, key and equals; unknown: texts of all their
    fields that cannot be read; held: in how many rows;
    blank: rows without an entry."""

    kind: EntryKind
    groups: tuple[dict[str, str], ...]
    candidates: tuple[tuple[int, tuple[dict[str, str], ...]], ...]
    other: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    sheet: dict[str, str] = field(default_factory=dict)
    unknown: tuple[UnknownText, ...] = ()
    held: int = 0
    blank: int = 0


@dataclass(frozen=True, slots=True)
class Matched:
    """A field of the candidate or a question, with what answers it.

    id: `candidate/email` or `answers/level`. columns: their names; joined: what stands between them; constant: the same
    for every row. why: how sure the match is, and for what reason. filled: of the first rows; held: those in which it
    cannot be read; blank: those without a value; missing: texts of cells that are read as blank. is_left_out: where it
    cannot be read, the row is sent without it. keys: as they are written. kept: keys that a page does not change.
    problems: of the mapping file itself. takes: the kind of entries that answer it. settings: keys of how its texts are
    read, with the values to choose from; "" for none; texts: such keys that are typed. closest: columns that perhaps
    answer it, if it is open. is_marked: a person must check it before anything is sent. table: what texts of
    cells mean, as it was chosen.
    """

    id: str
    title: str
    kind: str
    required: bool
    options: tuple[str, ...]
    state: MatchState
    why: str
    columns: tuple[str, ...] = ()
    joined: str | None = None
    constant: str | None = None
    keys: dict[str, Any] | None = None
    kept: tuple[str, ...] = ()
    filled: int = 0
    held: int = 0
    blank: int = 0
    missing: tuple[str, ...] = ()
    is_left_out: bool = False
    is_marked: bool = False
    samples: tuple[str, ...] = ()
    results: tuple[SampledRow, ...] = ()
    unknown: tuple[UnknownText, ...] = ()
    dates: tuple[DateForm, ...] = ()
    entries: Entries | None = None
    problems: tuple[Problem, ...] = ()
    takes: EntryKind | None = None
    settings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    closest: tuple[str, ...] = ()
    table: dict[str, str] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """Its ID for an address."""
        return anchor_of(self.id)

    @property
    def choices(self) -> tuple[UnknownText, ...]:
        """The unknown texts for which an option can be chosen."""
        return tuple(one for one in self.unknown if one.is_choice)

    @property
    def invalid(self) -> tuple[UnknownText, ...]:
        """The other texts that cannot be read."""
        return tuple(one for one in self.unknown if not one.is_choice)

    @property
    def holds_back(self) -> int:
        """How many of the first rows it holds back."""
        return (0 if self.is_left_out else self.held) + (self.blank if self.required else 0)

    @property
    def is_open(self) -> bool:
        return self.state == "open"

    @property
    def is_done(self) -> bool:
        """Whether nothing prevents its use."""
        return self.state not in ("open", "wrong")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """The text of a mapping file in three parts; marked: the lines of one value, "" if there is none."""

    before: str
    marked: str
    after: str


@dataclass(frozen=True, slots=True)
class SentPart:
    """A field or question beside the cells of a row: what would be sent, or why nothing is.

    lines: one, or one for each field of each entry. is_left_out: without it the row is sent all the same.
    """

    id: str
    title: str
    lines: tuple[SentLine, ...]
    problems: tuple[Problem, ...] = ()
    is_left_out: bool = False

    @property
    def anchor(self) -> str:
        return anchor_of(self.id)


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A row beside what would be sent for it by a mapping that is perhaps not complete.

    place: of count rows, from 1; previous, following: the rows before and after it, in the order that was asked for.
    problems: of the row itself, which belong to no part. lacking: required questions that nothing answers. blank: the
    questions that its cells do not answer. unused: the cells that nothing uses.
    """

    row: int
    place: int
    count: int
    previous: int | None
    following: int | None
    parts: tuple[SentPart, ...]
    problems: tuple[Problem, ...]
    lacking: tuple[str, ...]
    blank: tuple[str, ...]
    unused: tuple[SentLine, ...]

    @property
    def problem_count(self) -> int:
        return len(self.problems) + sum(len(one.problems) for one in self.parts if not one.is_left_out)


def anchor_of(id: str) -> str:
    """The ID of a value in the form that an address can have."""
    return re.sub(r"\W+", "-", id).strip("-")
