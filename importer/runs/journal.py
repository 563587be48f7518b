"""The journal of a run, in its folder: each candidate as it was checked, and the outcome of each row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from importer.group_writer import GroupWriter, QueuedWrite
from importer.models import Outcome, OutcomeKind, ReadyCandidate
from importer.problems import (
    CellPlace,
    Column,
    DatabaseError,
    FilePlace,
    LinePlace,
    Origin,
    Place,
    Problem,
    StoppedEarly,
    Unread,
    not_writable,
)
from importer.runs.row_selection import RowSet
from importer.sqlite_file import Connection, SqliteFile, create_private, not_a_database

JOURNAL: Final = "outcomes.sqlite"
_COMMIT_DELAY: Final = 0.2  # seconds that an outcome may be only in memory; the ledger has what was sent

_TABLE: Final = """CREATE TABLE IF NOT EXISTS outcomes (
     "row" INTEGER NOT NULL PRIMARY KEY,
     kind VARCHAR NOT NULL,
     status INTEGER,
     attempts INTEGER NOT NULL,
     problems VARCHAR NOT NULL,
     candidate_id INTEGER
   )"""
# row: the first one; rows: of a candidate with several, else "". kind: of an outcome; NULL: it is to be sent.
_CANDIDATES: Final = """CREATE TABLE IF NOT EXISTS candidates (
     row INTEGER NOT NULL PRIMARY KEY,
     rows VARCHAR NOT NULL,
     email VARCHAR,
     body BLOB,
     kind VARCHAR,
     problems VARCHAR NOT NULL,
     warnings VARCHAR NOT NULL
   )"""
_KEEP: Final = """INSERT INTO candidates (row, rows, email, body, kind, problems, warnings)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_KEPT: Final = """SELECT row, rows, email, body, kind, problems, warnings FROM candidates
    WHERE row > ? ORDER BY row LIMIT 500"""
_COLUMNS: Final = ("row", "kind", "status", "attempts", "problems", "candidate_id")
_OUTCOMES: Final = f"SELECT {', '.join(_COLUMNS)} FROM outcomes"
_INSERT: Final = f"INSERT INTO outcomes ({', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)"


class Classified(NamedTuple):
    """A candidate to send, or its outcome; the numbers of its rows, in order; the warnings about one to send."""

    rows: tuple[int, ...]
    result: ReadyCandidate | Outcome
    warnings: tuple[Problem, ...] = ()


class JournalUnwritable(StoppedEarly):
    """Outcomes cannot be written, so no more rows are sent. The ledger knows what was sent."""

    def __init__(self, path: Path, reason: str, remedy: str = "free disk space or fix the disk, then ") -> None:
        super().__init__(
            f"{path}: the outcomes of run {path.parent.name} cannot be written ({reason}), so nothing more is sent. "
            f"The ledger knows what was sent: {remedy}run the same command again"
        )


