"""The ledger: what was intended, sent and answered for each identity, durably and without personal data."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import BindParameter, Connection, Engine, Row, Select, insert, inspect, select, update
from sqlalchemy.exc import DatabaseError, DBAPIError, IntegrityError

from importer.errors import StoppedEarly, UnusableInput, UsageError
from importer.ledger import doctor
from importer.ledger.ballast import Ballast
from importer.ledger.groups import GroupWriter, Waiting
from importer.ledger.identity import Fingerprints, Scope, create_key, key_path, read_key
from importer.ledger.migrations import migrate
from importer.ledger.records import Answered, Intent, Known, RowState, RunRecord
from importer.ledger.schema import VERSION, about, attempts, identities, metadata, runs
from importer.ledger.sqlite_file import create_private, is_no_database, no_database, open_engine, unwritable
from importer.ledger.statements import PreparedLookUp
from importer.ledger.states import DONE, State
from importer.ledger.writes import GroupWrites, NotAllowed, Write
from importer.models import FilePlace, Operation, Problem, Target

_LINGER = 0.01  # seconds that a write nobody waits for gives others to share its commit


class LedgerUnwritable(StoppedEarly):
    """The ledger cannot be written any more, so nothing more may be sent. `reason` is what is wrong with it."""

    def __init__(self, path: Path, reason: str) -> None:
        self.reason = f"the ledger {path} cannot be written ({reason})"
        self.hint = "make room or mend the disk, then run the same command again"
        super().__init__(f"{self.reason}, so nothing more is sent; {self.hint}")


class Ledger:
    """States and attempts of identities, in one SQLite file (WAL, synchronous=FULL). Safe to use from many threads.

    One run at a time for each scope: whoever begins a run or resolves a row holds `target_lock`.
    """

    def __init__(self, path: Path, engine: Engine, fingerprints: Fingerprints, clock: Callable[[], float]) -> None:
        self.path = path
        self.fingerprints = fingerprints
        self._engine = engine
        self._clock = clock
        self._inode = path.stat().st_ino
        self._ballast = Ballast(path)
        self._writes = GroupWrites(engine)
        self._look_up = PreparedLookUp(_known_of, engine)
        self._trouble: LedgerUnwritable | None = None
        self._refused_answer: NotAllowed | None = None
        self._writer: GroupWriter[Write] = GroupWriter(self._commit, linger=_LINGER, name="ledger")

    @classmethod
    def open(cls, path: Path, clock: Callable[[], float] = time.time) -> Ledger:
        """Open the ledger at `path`; where there is none, lay down a new one, 0600, with its key and its ballast.

        clock: seconds since 1970.

        Raises:
            UnusableInput: it cannot be written, is no ledger, is damaged, was written by a newer importer, or its key
                is gone.
        """
        create_private(path)
        engine = open_engine(path, "FULL")
        try:
            fingerprints = _lay_down_or_check(path, engine)
            Ballast(path).take()
        except OSError as error:
            engine.dispose()
            raise unwritable(path, error.strerror or str(error)) from None
        except DBAPIError as error:
            engine.dispose()
            raise _unusable(path, error) from None
        except UnusableInput:
            engine.dispose()
            raise
        return cls(path, engine, fingerprints, clock)

    @classmethod
    def open_existing(cls, path: Path, clock: Callable[[], float] = time.time) -> Ledger | None:
        """Open the ledger at `path` if there is one; makes no file. Raises as `open` does."""
        return cls.open(path, clock) if path.exists() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what is still to be written, then let the file go."""
        try:
            self._writer.close()
        finally:
            self._engine.dispose()

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        """What is known of these identities (at most some thousand at once); the unknown ones are left out.

        Raises:
            LedgerUnwritable: it cannot even be read any more.
        """
        try:
            with self._engine.begin() as connection:
                rows = self._look_up.execute(connection, wanted)
        except DatabaseError as error:
            raise self._note_trouble(str(error.orig)) from None
        return {identity: Known(State(state), *rest) for identity, state, *rest in rows}

    def intend(self, intent: Intent) -> None:
        """Return when the intent is on disk; only then may its request be sent.

        Raises:
            LedgerUnwritable: it cannot be written; nothing may be sent.
            NotAllowed: the identity is in flight already, or done.
        """
        self._writer.put_and_wait(intent)

    def intend_then(self, intent: Intent, then: Callable[[Exception | None], None]) -> None:
        """Have an intent written, and `then` called by the writer's thread: with None when it is on disk.

        With LedgerUnwritable or NotAllowed, as `intend` raises them, when it is not. `then` must not wait. Without a
        `hurry` it may take 10 ms longer, so that more writes share its commit.
        """
        self._writer.put_then(intent, then)

    def hurry(self) -> None:
        """Have written now what was put so far; returns at once."""
        self._writer.hurry()

    def record(self, answered: Answered) -> None:
        """Have an answer written, without waiting for it. An answer that cannot be written stops every later intent."""
        self._writer.put(answered)

    def flush(self) -> None:
        """Return when every answer so far is on disk.

        Raises:
            LedgerUnwritable: the ledger could not be written at some time; answers may be missing from it.
            NotAllowed: an answer did not fit the state of its identity: a bug of ours.
        """
        self._writer.flush()
        if self._refused_answer is not None:
            raise self._refused_answer
        if self._trouble is not None:
            raise self._trouble

    def _commit(self, group: list[Waiting[Write]]) -> None:
        if self._trouble is None and (danger := self._danger()):
            self._note_trouble(danger)
        if self._trouble is not None:
            group = self._refuse_intents(group, self._trouble)
        try:
            self._write(group)
        except DatabaseError as error:
            if isinstance(error, IntegrityError):
                raise
            trouble = self._note_trouble(str(error.orig))
            self._ballast.give_up()
            self._write_answers_at_least(self._refuse_intents(group, trouble), trouble)

    def _danger(self) -> str | None:
        """What is wrong outside of the file, that SQLite would not notice or notice too late."""
        try:
            is_ours = self.path.stat().st_ino == self._inode
        except OSError:
            is_ours = False
        if not is_ours:
            return "the file was moved or deleted"
        return "there is hardly any room left on its disk" if self._ballast.is_threatened() else None

    def _write_answers_at_least(self, group: list[Waiting[Write]], trouble: LedgerUnwritable) -> None:
        try:
            self._write(group)
        except DatabaseError:
            for waiting in group:
                waiting.settle(trouble)

    def _write(self, group: list[Waiting[Write]]) -> None:
        if not group:
            return
        with self._writing() as connection:
            refused = self._writes.write(connection, group, self._clock())
        for index, waiting in enumerate(group):
            refusal = refused.get(index)
            if refusal is None:
                waiting.settle()
            else:
                if isinstance(waiting.write, Answered):
                    self._refused_answer = refusal
                waiting.settle(refusal)

    def _refuse_intents(self, group: list[Waiting[Write]], trouble: LedgerUnwritable) -> list[Waiting[Write]]:
        """Settle the intents of a group as not written; give its answers."""
        for waiting in group:
            if isinstance(waiting.write, Intent):
                waiting.settle(trouble)
        return [waiting for waiting in group if isinstance(waiting.write, Answered)]

    def _note_trouble(self, reason: str) -> LedgerUnwritable:
        if self._trouble is None:
            self._trouble = LedgerUnwritable(self.path, reason)
        return self._trouble

    # --- runs ---

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
            raise _unusable(self.path, error) from None

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


