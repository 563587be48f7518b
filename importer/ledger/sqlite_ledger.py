"""A ledger in one SQLite file (WAL, synchronous=FULL), for runs on one machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from importer.atomic_files import INTERNAL, internal_folder, open_private
from importer.file_lock import hold_lock
from importer.group_writer import GroupWriter, OnDone, QueuedWrite
from importer.ledger.sqlite_runs import SqliteRuns
from importer.ledger.sqlite_tables import initialize_or_check
from importer.ledger.states import (
    Answered,
    Fingerprints,
    GroupPlan,
    Intent,
    Known,
    NotAllowed,
    Scope,
    State,
    Write,
    plan_group,
)
from importer.ledger.store import LedgerUnwritable, TargetLock
from importer.problems import not_writable
from importer.sqlite_file import Connection, ConstraintError, DatabaseError, SqliteFile, create_private, unusable

_LINGER: Final = 0.01  # seconds for which an asynchronous write waits for others, to share one commit
_RESERVE: Final = 1024 * 1024  # bytes: enough for the answers of many more rows than can be in flight

_INTEND: Final = """INSERT INTO identities (identity, state, status, body_digest, run, "row", updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (identity) DO UPDATE SET state = excluded.state, status = excluded.status,
    body_digest = excluded.body_digest, run = excluded.run, "row" = excluded."row", updated_at = excluded.updated_at"""
_BEGIN_ATTEMPT: Final = """INSERT INTO attempts (identity, run, "row", number, started_at, state, after_unconfirmed)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_ANSWER: Final = "UPDATE identities SET state = ?, status = ?, updated_at = ? WHERE identity = ?"
_END_ATTEMPT: Final = """UPDATE attempts
    SET state = ?, status = ?, ended_at = COALESCE(ended_at, CASE WHEN ? THEN ? ELSE started_at END)
    WHERE run = ? AND "row" = ? AND number = ?"""


class SqliteLedger(SqliteRuns):
    """`LedgerStore` in a file. Its key, disk reserve and target locks are in the folder `.importer` next to it."""

    def __init__(self, file: SqliteFile, fingerprints: Fingerprints, clock: Callable[[], float]) -> None:
        super().__init__(file, clock)
        self.fingerprints = fingerprints
        self._reserve = DiskReserve(file.path)
        self._error: LedgerUnwritable | None = None
        self._refused_answer: NotAllowed | None = None
        self._writer: GroupWriter[Write] = GroupWriter(self._commit, linger=_LINGER, name="ledger")

    @classmethod
    def open(cls, path: Path, clock: Callable[[], float] = time.time) -> SqliteLedger:
        """Open the ledger at `path`, or create a private one with its key and disk reserve.

        Raises:
            UnusableInput: it cannot be written, is not a ledger, is damaged or of another version, or its key is
                missing.
        """
        try:
            internal_folder(path.parent)
        except OSError as error:
            raise not_writable(path, error.strerror or str(error)) from None
        create_private(path)
        try:
            with ExitStack() as opened:
                file = opened.enter_context(closing(SqliteFile(path, "FULL")))
                fingerprints = initialize_or_check(file)
                DiskReserve(path).take()
                opened.pop_all()
        except OSError as error:
            raise not_writable(Path(error.filename or path), error.strerror or str(error)) from None
        except DatabaseError as error:
            raise unusable(path, error) from None
        return cls(file, fingerprints, clock)

    @property
    def address(self) -> str:
        return str(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._writer.close()
        finally:
            self._file.close()

    @contextmanager
    def lock_target(self, scope: Scope) -> Iterator[TargetLock]:
        named = "\0".join((scope.base, scope.target.operation, scope.target.id))
        digest = hashlib.sha256(named.encode()).hexdigest()[:12]
        lock = self.path.parent / INTERNAL / f"{self.path.name}.{digest}.lock"
        with hold_lock(lock, f"another run is writing to {scope}") as files:
            try:
                yield TargetLock(files)
            finally:
                self._writer.flush()  # else another run would read what is not written yet as unconfirmed

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        try:
            with self._file.transaction() as connection:
                return _look_up(connection, wanted)
        except DatabaseError as error:
            raise self._note_error(str(error)) from None

    def write_intent(self, intent: Intent, on_done: OnDone) -> None:
        self._writer.put_with_callback(intent, on_done)

    def flush_soon(self) -> None:
        self._writer.flush_soon()

    def record(self, answered: Answered) -> None:
        self._writer.put(answered)

    def flush(self) -> None:
        self._writer.flush()
        if self._refused_answer is not None:
            raise self._refused_answer
        if self._error is not None:
            raise self._error

    def is_in_place(self) -> bool:
        return self._file.is_in_place()

    # --- in the writer's thread ---

    def _commit(self, group: list[QueuedWrite[Write]]) -> None:
        if self._error is None and (reason := self._unsafe_reason()):
            self._note_error(reason)
        if self._error is not None:
            group = _refuse_intents(group, self._error)
        try:
            self._write(group)
        except ConstraintError:
            raise
        except DatabaseError as failure:
            error = self._note_error(str(failure))
            self._reserve.release()
            self._write_answers(_refuse_intents(group, error), error)

    def _unsafe_reason(self) -> str | None:
        """What is wrong around the file that SQLite would notice too late or not at all."""
        if not self.is_in_place():
            return "the file was moved or deleted"
        return "its disk is almost full" if self._reserve.is_needed() else None

    def _write_answers(self, group: list[QueuedWrite[Write]], error: LedgerUnwritable) -> None:
        try:
            self._write(group)
        except DatabaseError:
            for queued in group:
                queued.finish(error)

    def _write(self, group: list[QueuedWrite[Write]]) -> None:
        if not group:
            return
        with self._file.transaction(writes=True) as connection:
            known = _look_up(connection, {queued.write.attempt.identity for queued in group})
            plan = plan_group(known, (queued.write for queued in group))
            _write_plan(connection, plan, self._clock())
        for index, queued in enumerate(group):
            refusal = plan.refused.get(index)
            if refusal is not None and isinstance(queued.write, Answered):
                self._refused_answer = refusal
            queued.finish(refusal)

    def _note_error(self, reason: str) -> LedgerUnwritable:
        if self._error is None:
            self._error = LedgerUnwritable(self.name, reason)
        return self._error


def _refuse_intents(group: list[QueuedWrite[Write]], error: LedgerUnwritable) -> list[QueuedWrite[Write]]:
    """Report the intents of a group as not written; return its answers."""
    for queued in group:
        if isinstance(queued.write, Intent):
            queued.finish(error)
    return [queued for queued in group if isinstance(queued.write, Answered)]


def _look_up(connection: Connection, wanted: Collection[bytes]) -> dict[bytes, Known]:
    query = f"""SELECT identity, state, status, body_digest, run, "row" FROM identities
                WHERE identity IN ({", ".join("?" * len(wanted))})"""
    rows = connection.execute(query, tuple(wanted))
    return {identity: Known(State(state), *rest) for identity, state, *rest in rows}


def _write_plan(connection: Connection, plan: GroupPlan, now: float) -> None:
    """`now`: seconds since 1970."""
    ended = [(one.state.value, one.status, one) for one in plan.answers.values()]
    connection.executemany(_ANSWER, [(*values, now, one.attempt.identity) for *values, one in ended])
    connection.executemany(_END_ATTEMPT, [(*values, one.is_sent, now, *one.attempt[1:]) for *values, one in ended])
    begun = [(one.known.state.value, one) for one in plan.begun]
    connection.executemany(_INTEND, [(one.attempt.identity, state, *one.known[1:], now) for state, one in begun])
    connection.executemany(_BEGIN_ATTEMPT, [(*one.attempt, now, state, one.after_unconfirmed) for state, one in begun])


class DiskReserve:
    """A file that reserves space on the ledger's disk, so that answers can still be recorded when the disk is full.

    Then it is deleted, and nothing new is sent.
    """

    def __init__(self, ledger_path: Path) -> None:
        self._disk = ledger_path.parent
        self._path = ledger_path.parent / INTERNAL / f"{ledger_path.name}.reserve"

    def take(self) -> None:
        """Create the file if it does not exist.

        Raises:
            OSError: it cannot be written.
        """
        descriptor = open_private(self._path, os.O_WRONLY | os.O_CREAT)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if os.fstat(descriptor).st_size == _RESERVE:
                    return
                file.truncate(0)
                # Random bytes: some file systems store neither holes nor zeros.
                file.write(os.urandom(_RESERVE))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self._path.unlink()
            raise

    def release(self) -> None:
        """Free the space."""
        self._path.unlink(missing_ok=True)

    def is_needed(self) -> bool:
        """Whether so little space is left that the next commit may need the reserve."""
        return shutil.disk_usage(self._disk).free < _RESERVE
