"""A ledger's database: transactions, the locks of targets, and its errors as problems. What differs is in subclasses.

The lock of a target has an owner, drawn anew each time that it is taken, and each transaction that writes ensures that
the owners of its locks are still its own: a run that lost a lock without knowing it (a suspended machine) changes
nothing.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Final, TypeVar

from sqlalchemy import Connection, Engine, bindparam, exc, insert, select, update

from importer.ledger.states import Scope
from importer.ledger.tables import targets
from importer.problems import Busy, DatabaseError, Problem, UnusableInput, unusable_file
from importer.settings import LedgerAddress

Result = TypeVar("Result")
Work = Callable[[Connection], Result]
_IS_HELD: Final = targets.c.name.in_(bindparam("held", expanding=True))
_OWNERS: Final = select(targets.c.name, targets.c.owner).where(_IS_HELD).with_for_update(read=True)


class LockLost(DatabaseError):
    """Another run holds a target that this one held."""

    def __init__(self) -> None:
        super().__init__("another run took over the target while the connection was lost")


@dataclass(frozen=True, slots=True)
class TargetLock:
    """The lock of a target. is_alone: no other run of the target is running, until `share` is called."""

    is_alone: bool = True
    share: Callable[[], None] = lambda: None


def name_of(scope: Scope) -> str:
    """The name of the lock of a target."""
    return "\n".join((scope.base, scope.target.operation.value, scope.target.id))


class Database:
    """One database, safe to use from many threads. Its errors are raised as DatabaseError.

    name: its name in messages, without a password. remedy: what to do when it cannot be written.
    """

    remedy: ClassVar[str]

    def __init__(self, address: LedgerAddress, name: str, engine: Engine) -> None:
        self.address = address
        self.name = name
        self._engine = engine
        self._owners: dict[str, str] = {}  # of the locks that are held, by the name of their target
        self._writing = threading.RLock()  # in this process one thread writes at a time

    def read(self, work: Work[Result]) -> Result:
        """Do work that only reads, in a transaction."""
        with self._errors_translated(), self._engine.begin() as connection:
            return work(connection)

    def write(self, work: Work[Result]) -> Result:
        """Do work that writes, in a transaction; it is durable when this returns.

        It may be done again from its start. Work that must not be done twice looks up whether it was committed.

        Raises:
            LockLost: nothing was written, as another run holds the target.
        """
        with self._writing, self._errors_translated(), self._engine.connect() as connection:
            return self._written(connection, work)

    def _written(self, connection: Connection, work: Work[Result]) -> Result:
        with connection.execution_options(writes=True).begin():
            self._verify_owners(connection)
            return work(connection)

    @contextmanager
    def lock_target(self, scope: Scope) -> Iterator[TargetLock]:
        """See `Ledger.lock_target`."""
        with self._locked_as(name_of(scope), f"another run is writing to {scope}"):
            yield TargetLock()

    def lock_part(self, scope: Scope, _number: int, _count: int) -> AbstractContextManager[TargetLock]:
        """See `Ledger.lock_target`."""
        hint = "set IMPORTER_LEDGER and IMPORTER_LEDGER_KEY_FILE as docs/cluster.md says, or leave --part out"
        raise unusable_file("ledger-not-shared", f"parts of {scope} need a ledger in PostgreSQL", hint, self.name)

    @contextmanager
    def _locked_as(self, name: str, busy: str) -> Iterator[None]:
        """Hold the lock of this name, registered with a new owner. busy: begins the message if another one holds it."""
        try:
            if not self._take_lock(name):
                raise self._busy(name, busy)
        except DatabaseError as error:
            raise self.unusable(error) from None
        try:
            self._register(name)
            yield
        finally:
            self._owners.pop(name, None)
            self._free_lock(name)

    def _register(self, name: str, ending: str = "") -> None:
        """Draw the owner of a lock that is held now. ending: of its name."""
        owner = secrets.token_hex(16) + ending
        values: dict[str, str | int] = {
            "owner": owner,
            "process": os.getpid(),
            "host": socket.gethostname(),
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            self.write(lambda connection: _register(connection, name, values))
        except DatabaseError as error:
            raise self.unusable(error) from None
        self._owners[name] = owner

    def _busy(self, name: str, busy: str) -> Busy:
        holder = self.read(lambda connection: _holder(connection, name))
        return Busy(f"{busy}: {holder}; wait until it has ended, then run the same command again")

    def _verify_owners(self, connection: Connection) -> None:
        """Ensure that the locks are held, and that no one else takes them before this transaction has ended.

        Raises:
            LockLost: another run has taken one of them.
        """
        if self._owners and dict(connection.execute(_OWNERS, {"held": [*self._owners]}).all()) != self._owners:
            raise LockLost

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Errors of the driver as DatabaseError, without the values of the statement."""
        try:
            yield
        except exc.DBAPIError as error:
            raise self._as_database_error(error) from None

    def close(self) -> None:
        self._engine.dispose()

    # --- what each database does in its own way ---

    def _take_lock(self, name: str) -> bool:
        """Whether the lock of this name is held now. It is free when the process ends, however it ends."""
        raise NotImplementedError

    def _free_lock(self, name: str) -> None:
        raise NotImplementedError

    def _as_database_error(self, error: exc.DBAPIError) -> DatabaseError:
        raise NotImplementedError

    def unusable(self, error: DatabaseError | OSError) -> UnusableInput:
        """An error outside the life of a row, as a problem."""
        raise NotImplementedError

    def not_a_ledger(self, reason: str) -> UnusableInput:
        """The problem of a database that is not a ledger."""
        raise NotImplementedError

    def scrub(self) -> bool:
        """See `Ledger.scrub`."""
        raise NotImplementedError

    # --- what not every database has ---

    def keep_others_from_creating(self, connection: Connection) -> None:
        """No other process creates tables before this transaction, which writes, has ended."""

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        """See `Ledger.watch`."""

    def take_reserve(self) -> None:
        """Reserve space for answers. Raises OSError if there is none."""

    def release_reserve(self) -> None:
        """Free the space that is reserved for answers."""

    def reason_not_to_send(self) -> str | None:
        """What is wrong around the database that a commit would notice too late or not at all."""
        return None

    def is_in_place(self) -> bool:
        """Whether it still exists at its address."""
        return True

    def own_problems(self, _connection: Connection, _hint: str) -> Iterator[Problem]:
        """What the database's own checks find."""
        return iter(())

    def description(self) -> str:
        """What a person may want to know about its server; "" if there is none."""
        return ""


def _register(connection: Connection, name: str, owner: dict[str, str | int]) -> None:
    if not connection.execute(update(targets).where(targets.c.name == name).values(owner)).rowcount:
        connection.execute(insert(targets).values(name=name, **owner))


def _holder(connection: Connection, name: str) -> str:
    found = connection.execute(select(targets).where(targets.c.name == name)).one_or_none()
    if found is None:
        return "a process that has just started"  # it has the lock, but has not written its name yet
    return f"process {found.process} on {found.host}, started {found.started_at}"
