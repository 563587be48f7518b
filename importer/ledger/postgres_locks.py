"""The locks of targets in PostgreSQL: held by a session of the server, and proven in each transaction by an epoch.

A session that ends frees its locks, also when its machine dies. Its process may not know that yet, and commit on
another connection. So each run that locks a target increases its epoch, and each transaction that writes holds the
epoch of its targets until it has committed (FOR SHARE): a commit comes before the new epoch, and the new holder finds
it, or it is refused.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import psycopg

from importer.ledger.postgres_server import (
    ConnectionLost,
    PostgresServer,
    Session,
    Statements,
    Unreachable,
    errors_translated,
    is_alive,
)
from importer.ledger.states import Scope
from importer.problems import Busy, DatabaseError, UnusableInput

# process, host, started_at: of the last holder, for messages only.
TARGETS: Final = """CREATE TABLE targets (
         name {text} NOT NULL PRIMARY KEY,
         epoch BIGINT NOT NULL,
         process INTEGER NOT NULL,
         host {text} NOT NULL,
         started_at {text} NOT NULL
       )"""
_LOCK: Final = "SELECT pg_try_advisory_lock(?)"
_INCREASE_EPOCH: Final = """INSERT INTO targets (name, epoch, process, host, started_at) VALUES (?, 1, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET epoch = targets.epoch + 1, process = excluded.process, host = excluded.host,
    started_at = excluded.started_at RETURNING epoch"""
_HOLDER: Final = "SELECT process, host, started_at FROM targets WHERE name = ?"


class LockLost(DatabaseError):
    """Another run holds a target that this one held."""

    def __init__(self) -> None:
        super().__init__("another run took over the target while the connection was lost")


@dataclass(frozen=True, slots=True)
class _Held:
    name: str
    number: int  # of the advisory lock
    epoch: int


class TargetLocks:
    """The locks that one ledger holds, in one session."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._session: Session | None = None
        self._held: dict[str, _Held] = {}
        self._mutex = threading.RLock()

    @contextmanager
    def hold(self, scope: Scope, unusable: Callable[[DatabaseError], UnusableInput]) -> Iterator[None]:
        """See `Ledger.lock_target`; `unusable` makes the problem of an error."""
        try:
            held = self._take(scope)
        except DatabaseError as error:
            raise unusable(error) from None
        try:
            yield
        finally:
            self._free(held)

    def _take(self, scope: Scope) -> _Held:
        name = "\n".join((scope.base, scope.target.operation.value, scope.target.id))
        with self._mutex:
            if self._held:
                self.keep()
            session = self._session or self._server.connect()
            with ExitStack() as failed, errors_translated(session):
                if self._session is None:
                    failed.callback(session.close)
                statements = Statements(session)
                (schema,) = statements.execute("SELECT current_schema()").fetchone()
                number = _lock_number(schema, name)
                if not statements.execute(_LOCK, (number,)).fetchone()[0]:
                    found = statements.execute(_HOLDER, (name,)).fetchone()
                    raise Busy(
                        f"another run is writing to {scope}: {_holder(found)}; wait until it has ended, then run the "
                        "same command again"
                    )
                started = datetime.now(UTC).isoformat(timespec="seconds")
                values = (name, os.getpid(), socket.gethostname(), started)
                (epoch,) = statements.execute(_INCREASE_EPOCH, values).fetchone()
                failed.pop_all()
            self._session = session
            held = self._held[name] = _Held(name, number, epoch)
        return held

    def _free(self, held: _Held) -> None:
        with self._mutex:
            del self._held[held.name]
            if self._session is None:
                return
            with suppress(psycopg.Error):  # a lost session holds nothing
                self._session.execute(b"SELECT pg_advisory_unlock(%s)", (held.number,))
            if not self._held:
                self.close()

    def keep(self) -> None:
        """Take the locks again if their session was lost, and no one else has had them.

        Raises:
            LockLost: another run has, or has had, one of them.
            Unreachable: the server does not come back, or does not notice that the old session is dead.
        """
        with self._mutex:
            if not self._held or (self._session is not None and is_alive(self._session)):
                return
            self._session = None
            until = time.monotonic() + self._server.patience
            while not self._regain():
                if not self._server.wait(until):
                    raise Unreachable("the lock of the target was lost with its connection")

    def _regain(self) -> bool:
        """Whether all locks are held again."""
        try:
            session = self._server.connect()
        except Unreachable:
            return False
        is_held = False
        try:
            with errors_translated(session):
                statements = Statements(session)
                locked = all(statements.execute(_LOCK, (held.number,)).fetchone()[0] for held in self._held.values())
                self._compare(statements)
                is_held = locked
        except ConnectionLost:
            is_held = False
        finally:
            if is_held:
                self._session = session
            else:
                session.close()
        return is_held

    def verify(self, statements: Statements) -> None:
        """Let no one else take the held targets until this transaction has ended.

        Raises:
            LockLost: another run has taken one of them.
        """
        self._compare(statements, "FOR SHARE")

    def _compare(self, statements: Statements, locking: str = "") -> None:
        wanted = {held.name: held.epoch for held in tuple(self._held.values())}
        if not wanted:
            return
        query = f"SELECT name, epoch FROM targets WHERE name IN ({', '.join('?' * len(wanted))}) {locking}"
        if dict(statements.execute(query, tuple(wanted)).fetchall()) != wanted:
            raise LockLost

    def close(self) -> None:
        """Free all locks."""
        with self._mutex:
            if self._session is not None:
                self._session.close()
            self._session = None


def _lock_number(schema: str, name: str) -> int:
    """Of 64 bits: the same for all who use the same ledger and target."""
    return int.from_bytes(hashlib.sha256(f"{schema}\n{name}".encode()).digest()[:8], "big", signed=True)


def _holder(found: tuple[int, str, str] | None) -> str:
    if found is None:
        return "a process that has just started"  # it has the lock, but has not written its name yet
    process, host, started = found
    return f"process {process} on {host}, started {started}"
