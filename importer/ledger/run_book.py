"""The runs of a ledger, and what became of the rows of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from importer.errors import UsageError
from importer.ledger import doctor
from importer.ledger.identity import Scope
from importer.ledger.records import RowState, RunRecord
from importer.ledger.sqlite_file import SqliteFile, unwritable
from importer.ledger.states import DONE, State
from importer.ledger.trouble import LedgerUnwritable, unusable
from importer.models import FilePlace, Operation, Problem, Target

_RUN_COLUMNS: Final = (
    "run, base, operation, target, source, sha256, mapping, folder, started_at, ended_at, exit_code, purged_at"
)
_RUNS: Final = f"SELECT {_RUN_COLUMNS} FROM runs"
_BEGIN_RUN: Final = f"INSERT INTO runs ({_RUN_COLUMNS}) VALUES ({', '.join('?' * (_RUN_COLUMNS.count(',') + 1))})"
_IS_OF: Final = "base = ? AND operation = ? AND target = ?"  # see _names


class RunBook:
    """Which runs there were, and how they and their rows ended. `clock` gives seconds since 1970."""

    def __init__(self, path: Path, file: SqliteFile, clock: Callable[[], float]) -> None:
        self.path = path
        self._file = file
        self._clock = clock

    def begin_run(self, record: RunRecord) -> None:
        """Note a run, and what runs of the same scope that died had in flight as unclear.

        Raises:
            UnusableInput: the ledger cannot be written; nothing was sent.
        """
        with self._transaction(writes=True) as connection:
            self._note_deaths(connection, record.scope)
            connection.execute(_BEGIN_RUN, _run_row(record))

    def end_run(self, run: str, ended_at: datetime, exit_code: int | None) -> None:
        """Note how a run ended, and what it left in flight as unclear; `exit_code` None: it was killed.

        Raises:
            LedgerUnwritable: the ledger cannot be written; the next run of the same scope makes up for it.
        """
        change = "UPDATE runs SET ended_at = ?, exit_code = ? WHERE run = ?"
        try:
            with self._file.transaction(writes=True) as connection:
                record = _find_run(connection, run)
                if record is not None:
                    self._note_deaths(connection, record.scope)
                    connection.execute(change, (ended_at.isoformat(), exit_code, run))
        except sqlite3.DatabaseError as error:
            raise LedgerUnwritable(self.path, str(error)) from None

    def forget_run(self, run: str, now: datetime) -> None:
        """Take from a run what could name a person: its file, its mapping, its folder. What was sent stays known."""
        change = "UPDATE runs SET source = '', sha256 = '', mapping = '', folder = '', purged_at = ? WHERE run = ?"
        with self._transaction(writes=True) as connection:
            connection.execute(change, (now.isoformat(), run))

    def scrub(self) -> bool:
        """Write the file anew, so that nothing that was taken from it is left between its pages or in its WAL.

        False where another process reads it just now, so that its WAL could not be emptied.
        """
        try:
            with self._file.connection() as connection:
                connection.execute("VACUUM")
                (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.DatabaseError as error:
            raise unwritable(self.path, str(error)) from None
        return not is_busy

    def run(self, run: str) -> RunRecord | None:
        """The run of that name."""
        with self._transaction() as connection:
            return _find_run(connection, run)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""
        return self._runs(_RUNS)

    def bases(self) -> tuple[str, ...]:
        """The services that runs were for, by their base URLs: two spellings of one address are two of them."""
        with self._transaction() as connection:
            return tuple(base for (base,) in connection.execute("SELECT DISTINCT base FROM runs ORDER BY base"))

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        """The runs of a scope that have no end: killed, or going on now (`target_lock` tells), the newest first."""
        return self._runs(f"{_RUNS} WHERE ended_at IS NULL AND {_IS_OF}", _names(scope))

    def has_answered(self, base: str) -> bool:
        """Whether the service at that address ever answered a request of a run."""
        query = "SELECT EXISTS (SELECT 1 FROM attempts JOIN runs USING (run) WHERE base = ? AND status IS NOT NULL)"
        with self._transaction() as connection:
            (found,) = connection.execute(query, (base,)).fetchone()
        return bool(found)

    def rows_done(self, run: str) -> Iterator[int]:
        """The rows of a run whose candidates it found or left where they are to be. Streams."""
        query = f"SELECT row FROM attempts WHERE run = ? AND state IN ({', '.join('?' * len(DONE))})"
        with self._transaction() as connection:
            for (row,) in connection.execute(query, (run, *(state.value for state in DONE))):
                yield row

    def row_states(self, run: str) -> Iterator[RowState]:
        """Every row of a run whose life began, in row order, as its last attempt left it. Streams."""
        query = "SELECT row, state, status, number, after_doubt FROM attempts WHERE run = ? ORDER BY row, number"
        with self._transaction() as connection:
            for row, attempts in groupby(connection.execute(query, (run,)), itemgetter(0)):
                told: int | None = None  # the last status that came
                for _, state, status, number, after_doubt in attempts:  # noqa: B007 - the last attempt's are wanted
                    told = status if status is not None else told
                left = State.UNCLEAR if state == State.IN_FLIGHT else State(state)
                yield RowState(row, left, told, number, bool(after_doubt))

    def resolve(self, run: str, row: int, *, created: bool) -> None:
        """Settle an unclear row as a person found it: there, or not there. May be said again.

        Raises:
            UsageError: the run sent nothing for this row, or it is not unclear.
        """
        record = self.run(run)
        if record is None:
            raise UsageError(f"the ledger {self.path} knows no run {run}; list them with: importer runs")
        after = State.CREATED if created else State.FAILED
        with self._transaction(writes=True) as connection:
            self._note_deaths(connection, record.scope)
            sent = connection.execute("SELECT identity FROM attempts WHERE run = ? AND row = ?", (run, row)).fetchone()
            if sent is None:
                raise UsageError(f"run {run} sent nothing for row {row}; see its rows with: importer show {run}")
            (state,) = connection.execute("SELECT state FROM identities WHERE identity = ?", sent).fetchone()
            if state not in (State.UNCLEAR, after):
                raise UsageError(f"row {row} of run {run} is not unclear but {state}; there is nothing to resolve")
            connection.execute(
                "UPDATE identities SET state = ?, updated_at = ? WHERE identity = ?",
                (after.value, self._clock(), *sent),
            )
            connection.execute(
                "UPDATE attempts SET state = ? WHERE identity = ? AND state = ?",
                (after.value, *sent, State.UNCLEAR.value),
            )

    def check(self) -> tuple[Problem, ...]:
        """What is wrong with the ledger, all of it; nothing in a sound one."""
        with self._transaction() as connection:
            return doctor.examine(connection, FilePlace(str(self.path)))

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
        """One for reading or writing outside of the life of a row; what is wrong with the file is told as such."""
        try:
            with self._file.transaction(writes=writes) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError):
                raise
            raise unusable(self.path, error) from None

    def _note_deaths(self, connection: sqlite3.Connection, scope: Scope) -> None:
        """After a crash, an intent without an answer is unclear, never new."""
        of_scope = f"run IN (SELECT run FROM runs WHERE {_IS_OF})"
        connection.execute(
            f"UPDATE attempts SET ended_at = ?, state = ? WHERE ended_at IS NULL AND {of_scope}",
            (self._clock(), State.UNCLEAR.value, *_names(scope)),
        )
        connection.execute(
            f"UPDATE identities SET state = ? WHERE state = ? AND {of_scope}",
            (State.UNCLEAR.value, State.IN_FLIGHT.value, *_names(scope)),
        )

    def _runs(self, query: str, values: tuple[Any, ...] = ()) -> tuple[RunRecord, ...]:
        with self._transaction() as connection:
            rows = connection.execute(f"{query} ORDER BY started_at DESC, run DESC", values).fetchall()
        return tuple(map(_run_record, rows))


def _find_run(connection: sqlite3.Connection, run: str) -> RunRecord | None:
    row = connection.execute(f"{_RUNS} WHERE run = ?", (run,)).fetchone()
    return _run_record(row) if row else None


def _names(scope: Scope) -> tuple[str, ...]:
    return (scope.base, scope.target.operation.value, scope.target.id)


def _run_row(record: RunRecord) -> tuple[Any, ...]:
    """The values of _RUN_COLUMNS."""
    return (
        record.run,
        *_names(record.scope),
        _as_text(record.source),
        record.sha256,
        _as_text(record.mapping),
        _as_text(record.folder),
        record.started_at.isoformat(),
        record.ended_at.isoformat() if record.ended_at else None,
        record.exit_code,
        record.purged_at.isoformat() if record.purged_at else None,
    )


def _as_text(name: str) -> str:
    """The name of a file may be no UTF-8, which is all that SQLite takes."""
    return name.encode("utf-8", "backslashreplace").decode()


def _run_record(row: tuple[Any, ...]) -> RunRecord:
    run, base, operation, target, source, sha256, mapping, folder, started_at, ended_at, exit_code, purged_at = row
    return RunRecord(
        run=run,
        scope=Scope(base, Target(Operation(operation), target)),
        source=source,
        sha256=sha256,
        mapping=mapping,
        folder=folder,
        started_at=datetime.fromisoformat(started_at),
        ended_at=datetime.fromisoformat(ended_at) if ended_at else None,
        exit_code=exit_code,
        purged_at=datetime.fromisoformat(purged_at) if purged_at else None,
    )
