"""The runs of a ledger, and what became of the rows of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Row, insert, select, update
from sqlalchemy.exc import DatabaseError, IntegrityError

from importer.errors import UsageError
from importer.ledger import doctor
from importer.ledger.identity import Scope
from importer.ledger.records import RowState, RunRecord
from importer.ledger.schema import attempts, identities, runs
from importer.ledger.sqlite_file import unwritable
from importer.ledger.states import DONE, State
from importer.ledger.trouble import LedgerUnwritable, unusable
from importer.models import FilePlace, Operation, Problem, Target


class RunBook:
    """Which runs there were, and how they and their rows ended. `clock` gives seconds since 1970."""

    def __init__(self, path: Path, engine: Engine, clock: Callable[[], float]) -> None:
        self.path = path
        self._engine = engine
        self._clock = clock

    def begin_run(self, record: RunRecord) -> None:
        """Note a run, and what runs of the same scope that died had in flight as unclear.

        Raises:
            UnusableInput: the ledger cannot be written; nothing was sent.
        """
        with self._transaction(writes=True) as connection:
            self._note_deaths(connection, record.scope)
            connection.execute(insert(runs), [_run_row(record)])

    def end_run(self, run: str, ended_at: datetime, exit_code: int | None) -> None:
        """Note how a run ended, and what it left in flight as unclear; `exit_code` None: it was killed.

        Raises:
            LedgerUnwritable: the ledger cannot be written; the next run of the same scope makes up for it.
        """
        change = update(runs).where(runs.c.run == run).values(ended_at=ended_at.isoformat(), exit_code=exit_code)
        try:
            with self._writing() as connection:
                record = connection.execute(select(runs).where(runs.c.run == run)).first()
                if record is not None:
                    self._note_deaths(connection, _run_record(record).scope)
                    connection.execute(change)
        except DatabaseError as error:
            raise LedgerUnwritable(self.path, str(error.orig)) from None

    def forget_run(self, run: str, now: datetime) -> None:
        """Take from a run what could name a person: its file, its mapping, its folder. What was sent stays known."""
        nothing = dict.fromkeys(("source", "sha256", "mapping", "folder"), "")
        with self._transaction(writes=True) as connection:
            connection.execute(update(runs).where(runs.c.run == run).values(**nothing, purged_at=now.isoformat()))

    def scrub(self) -> bool:
        """Write the file anew, so that nothing that was taken from it is left between its pages or in its WAL.

        False where another process reads it just now, so that its WAL could not be emptied.
        """
        raw = self._engine.raw_connection()
        try:
            cursor = raw.cursor()
            cursor.execute("VACUUM")
            (is_busy, *_) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.DatabaseError as error:
            raise unwritable(self.path, str(error)) from None
        finally:
            raw.close()
        return not is_busy

    def run(self, run: str) -> RunRecord | None:
        """The run of that name."""
        with self._transaction() as connection:
            row = connection.execute(select(runs).where(runs.c.run == run)).first()
        return _run_record(row) if row else None

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""
        return self._runs(select(runs))

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        """The runs of a scope that have no end: killed, or going on now (`target_lock` tells), the newest first."""
        return self._runs(select(runs).where(runs.c.ended_at.is_(None), *_is_of(scope)))

    def rows_done(self, run: str) -> Iterator[int]:
        """The rows of a run whose candidates it found or left where they are to be. Streams."""
        query = select(attempts.c.row).where(
            attempts.c.run == run, attempts.c.state.in_([state.value for state in DONE])
        )
        with self._transaction() as connection:
            for (row,) in connection.execution_options(yield_per=10_000).execute(query):
                yield row

    def row_states(self, run: str) -> Iterator[RowState]:
        """Every row of a run whose life began, in row order, as its last attempt left it. Streams."""
        columns = attempts.c
        query = select(columns.row, columns.state, columns.status, columns.number, columns.after_doubt)
        latest: RowState | None = None
        with self._transaction() as connection:
            found = connection.execution_options(yield_per=1000).execute(
                query.where(columns.run == run).order_by(columns.row, columns.number)
            )
            for row in found:
                # "row" is a column of ours and hides nothing of a result row's own.
                state = State.UNCLEAR if row.state == State.IN_FLIGHT else State(row.state)
                status = row.status
                if latest is not None and latest.row != row.row:
                    yield latest
                elif latest is not None and status is None:
                    status = latest.status
                latest = RowState(row.row, state, status, row.number, row.after_doubt)
        if latest is not None:
            yield latest

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
            identity = connection.execute(
                select(attempts.c.identity).where(attempts.c.run == run, attempts.c.row == row).limit(1)
            ).scalar_one_or_none()
            if identity is None:
                raise UsageError(f"run {run} sent nothing for row {row}; see its rows with: importer show {run}")
            state = connection.execute(select(identities.c.state).where(identities.c.identity == identity)).scalar_one()
            if state not in (State.UNCLEAR, after):
                raise UsageError(f"row {row} of run {run} is not unclear but {state}; there is nothing to resolve")
            connection.execute(
                update(identities)
                .where(identities.c.identity == identity)
                .values(state=after.value, updated_at=self._clock())
            )
            connection.execute(
                update(attempts)
                .where(attempts.c.identity == identity, attempts.c.state == State.UNCLEAR)
                .values(state=after.value)
            )

    def check(self) -> tuple[Problem, ...]:
        """What is wrong with the ledger, all of it; nothing in a sound one."""
        with self._transaction() as connection:
            return doctor.examine(connection, FilePlace(str(self.path)))

    def _writing(self) -> Any:
        return self._engine.execution_options(writes=True).begin()

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        """One for reading or writing outside of the life of a row; what is wrong with the file is told as such."""
        try:
            with self._engine.execution_options(writes=writes).begin() as connection:
                yield connection
        except DatabaseError as error:
            if isinstance(error, IntegrityError):
                raise
            raise unusable(self.path, error) from None

    def _note_deaths(self, connection: Connection, scope: Scope) -> None:
        """After a crash, an intent without an answer is unclear, never new."""
        of_scope = select(runs.c.run).where(*_is_of(scope))
        connection.execute(
            update(attempts)
            .where(attempts.c.ended_at.is_(None), attempts.c.run.in_(of_scope))
            .values(ended_at=self._clock(), state=State.UNCLEAR.value)
        )
        connection.execute(
            update(identities)
            .where(identities.c.state == State.IN_FLIGHT, identities.c.run.in_(of_scope))
            .values(state=State.UNCLEAR.value)
        )

    def _runs(self, query: Any) -> tuple[RunRecord, ...]:
        with self._transaction() as connection:
            rows = connection.execute(query.order_by(runs.c.started_at.desc(), runs.c.run.desc())).all()
        return tuple(_run_record(row) for row in rows)


def _is_of(scope: Scope) -> tuple[Any, ...]:
    return (
        runs.c.base == scope.base,
        runs.c.operation == scope.target.operation.value,
        runs.c.target == scope.target.id,
    )


def _run_row(record: RunRecord) -> dict[str, Any]:
    return {
        "run": record.run,
        "base": record.scope.base,
        "operation": record.scope.target.operation.value,
        "target": record.scope.target.id,
        "source": record.source,
        "sha256": record.sha256,
        "mapping": record.mapping,
        "folder": record.folder,
        "started_at": record.started_at.isoformat(),
        "ended_at": record.ended_at.isoformat() if record.ended_at else None,
        "exit_code": record.exit_code,
        "purged_at": record.purged_at.isoformat() if record.purged_at else None,
    }


def _run_record(row: Row[Any]) -> RunRecord:
    return RunRecord(
        run=row.run,
        scope=Scope(row.base, Target(Operation(row.operation), row.target)),
        source=row.source,
        sha256=row.sha256,
        mapping=row.mapping,
        folder=row.folder,
        started_at=datetime.fromisoformat(row.started_at),
        ended_at=datetime.fromisoformat(row.ended_at) if row.ended_at else None,
        exit_code=row.exit_code,
        purged_at=datetime.fromisoformat(row.purged_at) if row.purged_at else None,
    )
