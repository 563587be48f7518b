"""A ledger in PostgreSQL, for runs on several machines.

The locks of targets are advisory locks of its one session: while that lives they are held. If it breaks, it is opened
again with its locks, as long as no one else has had them.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, ClassVar, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import Connection, NullPool, create_engine, exc, func, select

from importer.ledger.address import ledger_name, not_an_address
from importer.ledger.database import Result, Work
from importer.ledger.ledger import Ledger
from importer.ledger.states import Scope
from importer.ledger.tables import targets
from importer.problems import ConstraintError, DatabaseError, UnusableInput, unusable_file
from importer.settings import LedgerAddress

T = TypeVar("T")
_PARAMETERS: Final = {
    "connect_timeout": 10,
    # The death of the server's machine, or of the network, is noticed within half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "target_session_attrs": "read-write",
    "application_name": "importer",
}
# The server notices the death of this machine as fast: it ends what is open, and frees the locks.
_SETTINGS: Final = {
    "synchronous_commit": "on",
    "statement_timeout": "120s",
    "idle_in_transaction_session_timeout": "20s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30s",
}
_SET_UP: Final = f"""SELECT current_setting('fsync'),
    {", ".join(f"set_config('{name}', '{value}', false)" for name, value in _SETTINGS.items())}"""
_CONFLICTS: Final = {"40001", "40P01", "23505"}  # serialization, deadlock, unique
_GOING_AWAY: Final = {"57P01", "57P02", "57P03", "25P03", "25006"}  # shutdown, crash, starting, too idle, a standby now
_MOST_CONFLICTS: Final = 20  # of one transaction; more are a bug
_INITIALIZING: Final = 0x1E_D6E5  # the advisory lock of creating the tables
_NO_ANSWER_SECONDS: Final = 150.0  # to one statement, which the server itself ends before
_RETRY_SECONDS: Final = 0.2
_WORTH_REPORTING: Final = 1.0  # seconds of waiting


class Unreachable(DatabaseError):
    """The server cannot be reached, or the connection broke: whether its transaction was committed is unknown."""


class Conflict(DatabaseError):
    """Another process wrote first. The transaction was undone and may be repeated."""


class NotDurable(DatabaseError):
    """The server confirms a commit before it is on its disk."""


class Session(psycopg.Connection[Any]):
    """A connection that is closed when the server does not answer in time: a late answer would be taken for another."""

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, timeout: float | None = None) -> T:
        try:
            return super().wait(gen, interval, timeout or _NO_ANSWER_SECONDS)
        except psycopg.OperationalError as error:
            if error.sqlstate is None:
                self.pgconn.finish()
            raise


class PostgresLedger(Ledger):
    """A `Ledger` on a server. One that was there before and does not respond is waited for: it may be restarting."""

    remedy: ClassVar = "check the server and the network"

    def __init__(self, address: LedgerAddress) -> None:
        """Raises UnusableInput if the address is not valid. Connects to nothing yet."""
        try:
            conninfo = _conninfo(address.location)
        except psycopg.Error:  # its message may have a part of the password
            raise not_an_address() from None
        engine = create_engine(
            "postgresql+psycopg://", creator=lambda: _connect(conninfo), poolclass=NullPool, hide_parameters=True
        )
        super().__init__(address, ledger_name(address), engine)
        self._held: list[tuple[str, bool]] = []  # the names of locks, and whether they are shared
        self._was_there = False
        self._on_waiting: Callable[[float | None], None] = lambda _: None
        self._is_reported = False
        self._has_ended = threading.Event()

    def close(self) -> None:
        self._has_ended.set()
        super().close()

    # --- a server that is away, and the session that is opened again ---

    def transact(self, work: Work[Result], *, writes: bool) -> Result:
        """Do it until it succeeds, as long as the server is waited for."""
        conflicts, until = 0, math.inf
        with self._one_thread:
            while True:
                try:
                    result = super().transact(work, writes=writes)
                except Unreachable:
                    self._disconnect()
                    until = min(until, time.monotonic() + self.address.patience)
                    if not self._wait(until - time.monotonic()):
                        raise
                except Conflict:
                    conflicts += 1
                    if conflicts == _MOST_CONFLICTS:
                        raise
                else:
                    self._was_there = True
                    self._report(None)
                    return result

    def _wait(self, left: float) -> bool:
        """Wait a moment for the server. False if that time is over; then no one waits until the server is back."""
        if left <= 0:
            self._was_there = False
        elif self._was_there and self.address.patience - left > _WORTH_REPORTING:
            self._report(left)
        return self._was_there and not self._has_ended.wait(_RETRY_SECONDS)

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        self._on_waiting = on_waiting

    def _report(self, seconds: float | None) -> None:
        if self._is_reported is (seconds is None):  # else it is known
            self._is_reported = seconds is not None
            self._on_waiting(seconds)

    def connected(self) -> Connection:
        """The session with all locks.

        Raises:
            LockLost: another run has, or has had, one of them.
            Unreachable: the server has not noticed yet that the old session is dead.
        """
        if self._connection is not None and self._connection.invalidated:  # it would connect again, without the locks
            self._disconnect()
        if self._connection is None:
            session = super().connected()
            with ExitStack() as failed:
                failed.callback(self._disconnect)
                with session.begin():
                    are_free = all(_lock(session, *each) for each in self._held)
                    self._verify_owners(session)
                if not are_free:
                    raise Unreachable("the lock of the target was lost with its connection")
                failed.pop_all()
            return session
        return self._connection

    # --- locks ---

    @contextmanager
    def _lock_part(self, name: str, scope: Scope, number: int, count: int) -> Iterator[None]:
        """The lock of the target, shared with the other parts of as many, and one of its own.

        A part registers its own lock before it looks for parts of another count, so that of two at least one sees the
        other.
        """
        owner = select(targets.c.owner).where(targets.c.name == name).with_for_update()
        others = select(targets.c.name).where(
            targets.c.name.startswith(f"{name}\n", autoescape=True), ~targets.c.name.endswith(f"/{count}")
        )

        def adopted(session: Connection) -> str:
            found: str | None = session.scalar(owner)
            if found is not None and found.endswith(f"/{count}"):
                return found
            return self._register(session, name, f"/{count}")

        self._take_lock(name, f"another run is writing to {scope}", shared=True)
        try:
            with self._locked(f"{name}\n{number}/{count}", f"another run is writing part {number}/{count} of {scope}"):
                for other in self._ask(lambda session: session.scalars(others).all()):
                    parts = other.rpartition("/")[2]
                    self._take_lock(other, f"another run in {parts} parts is writing to {scope}", shared=True)
                    self._free_lock(other, shared=True)
                self._owners[name] = self._change(adopted)
                yield
        finally:
            self._owners.pop(name, None)
            self._free_lock(name, shared=True)

    def _take_lock(self, name: str, busy: str, *, shared: bool = False) -> None:
        with self._one_thread:
            is_new = (name, shared) not in self._held
            if not (is_new and self._ask(lambda session: _lock(session, name, shared))):
                raise self._busy(name, busy)
            self._held.append((name, shared))

    def _free_lock(self, name: str, *, shared: bool = False) -> None:
        with self._one_thread:
            self._held.remove((name, shared))
            if not self._held:
                self._disconnect()
            elif self._connection is not None:
                free = func.pg_advisory_unlock_shared if shared else func.pg_advisory_unlock
                with suppress(DatabaseError):  # with its session the lock is free, too
                    super().transact(lambda session: session.execute(select(free(_number(name)))), writes=False)

    def _keep_others_from_creating(self, connection: Connection) -> None:
        connection.execute(select(func.pg_advisory_xact_lock(_INITIALIZING)))

    # --- what it says ---

    def _as_database_error(self, error: exc.DBAPIError) -> DatabaseError:
        reason, state = _reason(error.orig or error), getattr(error.orig, "sqlstate", None) or ""
        is_cut = isinstance(error.orig, psycopg.OperationalError) and not state
        if is_cut or error.connection_invalidated or state in _GOING_AWAY or state.startswith("08"):
            return Unreachable(reason)
        if state in _CONFLICTS:
            return Conflict(reason)
        return (ConstraintError if state.startswith("23") else DatabaseError)(reason)

    def _unusable(self, error: DatabaseError | OSError) -> UnusableInput:
        if isinstance(error, NotDurable):
            message = f"this server can lose what it has confirmed ({error}), so nothing is sent"
            hint = "set fsync = on in its configuration, or use another server"
            return unusable_file("ledger-not-durable", message, hint, self.name)
        if isinstance(error, Unreachable):
            message = f"the server cannot be used ({error}), so nothing is sent"
            hint = "check IMPORTER_LEDGER, the server, the network, and the user and password"
            return unusable_file("ledger-unreachable", message, hint, self.name)
        if isinstance(error, DatabaseError) and error.is_damaged:
            message = f"it is not a readable ledger ({error}), so nothing is sent"
            hint = "create a database or a schema for the ledger alone, and name it in IMPORTER_LEDGER"
            return unusable_file("ledger-damaged", message, hint, self.name)
        message = f"it cannot be written ({error}), so nothing is sent"
        hint = "ask the owner of the database for a schema in which this user may create, read and write tables"
        return unusable_file("not-writable", message, hint, self.name)


def _conninfo(location: str) -> str:
    given: dict[str, Any] = dict(conninfo_to_dict(location))
    hosts = str(given.get("host") or given.get("hostaddr") or os.environ.get("PGHOST") or "").split(",")
    is_here = all(host in ("", "localhost", "127.0.0.1", "::1") or host.startswith(("/", "@")) for host in hosts)
    tls = {} if is_here or "PGSSLMODE" in os.environ else {"sslmode": "require"}
    return make_conninfo(**{**_PARAMETERS, **tls, **given})


def _connect(conninfo: str) -> Session:
    """A new session. Raises Unreachable, NotDurable."""
    with ExitStack() as failed:
        try:
            session = Session.connect(conninfo)
            failed.callback(session.close)
            found = session.execute(_SET_UP.encode()).fetchone()
            session.commit()
        except (psycopg.Error, OSError, ValueError) as error:
            raise Unreachable(_reason(error)) from None
        if found is None or found[:2] != ("on", "on"):
            raise NotDurable("fsync or synchronous_commit is off")
        failed.pop_all()
    return session


def _number(name: str) -> Any:
    """Of the advisory lock: the same for all who use the same ledger and target."""
    return func.hashtextextended(func.concat(func.current_schema(), "\n", name), 0)


def _lock(session: Connection, name: str, shared: bool) -> bool:
    take = func.pg_try_advisory_lock_shared if shared else func.pg_try_advisory_lock
    return bool(session.scalar(select(take(_number(name)))))


def _reason(error: BaseException) -> str:
    """The first line of a message: what the server or the driver says. It has no password."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
