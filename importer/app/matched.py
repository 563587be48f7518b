"""What a page shows of each question beside its columns, and the first rows of the file that it is read from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from importer.app.inspect_file import InspectedFile, inspect_file
from importer.extract import ReadingLimits, open_sheet
from importer.mapping import (
    EntryKind,
    read_mapping,
)
from importer.models import Question, Row, SourceOptions, Target
from importer.problems import Problem, UsageError
from importer.settings import Settings
from importer.suggest import (
    ColumnView,
    Proposal,
    profile_sheet,
    propose,
    write_proposal,
    writes_day_first,
)

State = Literal["open", "matched", "review", "unknown", "wrong"]

_ROWS: Final = 2_000  # of the file, which a page looks at
_PROFILED: Final = 500  # of a large file, for the proposal
_SMALL: Final = 4 << 20  # bytes of a file that is read whole, with the tables beside it


@dataclass(frozen=True)
class Sample:
    """The first rows of a file, with what is in its columns, and the mapping file that is proposed from them."""

    columns: tuple[ColumnView, ...]
    rows: tuple[Row, ...]
    is_whole: bool
    proposal: Proposal

    @cached_property
    def day_first(self) -> bool | None:
        return writes_day_first(self.columns)

    def view(self, name: str) -> ColumnView | None:
        """The column with this name, or `=C` for its letter."""
        return next((one for one in self.columns if name in (column_name(one, self.columns), one.column.label)), None)


def column_name(view: ColumnView, views: Sequence[ColumnView]) -> str:
    """The name of a column for a mapping: its header, or its letter if others have the same."""
    same = [one for one in views if one.column.name == view.column.name]
    return view.column.name if view.column.name and len(same) == 1 else f"={view.column.letter}"


def sample_of(
    file: Path, source: SourceOptions, target: Target, questions: tuple[Question, ...], settings: Settings
) -> Sample:
    """The first rows of a file, read once for all requests about it.

    Raises:
        UnusableInput: it cannot be read.
    """
    status = file.stat()
    key = file, status.st_size, status.st_mtime_ns, source, target, questions
    if key not in _KEPT:
        if status.st_size <= _SMALL:
            found = inspect_file(file, source, settings)
        else:
            sheet = open_sheet(file, source, ReadingLimits.of(settings))
            first = islice(sheet.rows(), _PROFILED)
            found = InspectedFile(sheet, profile_sheet(sheet.columns, first, sheet.header_row))
        views, rows = found.profile.views, tuple(islice(found.sheet.rows(), _ROWS + 1))
        proposal = propose(target, questions, views, found.facts(source), found.others)
        while len(_KEPT) > 1:
            _KEPT.pop(next(iter(_KEPT)))
        _KEPT[key] = Sample(views, rows[:_ROWS], len(rows) <= _ROWS, proposal)
    return _KEPT[key]


_KEPT: Final[dict[Any, Sample]] = {}  # the last two: a file is not read again for each change


def opened_mapping(path: Path, target: Target, settings: Settings) -> tuple[str, SourceOptions]:
    """The text of a mapping file, with what it takes from other files, and how it reads its source.

    Raises:
        UnusableInput: it has errors.
        UsageError: it is for another target.
    """
    mapping = read_mapping(path, settings.mapping_folders)
    if mapping.target != target:
        raise UsageError(f"this mapping file is for {mapping.target}, not for {target}; choose its target first")
    return mapping.content.decode("utf-8-sig"), mapping.source


def proposed_text(sample: Sample) -> str:
    """The mapping file that is proposed."""
    return write_proposal(sample.proposal)


# --- what is shown ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    """A row of the file: the cells of a value, and what is sent for them or why nothing is."""

    row: int
    cells: str
    sent: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class UnknownText:
    """A text that cannot be read, in how many of the first rows, and why. is_choice: an option can be chosen for it."""

    text: str
    count: int
    problem: str
    is_choice: bool


@dataclass(frozen=True, slots=True)
class DateForm:
    """A form of dates, and how it reads a cell of the column."""

    form: str
    cell: str
    means: str
    is_used: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of education or experience as it would be sent: texts by field."""

    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of an answer. groups: the columns of each group, by field, if it is read from the row itself;
    candidates: the entries of some of them, by row; other: the table that they come from, in words."""

    kind: EntryKind
    groups: tuple[dict[str, str], ...]
    candidates: tuple[tuple[int, tuple[Entry, ...]], ...]
    other: str = ""


@dataclass(frozen=True, slots=True)
class Matched:
    """A field of the candidate or a question, with what answers it.

    id: `candidate/email` or `answers/level`. columns: their names; joined: what stands between them; constant: the same
    for every row. why: how sure the match is, and for what reason. filled: of the first rows. keys: as they are
    written. kept: keys that a page does not change. problems: of the mapping file itself. takes: the kind of entries
    that answer it. settings: keys of how its texts are read, with the values to choose from; "" for none.
    """

    id: str
    title: str
    kind: str
    required: bool
    options: tuple[str, ...]
    state: State
    why: str
    columns: tuple[str, ...] = ()
    joined: str | None = None
    constant: str | None = None
    keys: dict[str, Any] | None = None
    kept: tuple[str, ...] = ()
    filled: int = 0
    samples: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()
    unknown: tuple[UnknownText, ...] = ()
    dates: tuple[DateForm, ...] = ()
    entries: Entries | None = None
    problems: tuple[Problem, ...] = ()
    takes: EntryKind | None = None
    settings: dict[str, tuple[str, ...]] = field(default_factory=dict)

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
    def is_open(self) -> bool:
        return self.state == "open"

    @property
    def is_done(self) -> bool:
        """Whether nothing prevents its use."""
        return self.state not in ("open", "wrong")


def anchor_of(id: str) -> str:
    """The ID of a value in the form that an address can have."""
    return re.sub(r"\W+", "-", id).strip("-")