class JournalUnreadable(StoppedEarly):
    """Outcomes cannot be read at the moment. The ledger knows what was sent."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path}: the outcomes of run {path.parent.name} cannot be read ({reason}). The ledger knows "
            "what was sent: close the program that has the file open, or fix the disk, then run the same command again"
        )


class RunJournal:
    """Outcomes by row in `<folder>/outcomes.sqlite` (0600). An existing journal is continued.

    Raises (reading methods, too):
        UnusableInput: the folder is missing or cannot be written, or the file is not a database or is damaged.
        JournalUnwritable, JournalUnreadable: an existing journal cannot be written or read.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self._is_new = not self.path.exists()
        create_private(self.path)
        # NORMAL: a power failure may lose the last outcomes here, but the ledger still has them.
        self._file = SqliteFile(self.path)
        self._error: JournalUnwritable | None = None
        try:
            with self._transaction(writes=True) as connection:
                connection.execute(_TABLE)
                connection.execute(_CANDIDATES)
        except BaseException:
            self._file.close()
            raise
        self._is_new = False
        self._writer: GroupWriter[Outcome] = GroupWriter(self._commit, linger=_COMMIT_DELAY, name="journal")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def begin(self) -> None:
        """Rows may be sent from now on. Until then the run has only checked its file."""
        with self._transaction(writes=True) as connection:
            connection.execute("PRAGMA user_version = 1")

    @property
    def has_begun(self) -> bool:
        """Whether rows may have been sent."""
        with self._transaction() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        return bool(version)

    def record(self, outcome: Outcome) -> None:
        """Record an outcome. It is written shortly after, and at the latest by `close`.

        Raises:
            ValueError: the row already has an outcome: a bug, as every row has exactly one.
            JournalUnwritable: an earlier outcome could not be written.
        """
        self._raise_error()
        if outcome.row in self._recorded:
            raise ValueError(f"row {outcome.row} already has an outcome, and got a second one: {outcome}")
        self._recorded.add(outcome.row)
        self._writer.put(outcome)

    def keep(self, candidates: Sequence[Classified]) -> None:
        """Keep candidates as they were checked.

        Raises:
            JournalUnwritable: they cannot be written.
        """
        with self._transaction(writes=True) as connection:
            connection.executemany(_KEEP, map(_kept_row, candidates))

    def forget_candidates(self) -> None:
        """Remove what is kept: all candidates are checked again."""
        with self._transaction(writes=True) as connection:
            connection.execute("DELETE FROM candidates")

    def kept(self) -> Iterator[Classified]:
        """The candidates as they were checked, in the order of the source; read in pages."""
        last = 0
        while True:
            with self._transaction() as connection:
                page = connection.execute(_KEPT, (last,)).fetchall()
            if not page:
                return
            yield from map(_classified, page)
            last = page[-1][0]

    def replace(self, outcome: Outcome) -> None:
        """Replace the outcome of a row.

        Raises:
            JournalUnwritable: it cannot be written.
        """
        self.flush()
        row, *values = _outcome_row(outcome)
        change = f"UPDATE outcomes SET {', '.join(f'{name} = ?' for name in _COLUMNS[1:])} WHERE row = ?"
        with self._transaction(writes=True) as connection:
            connection.execute(change, (*values, row))

    def flush(self) -> None:
        """Wait until everything recorded is written. Raises JournalUnwritable if that fails."""
        self._writer.flush()
        self._raise_error()

    def close(self) -> None:
        """Write everything recorded, and close the file. Raises JournalUnwritable if that fails."""
        try:
            self._writer.close()
        finally:
            self._file.close()
        self._raise_error()

    def __contains__(self, row: int) -> bool:
        """Whether the row has an outcome."""
        return row in self._recorded

    @cached_property
    def _recorded(self) -> RowSet:
        """The rows that have an outcome; loaded only when one is recorded or looked up."""
        with self._transaction() as connection:
            return RowSet(row for (row,) in connection.execute("SELECT row FROM outcomes"))

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        """A transaction that raises the errors of this class."""
        try:
            with self._file.transaction(writes=writes) as connection:
                yield connection
        except DatabaseError as error:
            if error.is_damaged:
                raise not_a_database(self.path, str(error)) from None
            if not writes:
                raise JournalUnreadable(self.path, str(error)) from None
            raise (not_writable if self._is_new else JournalUnwritable)(self.path, str(error)) from None

    def outcome(self, row: int) -> Outcome | None:
        """The outcome of one row, None where it has none."""
        self.flush()
        with self._transaction() as connection:
            found = connection.execute(f"{_OUTCOMES} WHERE row = ?", (row,)).fetchone()
        return _outcome(found) if found is not None else None

    def outcomes(self) -> Iterator[Outcome]:
        """All outcomes in the order of their rows. Streams."""
        self.flush()
        return self._read("ORDER BY row")

    def outcomes_from(self, row: int, limit: int) -> tuple[Outcome, ...]:
        """The written outcomes from that row on, in row order; some rows between them may still be pending."""
        return tuple(self._read("WHERE row >= ? ORDER BY row LIMIT ?", row, limit))

    def page(
        self, first: int, count: int, *, cause: tuple[str, str | None] | None, all_rows: bool
    ) -> Iterator[Outcome]:
        """Some outcomes in the order of their rows, from the `first` (from 0): those with problems, or all rows.

        cause: only those that have a problem with this code, in the column with this name.
        """
        code, column = cause or ("", None)
        known = "problems <> '' AND kind <> 'filtered'"
        if cause is not None:
            each = "SELECT 1 FROM json_each(problems) WHERE json_extract(value, '$.code') = ?"
            named = "coalesce(nullif(json_extract(value, '$.place.column[2]'), ''), "
            named += "'=' || json_extract(value, '$.place.column[1]'), '') = ?"
            known += f" AND EXISTS ({each} AND {named})"
        which = "" if all_rows else f"WHERE {known} "
        values = (code, column or "") if cause is not None and not all_rows else ()
        return self._read(f"{which}ORDER BY row LIMIT ? OFFSET ?", *values, count, first)

    def _read(self, which: str, *values: int | str) -> Iterator[Outcome]:
        with self._transaction() as connection:
            for found in connection.execute(f"{_OUTCOMES} {which}", values):
                yield _outcome(found)

    def counts(self) -> dict[OutcomeKind, int]:
        """How many rows have each outcome; every kind is there, in the report's order."""
        self.flush()
        with self._transaction() as connection:
            found = dict(connection.execute("SELECT kind, count(*) FROM outcomes GROUP BY kind").fetchall())
        return {kind: found.get(kind.value, 0) for kind in OutcomeKind}

    def _commit(self, group: list[QueuedWrite[Outcome]]) -> None:
        try:
            with self._file.transaction(writes=True) as connection:
                connection.executemany(_INSERT, [_outcome_row(queued.write) for queued in group])
        except DatabaseError as error:
            self._error = JournalUnwritable(self.path, str(error))
        if not self._file.is_in_place():
            self._error = JournalUnwritable(self.path, "the file was moved or deleted", "")
        for queued in group:
            queued.finish()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error


