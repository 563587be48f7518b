"""The runs of a ledger in an SQL database, and the states of their rows: the same statements in every database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from importer.ledger.database import Connection, Database
from importer.ledger.states import DONE, LedgerUnwritable, RowState, RunRecord, Scope, State
from importer.ledger.tables import examine
from importer.models import Operation, Target
from importer.problems import ConstraintError, DatabaseError, Problem, UsageError

_RUN_COLUMNS: Final = (
    "run, base, operation, target, source, sha256, mapping, folder, started_at, ended_at, exit_code, purged_at"
)
_RUNS: Final = f"SELECT {_RUN_COLUMNS} FROM runs"
_BEGIN_RUN: Final = f"INSERT INTO runs ({_RUN_COLUMNS}) VALUES ({', '.join('?' * (_RUN_COLUMNS.count(',') + 1))})"
_PERSON_OF: Final = 'SELECT identity, state FROM people WHERE run = ? AND "row" = ?'
_IS_OF: Final = "base = ? AND operation = ? AND target = ?"  # see _values_of


class LedgerRuns:
    """The part of a ledger for runs. `clock`: seconds since 1970."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self.name = database.name
        self._database = database
        self._clock = clock

    def begin_run(self, record: RunRecord) -> None:
        """Record a new run, and mark as unconfirmed what killed runs of the same scope had in flight."""
        with self._transaction(writes=True) as connection:
            self._mark_killed(connection, record.scope)
            connection.execute(_BEGIN_RUN, _run_row(record))

    def end_run(self, run: str, ended_at: datetime, exit_code: int | None) -> None:
        """Record how a run ended, and mark as unconfirmed what it left in flight; `exit_code` None: it was killed.

        Raises:
            LedgerUnwritable: it cannot be written; the next run of the same scope does it instead.
        """
        change = "UPDATE runs SET ended_at = ?, exit_code = ? WHERE run = ?"

        def end(connection: Connection) -> None:
            record = _find_run(connection, run)
            if record is not None:
                self._mark_killed(connection, record.scope)
                connection.execute(change, (ended_at.isoformat(), exit_code, run))

        try:
            self._database.run(end, writes=True)
        except DatabaseError as error:
            raise LedgerUnwritable(self.name, str(error), self._database.remedy) from None

    def forget_run(self, run: str, now: datetime) -> None:
        """Remove what could identify a person from a run: file, mapping and folder names. What was sent stays known."""
        change = "UPDATE runs SET source = '', sha256 = '', mapping = '', folder = '', purged_at = ? WHERE run = ?"
        with self._transaction(writes=True) as connection:
            connection.execute(change, (now.isoformat(), run))

    def scrub(self) -> bool:
        """Overwrite the bytes of what was removed. False if that must wait because another process is reading."""
        return self._database.scrub()

    def run(self, run: str) -> RunRecord | None:
        """The run of that name."""
        return next(map(_run_record, self._find(f"{_RUNS} WHERE run = ?", (run,))), None)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""
        return self._runs(_RUNS)

    def bases(self) -> tuple[str, ...]:
        """The base URLs of all runs; two spellings of one address count as two."""
        return tuple(base for (base,) in self._find("SELECT DISTINCT base FROM runs ORDER BY base"))

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        """The runs of a scope without an end: killed, or running now (see `lock_target`), the newest first."""
        return self._runs(f"{_RUNS} WHERE ended_at IS NULL AND {_IS_OF}", _values_of(scope))

    def has_answered(self, base: str) -> bool:
        """Whether the service at that address ever responded to a run."""
        query = "SELECT EXISTS (SELECT 1 FROM people JOIN runs USING (run) WHERE base = ? AND status IS NOT NULL)"
        [(found,)] = self._find(query, (base,))
        return bool(found)

    def rows_done(self, run: str) -> Iterator[int]:
        """The rows of a run that are done: created or already exists. Streams. None that a later run has sent again."""
        query = f"""SELECT "row" FROM people WHERE run = ? AND state IN ({", ".join("?" * len(DONE))})"""
        for (row,) in self._stream(query, (run, *(state.value for state in DONE))):
            yield row

    def row_states(self, run: str) -> Iterator[RowState]:
        """Each row of a run that was intended, and by no later run since, in row order. Streams."""
        query = """SELECT "row", state, status, attempts, after_unconfirmed FROM people WHERE run = ? ORDER BY "row" """
        for row, state, status, attempts, after_unconfirmed in self._stream(query, (run,)):
            left = State.UNCONFIRMED if state == State.IN_FLIGHT else State(state)
            yield RowState(row, left, status, attempts, bool(after_unconfirmed))

    def resolve(self, run: str, row: int, *, created: bool) -> None:
        """Record what a person found out about an unconfirmed row: created or not. May be repeated.

        Raises:
            UsageError: the run sent nothing for this row, or it is not unconfirmed.
        """
        record = self.run(run)
        if record is None:
            raise UsageError(f"the ledger {self.name} does not know run {run}; list the runs with: importer runs")
        after = State.CREATED if created else State.FAILED
        with self._transaction(writes=True) as connection:
            self._mark_killed(connection, record.scope)
            found = connection.execute(f"{_PERSON_OF} {self._database.locking}", (run, row)).fetchone()
            if found is None:
                raise UsageError(
                    f"run {run} sent nothing for row {row}, or a later run has sent it again; "
                    f"see its rows with: importer show {run}"
                )
            identity, state = found
            if state not in (State.UNCONFIRMED, after):
                raise UsageError(f"row {row} of run {run} is {state}, not unconfirmed; there is nothing to resolve")
            change = "UPDATE people SET state = ?, updated_at = ? WHERE identity = ?"
            connection.execute(change, (after.value, self._clock(), identity))

    def check(self) -> tuple[Problem, ...]:
        """Every problem of the ledger; empty if it is intact."""
        with self._transaction() as connection:
            return examine(connection, self._database)

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        """A transaction outside the life of a row; its errors become problems of the database."""
        try:
            with self._database.transaction(writes=writes) as connection:
                yield connection
        except ConstraintError:
            raise
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    def _find(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """The rows of one query."""
        try:
            return self._database.run(lambda connection: connection.execute(query, values).fetchall())
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    def _stream(self, query: str, values: tuple[Any, ...]) -> Iterator[Any]:
        with self._transaction() as connection:
            yield from self._database.stream(connection, query, values)

    def _mark_killed(self, connection: Connection, scope: Scope) -> None:
        """Mark intents without an answer as unconfirmed: after a crash they are never new."""
        connection.execute(
            f"UPDATE people SET state = ? WHERE state = ? AND run IN (SELECT run FROM runs WHERE {_IS_OF})",
            (State.UNCONFIRMED.value, State.IN_FLIGHT.value, *_values_of(scope)),
        )

    def _runs(self, query: str, values: tuple[Any, ...] = ()) -> tuple[RunRecord, ...]:
        return tuple(map(_run_record, self._find(f"{query} ORDER BY started_at DESC, run DESC", values)))


def _find_run(connection: Connection, run: str) -> RunRecord | None:
    row = connection.execute(f"{_RUNS} WHERE run = ?", (run,)).fetchone()
    return _run_record(row) if row else None


def _values_of(scope: Scope) -> tuple[str, ...]:
    return (scope.base, scope.target.operation.value, scope.target.id)


def _run_row(record: RunRecord) -> tuple[Any, ...]:
    """The values of _RUN_COLUMNS."""
    return (
        record.run,
        *_values_of(record.scope),
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
    """A file name may not be UTF-8, but databases store only UTF-8."""
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
