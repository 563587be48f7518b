"""A ledger's database in PostgreSQL, for runs on several machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Final

import psycopg

from importer.ledger.address import ledger_name
from importer.ledger.database import Connection, Database, Result
from importer.ledger.postgres_locks import TARGETS, TargetLocks
from importer.ledger.postgres_server import (
    Conflict,
    ConnectionLost,
    NotDurable,
    PostgresServer,
    Statements,
    Unreachable,
    errors_translated,
)
from importer.ledger.states import Scope
from importer.problems import DatabaseError, UnusableInput, unusable_file
from importer.settings import LedgerAddress

_MOST_CONFLICTS: Final = 20  # of one group; more are a bug
_INITIALIZING: Final = 0x1E_D6E5  # the advisory lock of creating the tables
_SCRUB: Final = (b"SET lock_timeout = '5s'", b"VACUUM (FULL) runs", b"VACUUM people")


class PostgresDatabase(Database):
    """A `Database` on a server. Targets are locked by sessions of the server: see `TargetLocks`."""

    types: ClassVar = {"bytes": "BYTEA", "text": 'VARCHAR COLLATE "C"', "by_key": ""}
    more_tables: ClassVar[tuple[str, ...]] = (TARGETS,)
    locking: ClassVar = "FOR UPDATE"
    remedy: ClassVar = "check the server and the network"

    def __init__(self, address: LedgerAddress) -> None:
        """Raises UnusableInput if the address is not valid. Connects to nothing yet."""
        self.address = address
        self.name = ledger_name(address)
        try:
            self._server = PostgresServer(address.location, address.patience)
        except psycopg.Error:  # its message may have a part of the password
            message = "it is not a valid address of a PostgreSQL database"
            hint = "write it like postgresql://USER@HOST:5432/DATABASE, and the password in ~/.pgpass"
            raise unusable_file("ledger-address-invalid", message, hint, "IMPORTER_LEDGER") from None
        self._locks = TargetLocks(self._server)

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[Statements]:
        with self._server.transaction(writes=writes) as statements:
            if writes:
                self._locks.verify(statements)
            yield statements

    def run(self, work: Callable[[Connection], Result], *, writes: bool = False) -> Result:
        conflicts, until = 0, time.monotonic() + self.address.patience
        while True:
            try:
                if writes:
                    self._locks.keep()
                with self.transaction(writes=writes) as statements:
                    return work(statements)
            except ConnectionLost as error:
                if not self._server.wait(until):
                    raise Unreachable(str(error)) from None
            except Conflict:
                conflicts += 1
                if conflicts == _MOST_CONFLICTS:
                    raise

    def stream(self, connection: Connection, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        assert isinstance(connection, Statements)
        return self._server.stream(connection, query, values)

    def lock_target(self, scope: Scope) -> AbstractContextManager[None]:
        return self._locks.hold(scope, self.unusable)

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        self._server.on_waiting = on_waiting

    def tables(self, connection: Connection) -> Collection[str]:
        connection.execute("SELECT pg_advisory_xact_lock(?)", (_INITIALIZING,))  # only one creates them
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return {name for (name,) in found}

    def exists(self) -> bool:
        """Whether the tables of a ledger, or of another program, exist."""
        try:
            with self.transaction(writes=True) as connection:
                return bool(self.tables(connection))
        except DatabaseError as error:
            raise self.unusable(error) from None

    def scrub(self) -> bool:
        try:
            session = self._server.connect()
            try:
                with errors_translated(session):
                    for command in _SCRUB:
                        session.execute(command)
            finally:
                session.close()
        except Conflict:  # the lock was not free in time
            return False
        except DatabaseError as error:
            raise self.unusable(error) from None
        return True

    def description(self) -> str:
        with self.transaction(writes=True) as connection:
            query = "SELECT current_setting('server_version'), current_setting('full_page_writes')"
            version, pages = connection.execute(query).fetchone()
            connection.execute("SELECT pg_current_xact_id()")  # without it the commit would write nothing
            began = time.perf_counter()
        milliseconds = (time.perf_counter() - began) * 1000
        pages = "" if pages == "on" else ", full_page_writes is off (safe only on a file system with whole pages)"
        return f"PostgreSQL {version.split()[0]}, a commit takes {milliseconds:.1f} ms{pages}"

    def unusable(self, error: DatabaseError | OSError) -> UnusableInput:
        if isinstance(error, NotDurable):
            message = f"this server can lose what it has confirmed ({error}), so nothing is sent"
            hint = "set fsync = on in its configuration, or use another server"
            return unusable_file("ledger-not-durable", message, hint, self.name)
        if isinstance(error, (Unreachable, ConnectionLost)):
            message = f"the server cannot be used ({error}), so nothing is sent"
            hint = "check IMPORTER_LEDGER, the server, the network, and the user and password"
            return unusable_file("ledger-unreachable", message, hint, self.name)
        message = f"it cannot be written ({error}), so nothing is sent"
        hint = "ask the owner of the database for a schema in which this user may create, read and write tables"
        return unusable_file("not-writable", message, hint, self.name)

    def not_a_ledger(self, reason: str) -> UnusableInput:
        message = f"it is not a readable ledger ({reason}), so nothing is sent"
        hint = "create a database or a schema for the ledger alone, and name it in IMPORTER_LEDGER"
        return unusable_file("ledger-damaged", message, hint, self.name)

    def close(self) -> None:
        self._locks.close()
        self._server.close()