def _lay_down_or_check(path: Path, engine: Engine) -> Fingerprints:
    with engine.execution_options(writes=True).begin() as connection:
        tables = inspect(connection).get_table_names()
        if not tables:
            create_key(key_path(path))
            fingerprints = Fingerprints(read_key(key_path(path)))
            metadata.create_all(connection)
            connection.execute(insert(about), [{"version": VERSION, "key_check": fingerprints.key_check()}])
            return fingerprints
        if about.name not in tables:
            raise no_database(path, "a database of something else")
        known = connection.execute(select(about.c.version, about.c.key_check)).one()
        if known.version > VERSION:
            raise _newer(path, known.version)
        fingerprints = Fingerprints(read_key(key_path(path)))
        if fingerprints.key_check() != known.key_check:
            raise _foreign_key(path)
        migrate(connection, known.version)
    return fingerprints


def _newer(path: Path, version: int) -> UnusableInput:
    return UnusableInput(
        Problem(
            "ledger-newer",
            f"it was written by a newer importer (ledger version {version}, this one knows {VERSION})",
            "upgrade this importer, or name another folder with --out",
            FilePlace(str(path)),
        )
    )


def _foreign_key(path: Path) -> UnusableInput:
    return UnusableInput(
        Problem(
            "ledger-key-foreign",
            "this key belongs to another ledger",
            "put back the key file that lay beside the ledger: without it nobody knows which rows were sent",
            FilePlace(str(key_path(path))),
        )
    )


def _unusable(path: Path, error: DBAPIError) -> UnusableInput:
    reason = str(error.orig)
    return no_database(path, reason) if is_no_database(error) else unwritable(path, reason)


def _known_of(wanted: list[BindParameter[Any]]) -> Select[Any]:
    columns = identities.c
    query = select(columns.identity, columns.state, columns.status, columns.body_digest, columns.run, columns.row)
    return query.where(columns.identity.in_(wanted))


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
