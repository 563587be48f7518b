"""A database with one connection: transactions, the locks of targets, and its errors as problems.

The lock of a target has an owner, drawn anew each time that it is taken, and each transaction that writes ensures that
the owners of its locks are still the same: a run that lost a lock without knowing it (a suspended machine) changes
nothing here.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import ClassVar, Final, TypeVar

from sqlalchemy import Connection, Engine, bindparam, exc, insert, select, update

from importer.ledger.states import Scope
from importer.ledger.tables import targets
from importer.problems import Busy, DatabaseError, UnusableInput
from importer.settings import LedgerAddress

Result = TypeVar("Result")
Work = Callable[[Connection], Result]
_IS_HELD: Final = targets.c.name.in_(bindparam("held", expanding=True))
_OWNERS: Final = select(targets.c.name, targets.c.owner).where(_IS_HELD).with_for_update(read=True)


class LockLost(DatabaseError):
    """Another run holds a target that this one held."""

    def __init__(self) -> None:
        super().__init__("another run took over the target while the connection was lost")


class Database:
    """One database in SQLite or PostgreSQL; many threads may use it, one at a time does.

    address: may contain a password; name: in messages, without one; remedy: what to do when it cannot be written.
    """

    remedy: ClassVar[str]

    def __init__(self, address: LedgerAddress, name: str, engine: Engine) -> None:
        self.address = address
        self.name = name
        self._engine = engine
        self._connection: Connection | None = None
        self._owners: dict[str, str | None] = {}  # by the name of a target that is locked; None: it never had one
        self._one_thread = threading.RLock()

    def close(self) -> None:
        with self._one_thread:
            self._disconnect()

    # --- transactions; errors are DatabaseError ---

    def read_with(self, work: Work[Result]) -> Result:
        """Do work that only reads, in a transaction."""
        return self.transact(work, writes=False)

    def write_with(self, work: Work[Result]) -> Result:
        """Do work that writes, in a transaction; it is durable when this returns.

        It may be done again from its start. Work that must not be done twice looks up whether it was committed.

        Raises LockLost: nothing was written, as another run holds the target.
        """
        return self.transact(work, writes=True)

    def transact(self, work: Work[Result], *, writes: bool) -> Result:
        """Do work in a transaction, see `read_with` and `write_with`."""
        with self._one_thread, self._errors_translated():
            connection = self.connected().execution_options(writes=writes)
            with connection.begin():
                if writes:
                    self._verify_owners(connection)
                return work(connection)

    def _ask(self, work: Work[Result], *, writes: bool = False) -> Result:
        """Read or write; an error is UnusableInput."""
        try:
            return self.transact(work, writes=writes)
        except DatabaseError as error:
            raise self._unusable(error) from None

    def _change(self, work: Work[Result]) -> Result:
        return self._ask(work, writes=True)

    def connected(self) -> Connection:
        """The connection, opened if it is not."""
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Errors of the driver as DatabaseError, without the values of the statement."""
        try:
            yield
        except exc.DBAPIError as error:
            raise self._as_database_error(error) from None

    # --- the locks of targets ---

    @contextmanager
    def lock_target(self, scope: Scope, part: tuple[int, int] | None = None) -> Iterator[None]:
        """Hold the lock of one target. It is released when the process ends, even if it is killed.

        part: number and count of a part, which shares the target with the other parts of as many.

        Required to begin a run or resolve a row. What was recorded under the lock is durable before it is
        released. If the store can lose the lock (a broken session), no intent is written from then on.

        Raises:
            Busy: another run holds it; the message names its process, host and start.
            UnusableInput: the lock cannot be written; a part needs a ledger on a server.
        """
        name = "\n".join((scope.base, scope.target.operation.value, scope.target.id))
        with self._lock_part(name, scope, *part) if part else self._locked(name, f"another run is writing to {scope}"):
            yield

    @contextmanager
    def _locked(self, name: str, busy: str) -> Iterator[None]:
        """Hold the lock of this name, with a new owner. busy: begins the message if another process holds it."""
        self._take_lock(name, busy)
        try:
            self._owners[name] = self._change(lambda connection: self._register(connection, name))
            yield
        finally:
            self._owners.pop(name, None)
            self._free_lock(name)

    def _register(self, connection: Connection, name: str, ending: str = "") -> str:
        owner, started_at = secrets.token_hex(16) + ending, datetime.now(UTC).isoformat(timespec="seconds")
        values = {"owner": owner, "process": os.getpid(), "host": socket.gethostname(), "started_at": started_at}
        if not connection.execute(update(targets).where(targets.c.name == name).values(values)).rowcount:
            connection.execute(insert(targets).values(name=name, **values))
        return owner

    def _busy(self, name: str, busy: str) -> Busy:
        query = select(targets).where(targets.c.name == name)
        found = self._ask(lambda connection: connection.execute(query).one_or_none())
        holder = "a process that has just started"  # it has the lock, but has not written its name yet
        if found is not None:
            holder = f"process {found.process} on {found.host}, started {found.started_at}"
        return Busy(f"{busy}: {holder}; wait until it has ended, then run the same command again")

    def _verify_owners(self, connection: Connection) -> None:
        """Ensure that the locks are held, and that no one else takes them before this transaction has ended.

        Raises LockLost: another run has taken one of them.
        """
        if self._owners:
            found = dict(connection.execute(_OWNERS, {"held": [*self._owners]}).all())
            if any(found.get(name) != owner for name, owner in self._owners.items()):
                raise LockLost

    # --- what each database does, or may do, in its own way ---

    def _take_lock(self, name: str, busy: str) -> None:
        """Take the lock of this name. It is free when the process ends, however it ends. Raises Busy."""
        raise NotImplementedError

    def _free_lock(self, name: str) -> None:
        raise NotImplementedError

    def _lock_part(self, name: str, scope: Scope, number: int, count: int) -> AbstractContextManager[None]:
        raise NotImplementedError

    def _as_database_error(self, error: exc.DBAPIError) -> DatabaseError:
        raise NotImplementedError

    def _unusable(self, error: DatabaseError | OSError) -> UnusableInput:
        """An error outside the life of a row, as a problem."""
        raise NotImplementedError

    def _reason_not_to_send(self) -> str | None:
        """What is wrong around the database that a commit would notice too late or not at all."""
        return None

    def _keep_others_from_creating(self, connection: Connection) -> None:
        """No other process creates tables before this transaction, which writes, has ended."""

    # --- what only one kind has ---

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        """Call with the seconds for which its server is waited for at most, and with None when it is back; only if it
        takes more than a moment.
        """

    def is_in_place(self) -> bool:
        """Whether it still exists at its address."""
        return True

    def scrub(self) -> bool:
        """Overwrite the bytes of what was removed, in a file. False if that must wait as another process is reading."""
        return True
