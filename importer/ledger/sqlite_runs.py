"""The runs of a SQLite ledger, and the states of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from importer.ledger.sqlite_tables import examine
from importer.ledger.states import DONE, RequestRecord, RowState, RunRecord, Scope, State
from importer.ledger.store import LedgerUnwritable
from importer.models import Operation, Target, Timeline
from importer.problems import Problem, UsageError, not_writable
from importer.sqlite_file import Connection, ConstraintError, DatabaseError, SqliteFile, unusable

_RUN_COLUMNS: Final = (
    "run, base, operation, target, source, sha256, mapping, folder, started_at, ended_at, exit_code, purged_at"
)
_RUNS: Final = f"SELECT {_RUN_COLUMNS} FROM runs"
_BEGIN_RUN: Final = f"INSERT INTO runs ({_RUN_COLUMNS}) VALUES ({', '.join('?' * (_RUN_COLUMNS.count(',') + 1))})"
_SENT: Final = "(status IS NOT NULL OR ended_at IS NOT started_at)"  # else the run stopped before the request
_LAST_ANSWER: Final = f"SELECT max(COALESCE(ended_at, started_at)) FROM attempts WHERE run = ? AND {_SENT}"
_ANSWERS_BY_INTERVAL: Final = f"""
    SELECT CAST(max(COALESCE(ended_at, started_at) - ?, 0) / ? AS INTEGER), status, count(*)
    FROM attempts WHERE run = ? AND {_SENT} GROUP BY 1, 2"""
_IS_OF: Final = "base = ? AND operation = ? AND target = ?"  # see _values_of


class SqliteRuns:
    """The part of `LedgerStore` for runs. `clock`: seconds since 1970."""

    def __init__(self, file: SqliteFile, clock: Callable[[], float]) -> None:
        self.path: Path = file.path
        self.name = str(file.path)
        self._file = file
        self._clock = clock

    def begin_run(self, record: RunRecord) -> None:
        with self._transaction(writes=True) as connection:
            self._mark_killed(connection, record.scope)
            connection.execute(_BEGIN_RUN, _run_row(record))

    def end_run(self, run: str, ended_at: datetime, exit_code: int | None) -> None:
        change = "UPDATE runs SET ended_at = ?, exit_code = ? WHERE run = ?"
        try:
            with self._file.transaction(writes=True) as connection:
                record = _find_run(connection, run)
                if record is not None:
                    self._mark_killed(connection, record.scope)
                    connection.execute(change, (ended_at.isoformat(), exit_code, run))
        except DatabaseError as error:
            raise LedgerUnwritable(self.name, str(error)) from None

    def forget_run(self, run: str, now: datetime) -> None:
        change = "UPDATE runs SET source = '', sha256 = '', mapping = '', folder = '', purged_at = ? WHERE run = ?"
        with self._transaction(writes=True) as connection:
            connection.execute(change, (now.isoformat(), run))

    def scrub(self) -> bool:
        try:
            with self._file.connection() as connection:
                connection.execute("VACUUM")
                (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except DatabaseError as error:
            raise not_writable(self.path, str(error)) from None
        return not is_busy

    def run(self, run: str) -> RunRecord | None:
        with self._transaction() as connection:
            return _find_run(connection, run)

    def runs(self) -> tuple[RunRecord, ...]:
        return self._runs(_RUNS)

    def bases(self) -> tuple[str, ...]:
        with self._transaction() as connection:
            return tuple(base for (base,) in connection.execute("SELECT DISTINCT base FROM runs ORDER BY base"))

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        return self._runs(f"{_RUNS} WHERE ended_at IS NULL AND {_IS_OF}", _values_of(scope))

    def has_answered(self, base: str) -> bool:
        query = "SELECT EXISTS (SELECT 1 FROM attempts JOIN runs USING (run) WHERE base = ? AND status IS NOT NULL)"
        with self._transaction() as connection:
            (found,) = connection.execute(query, (base,)).fetchone()
        return bool(found)

    def rows_done(self, run: str) -> Iterator[int]:
        query = f"SELECT row FROM attempts WHERE run = ? AND state IN ({', '.join('?' * len(DONE))})"
        with self._transaction() as connection:
            for (row,) in connection.execute(query, (run, *(state.value for state in DONE))):
                yield row

    def current_states(self, run: str) -> Iterator[tuple[int, State]]:
        query = (
            "SELECT DISTINCT attempts.row, identities.state FROM attempts JOIN identities USING (identity) "
            "WHERE attempts.run = ?"
        )
        with self._transaction() as connection:
            for row, state in connection.execute(query, (run,)):
                yield row, State(state)

    def row_states(self, run: str) -> Iterator[RowState]:
        query = "SELECT row, state, status, number, after_unconfirmed FROM attempts WHERE run = ? ORDER BY row, number"
        with self._transaction() as connection:
            for row, attempts in groupby(connection.execute(query, (run,)), itemgetter(0)):
                last_status: int | None = None
                for _, state, status, number, after_unconfirmed in attempts:  # noqa: B007 - used after the loop: those of the last attempt
                    last_status = status if status is not None else last_status
                left = State.UNCONFIRMED if state == State.IN_FLIGHT else State(state)
                yield RowState(row, left, last_status, number, bool(after_unconfirmed))

    def requests(self, run: str, row: int) -> tuple[RequestRecord, ...]:
        columns = "started_at, ended_at, status, state, after_unconfirmed"
        query = f"SELECT {columns} FROM attempts WHERE run = ? AND row = ? AND {_SENT} ORDER BY number"
        with self._transaction() as connection:
            found = connection.execute(query, (run, row)).fetchall()
        return tuple(
            RequestRecord(_moment(began), _moment(ended) if ended else None, status, State(state), bool(unconfirmed))
            for began, ended, status, state, unconfirmed in found
        )

    def timeline(self, run: str, start: datetime) -> Timeline | None:
        began = start.timestamp()
        with self._transaction() as connection:
            (last,) = connection.execute(_LAST_ANSWER, (run,)).fetchone()
            if last is None:
                return None
            step = Timeline.step_for(last - began)
            found = connection.execute(_ANSWERS_BY_INTERVAL, (began, step, run)).fetchall()
        intervals: list[dict[str, int]] = [{} for _ in range(max(int(index) for index, _, _ in found) + 1)]
        for index, status, count in found:
            intervals[index]["no response" if status is None else str(status)] = count
        return Timeline(step, tuple(intervals))

    def resolve(self, run: str, row: int, *, created: bool) -> None:
        record = self.run(run)
        if record is None:
            raise UsageError(f"the ledger {self.name} does not know run {run}; list the runs with: importer runs")
        after = State.CREATED if created else State.FAILED
        with self._transaction(writes=True) as connection:
            self._mark_killed(connection, record.scope)
            sent = connection.execute("SELECT identity FROM attempts WHERE run = ? AND row = ?", (run, row)).fetchone()
            if sent is None:
                raise UsageError(f"run {run} sent nothing for row {row}; see its rows with: importer show {run}")
            (state,) = connection.execute("SELECT state FROM identities WHERE identity = ?", sent).fetchone()
            if state not in (State.UNCONFIRMED, after):
                raise UsageError(f"row {row} of run {run} is {state}, not unconfirmed; there is nothing to resolve")
            connection.execute(
                "UPDATE identities SET state = ?, updated_at = ? WHERE identity = ?",
                (after.value, self._clock(), *sent),
            )
            connection.execute(
                "UPDATE attempts SET state = ? WHERE identity = ? AND state = ?",
                (after.value, *sent, State.UNCONFIRMED.value),
            )

    def check(self) -> tuple[Problem, ...]:
        with self._transaction() as connection:
            return examine(connection, self.path)

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        """A transaction outside the life of a row; database errors become problems of the file."""
        try:
            with self._file.transaction(writes=writes) as connection:
                yield connection
        except ConstraintError:
            raise
        except DatabaseError as error:
            raise unusable(self.path, error) from None

    def _mark_killed(self, connection: Connection, scope: Scope) -> None:
        """Mark intents without an answer as unconfirmed: after a crash they are never new."""
        of_scope = f"run IN (SELECT run FROM runs WHERE {_IS_OF})"
        connection.execute(
            f"UPDATE attempts SET ended_at = ?, state = ? WHERE ended_at IS NULL AND {of_scope}",
            (self._clock(), State.UNCONFIRMED.value, *_values_of(scope)),
        )
        connection.execute(
            f"UPDATE identities SET state = ? WHERE state = ? AND {of_scope}",
            (State.UNCONFIRMED.value, State.IN_FLIGHT.value, *_values_of(scope)),
        )

    def _runs(self, query: str, values: tuple[Any, ...] = ()) -> tuple[RunRecord, ...]:
        with self._transaction() as connection:
            rows = connection.execute(f"{query} ORDER BY started_at DESC, run DESC", values).fetchall()
        return tuple(map(_run_record, rows))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


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
    """A file name may not be UTF-8, but SQLite stores only UTF-8."""
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