def _kept_row(one: Classified) -> tuple[Any, ...]:
    """The values of _KEEP."""
    result, rows = one.result, json.dumps(one.rows) if len(one.rows) > 1 else ""
    if isinstance(result, Outcome):
        return one.rows[0], rows, None, None, result.kind.value, _problems_to_json(result.problems), ""
    return one.rows[0], rows, result.email, result.body, None, "", _problems_to_json(one.warnings)


def _classified(found: tuple[Any, ...]) -> Classified:
    row, listed, email, body, kind, problems, warnings = found
    rows = tuple(json.loads(listed)) if listed else (row,)
    if kind is not None:
        return Classified(rows, Outcome(row, OutcomeKind(kind), problems=_problems_from_json(problems)))
    return Classified(rows, ReadyCandidate(row, email, body), _problems_from_json(warnings))


def _outcome_row(outcome: Outcome) -> tuple[Any, ...]:
    """The values of _COLUMNS."""
    problems = _problems_to_json(outcome.problems)
    return outcome.row, outcome.kind.value, outcome.status, outcome.attempts, problems, outcome.candidate_id


def _outcome(found: tuple[Any, ...]) -> Outcome:
    row, kind, status, attempts, problems, candidate_id = found
    return Outcome(row, OutcomeKind(kind), status, attempts, _problems_from_json(problems), candidate_id)


def _problems_to_json(problems: Iterable[Problem]) -> str:
    found = [_problem_to_json(problem) for problem in problems]
    return json.dumps(found) if found else ""


def _problems_from_json(text: str) -> tuple[Problem, ...]:
    return tuple(map(_problem_from_json, json.loads(text))) if text else ()


def _problem_to_json(problem: Problem) -> dict[str, Any]:
    place = _place_to_json(problem.place)
    found: dict[str, Any] = {"code": problem.code, "message": problem.message, "hint": problem.hint, "place": place}
    if problem.severity != "error":
        found["severity"] = problem.severity
    if unread := problem.unread:
        found["unread"] = [unread.text, *astuple(unread.setting)]
    return found


def _problem_from_json(values: dict[str, Any]) -> Problem:
    place, severity = _place_from_json(values["place"]), values.get("severity", "error")
    text, *setting = values.get("unread", [""])
    unread = Unread(text, LinePlace(*setting)) if setting else None
    return Problem(values["code"], values["message"], values["hint"], place, severity, unread)


def _place_to_json(place: Place | None) -> dict[str, Any] | None:
    match place:
        case None:
            return None
        case CellPlace(origin, row, column):
            cell = {"kind": "cell", "origin": [origin.file, origin.sheet, origin.first], "row": row}
            return cell if column is None else {**cell, "column": [column.index, column.letter, column.name]}
        case LinePlace(file, line, column, text):
            return {"kind": "line", "file": file, "line": line, "column": column, "text": text}
        case FilePlace(name):
            return {"kind": "file", "name": name}


def _place_from_json(values: dict[str, Any] | None) -> Place | None:
    match values:
        case {"kind": "cell", "origin": [*origin], "row": row, "column": [index, letter, name]}:
            return CellPlace(Origin(*origin), row, Column(index, letter, name))
        case {"kind": "cell", "origin": [*origin], "row": row}:
            return CellPlace(Origin(*origin), row)
        case {"kind": "line", "file": file, "line": line, "column": column, "text": text}:
            return LinePlace(file, line, column, text)
        case {"kind": "file", "name": name}:
            return FilePlace(name)
        case _:
            return None


class EarlierOutcomes:
    """Reads outcomes from the journals of the runs in a results folder. A journal is opened when it is first needed."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._journals: dict[str, RunJournal | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for journal in filter(None, self._journals.values()):
            journal.close()

    def of(self, run: str, row: int) -> Outcome | None:
        """The outcome of a row in a run; None if the run's folder is missing, or the run was killed before.

        Raises:
            UnusableInput: the journal of that run is damaged.
        """
        if run not in self._journals:
            folder = self._out / run
            self._journals[run] = RunJournal(folder) if (folder / JOURNAL).is_file() else None
        journal = self._journals[run]
        return journal.outcome(row) if journal is not None else None
