"""Problems, their places in a file, and the errors that end a whole run.

    ImporterError                 the message is for a person; the class gives the exit code
    |-- UsageError          (2)   the command line is invalid
    |-- UnusableInput       (3)   file, mapping or settings cannot be used; nothing was sent
    |   `-- DamagedRun            the files of an earlier run cannot be used; what it sent is unknown
    |-- StoppedEarly        (5)   the service cannot be used now; safe to run again
    `-- Busy               (75)   another run holds the lock

The problem of one row is not an exception: it is a `Problem` in an `Outcome`.
Anything that is not an ImporterError is a bug of ours and shows its traceback (exit code 1).
"""

from __future__ import annotations

import copyreg
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Literal

_WORST_FIRST: Final = (143, 130, 1, 2, 3, 5, 75, 4, 0)


def worst(codes: Iterable[int]) -> int:
    """The exit code of several runs or files: what a person has to know first."""
    return min(codes, key=lambda code: _WORST_FIRST.index(code) if code in _WORST_FIRST else 0, default=0)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: its position from 0, its letter in a spreadsheet program, its header text.

    lower: in a header of two rows, the text in the second one.
    """

    index: int
    letter: str
    name: str
    lower: str = field(default="", compare=False)

    @classmethod
    def at(cls, index: int, name: str, lower: str = "") -> Column:
        """The column at an index, with its letter."""
        return cls(index, column_letter(index), name, lower)

    @property
    def label(self) -> str:
        """The column's name for a person: its header, or `=` and its letter if the header is blank."""
        return self.name or f"={self.letter}"


def distinct_labels(columns: Sequence[Column]) -> list[str]:
    """The names of columns for a person; those that are there twice with their letters."""
    count = Counter(column.label for column in columns)
    return [f"{one.label} ({one.letter})" if count[one.label] > 1 else one.label for one in columns]


def column_letter(index: int) -> str:
    """The letter of a column, counted from 0.

    >>> column_letter(0), column_letter(25), column_letter(26), column_letter(701)
    ('A', 'Z', 'AA', 'ZZ')
    """
    letters = ""
    number = index + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@dataclass(frozen=True, slots=True)
class Origin:
    """The file, and for a workbook the sheet, that rows come from.

    `first`: the index of the first column of the table in its sheet; in report.xlsx our own columns come before it.
    """

    file: str
    sheet: str | None = None
    first: int = 0


@dataclass(frozen=True, slots=True)
class CellPlace:
    """A row of a source, or one cell of it. `row` is the number that a spreadsheet program shows."""

    origin: Origin
    row: int
    column: Column | None = None

    @property
    def address(self) -> str:
        """The cell or row as a spreadsheet program names it: `F7`, `row 7`."""
        return f"{column_letter(self.column.index + self.origin.first)}{self.row}" if self.column else f"row {self.row}"

    def __str__(self) -> str:
        if self.origin.sheet is not None:
            return f"{self.origin.file}, {self.origin.sheet}!{self.address}"
        where = f"row {self.row}"
        if self.column:
            where += f', column "{self.column.label}"'
        return f"{self.origin.file}, {where}"


@dataclass(frozen=True, slots=True)
class LinePlace:
    """A line and column (both from 1) of a text file, with the line itself for a caret."""

    file: str
    line: int
    column: int = 1
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A whole file, or a setting by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


Place = CellPlace | LinePlace | FilePlace

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Unread:
    """A text of a cell that could not be read, and the place of the value in the mapping that reads it."""

    text: str
    setting: LinePlace


@dataclass(frozen=True, slots=True)
class LikelyEncoding:
    """Encodings that read a file alike, and some of the words that they read."""

    names: tuple[str, ...]
    words: tuple[str, ...]

    def __str__(self) -> str:
        names = " or ".join(f"`encoding: {name}`" for name in self.names)
        read = "reads" if len(self.names) == 1 else "they read the same:"
        return f"{names} ({read} {', '.join(map(repr, self.words))})"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a person must fix or should know: what, where and what to do.

    `code` is stable and groups similar problems (`date-invalid`). `message` is the problem without its place, `hint`
    what to do; both without a full stop. `severity` is of a row's problem: an error holds the row back or is its
    outcome, a warning is about a row that is sent. `encodings`, `sheets`: of which a person chooses one.
    """

    code: str
    message: str
    hint: str = ""
    place: Place | None = None
    severity: Severity = "error"
    unread: Unread | None = field(default=None, compare=False)  # where a change of the mapping could help
    encodings: tuple[LikelyEncoding, ...] = field(default=(), compare=False)
    sheets: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{text}; {self.hint}" if self.hint else text

    @property
    def column(self) -> str | None:
        """The label of the problem's column, or None."""
        if isinstance(self.place, CellPlace) and self.place.column:
            return self.place.column.label
        return None

    @property
    def is_of_row(self) -> bool:
        """Whether it is of a whole row, whose cells may be those of other columns."""
        return isinstance(self.place, CellPlace) and self.place.column is None

    def is_in(self, columns: Collection[int], origin: Origin | None = None) -> bool:
        """Whether it is in a cell of one of these columns, given by their indexes. origin: of this table only."""
        place = self.place
        if not isinstance(place, CellPlace) or place.column is None or place.column.index not in columns:
            return False
        return origin is None or place.origin == origin


class ImporterError(Exception):
    """The run cannot continue, and a person can do something about it."""

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[object, ...]:
        """For another process: the usual way calls the class with `args`, which most of these do not take."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class UsageError(ImporterError):
    """The command line is invalid."""

    exit_code = 2


class UnusableInput(ImporterError):
    """File, mapping or settings cannot be used. Nothing was sent.

    `problems` has every problem that was found, not only the first.
    """

    exit_code = 3

    def __init__(self, problems: Sequence[Problem] | Problem) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DamagedRun(UnusableInput):
    """The files of an earlier run cannot be used. What that run sent is unknown."""


class StoppedEarly(ImporterError):
    """The service cannot be used now (token rejected, no connection). Safe to run again."""

    exit_code = 5


class Busy(ImporterError):
    """Another run holds the lock of this ledger and target."""

    exit_code = 75


def file_problem(code: str, message: str, hint: str, where: object) -> Problem:
    """The problem of a whole file, a setting or a target; `where` as text is its name."""
    return Problem(code, message, hint, FilePlace(str(where)))


def unusable_file(code: str, message: str, hint: str, where: object) -> UnusableInput:
    """The only problem of a whole file, a setting or a target."""
    return UnusableInput(file_problem(code, message, hint, where))


def not_writable(path: Path, reason: str) -> UnusableInput:
    """The problem of a file or folder that cannot be written."""
    return unusable_file(
        "not-writable",
        f"it cannot be written ({reason}), so nothing is sent",
        "free disk space or get write permission there, or choose another folder with --out",
        path,
    )


# --- what can go wrong in a database, whichever it is: one class for each reaction ---


class DatabaseError(Exception):
    """The database cannot be read or written. `is_damaged`: it is not a database, or a damaged one."""

    def __init__(self, reason: str, *, is_damaged: bool = False) -> None:
        super().__init__(reason)
        self.is_damaged = is_damaged


class ConstraintError(DatabaseError):
    """A write violates a constraint of the tables: a bug of ours."""
