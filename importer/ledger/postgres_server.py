"""Connections to a PostgreSQL server: durable, limited in time, and made again when the server comes back."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from importer.ledger.database import Cursor
from importer.problems import ConstraintError, DatabaseError

Result = TypeVar("Result")
# For one statement; then the connection counts as lost. Only what reads a whole ledger takes more than a second.
_WRITE_SECONDS: Final = 120.0
_READ_SECONDS: Final = 900.0
_RETRY_SECONDS: Final = 0.2
_WORTH_REPORTING: Final = 1.0  # seconds of waiting
_STREAMED: Final = 2000  # rows at a time
_PARAMETERS: Final[dict[str, Any]] = {
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
    "idle_in_transaction_session_timeout": "20s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
_SET_UP: Final = f"""SELECT current_setting('fsync'),
    {", ".join(f"set_config('{name}', '{value}', false)" for name, value in _SETTINGS.items())}"""
_WRITE: Final = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
# One snapshot. A caller may be slow with what it reads.
_READ: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0"
_CONFLICTS: Final = {"40001", "40P01", "23505", "55P03"}  # serialization, deadlock, unique, lock not available
_GOING_AWAY: Final = {"57P01", "57P02", "57P03", "25P03", "25006"}  # shutdown, crash, starting, too idle, a standby now


class Unreachable(DatabaseError):
    """The server cannot be reached, and has been waited for."""


class ConnectionLost(DatabaseError):
    """The connection broke within a transaction: whether that was committed is unknown."""


class Conflict(DatabaseError):
    """Another process wrote first. The transaction was undone and may be repeated."""


class NotDurable(DatabaseError):
    """The server confirms a commit before it is on its disk."""


class Session(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is closed when the server does not answer within `limit` seconds."""

    limit = _WRITE_SECONDS

    def wait(self, gen: Generator[Any, Any, Result], interval: float = 0.1, timeout: float | None = None) -> Result:
        try:
            return super().wait(gen, interval, timeout or self.limit)
        except psycopg.OperationalError as error:
            if error.sqlstate is None:
                self.pgconn.finish()  # else its late answer would be taken for that of another statement
            raise


class Statements:
    """A session in a transaction, as a `Connection`."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Cursor:
        return self.session.execute(_translated(query), values, binary=True)

    def executemany(self, query: str, rows: Sequence[Sequence[Any]], /) -> None:
        if rows:
            with self.session.cursor() as cursor:
                cursor.executemany(_translated(query), rows)


class PostgresServer:
    """Sessions of one server, for many threads.

    patience: seconds to wait for a server that was there before and does not respond: it may be restarting.
    """

    def __init__(self, location: str, patience: float) -> None:
        """Connects to nothing yet. Raises psycopg.Error if the address is not valid."""
        given: dict[str, Any] = dict(conninfo_to_dict(location))
        hosts = str(given.get("host") or given.get("hostaddr") or os.environ.get("PGHOST") or "").split(",")
        is_here = all(host in ("", "localhost", "127.0.0.1", "::1") or host.startswith(("/", "@")) for host in hosts)
        tls = {} if is_here or "PGSSLMODE" in os.environ else {"sslmode": "require"}
        self._conninfo = make_conninfo(**{**_PARAMETERS, **tls, **given})
        self.patience = patience
        self._is_waited_for = False  # it was there, and is expected back
        self.on_waiting: Callable[[float | None], None] = lambda _: None  # see `Ledger.watch`
        self._has_reported = False
        self._reporting = threading.Lock()
        self._free: list[Session] = []  # idle sessions; append and pop of a list need no lock
        self._is_closed = threading.Event()

    def connect(self) -> Session:
        """A new session that commits each statement by itself.

        Raises:
            Unreachable, NotDurable
        """
        try:
            session = Session.connect(self._conninfo, autocommit=True)
        except (psycopg.Error, OSError, ValueError) as error:
            raise Unreachable(_reason(error)) from None
        try:
            found = session.execute(_SET_UP.encode()).fetchone()
        except psycopg.Error as error:
            session.close()
            raise Unreachable(_reason(error)) from None
        if found is None or found[:2] != ("on", "on"):
            session.close()
            raise NotDurable("fsync or synchronous_commit is off")
        return session

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[Statements]:
        """A session in a transaction, which is committed at the end, or rolled back by an exception.

        Raises:
            DatabaseError
        """
        session = self._begin(_WRITE if writes else _READ)
        session.limit = _WRITE_SECONDS if writes else _READ_SECONDS
        try:
            with errors_translated(session):
                yield Statements(session)
                if session.execute(b"COMMIT").statusmessage != "COMMIT":
                    raise DatabaseError("the server rolled the transaction back")
        finally:
            self._release(session)

    def stream(self, statements: Statements, query: str, values: Sequence[Any]) -> Iterator[Any]:
        """The rows of a query, in portions."""
        with statements.session.cursor("streamed", binary=True) as cursor:
            cursor.itersize = _STREAMED
            yield from cursor.execute(_translated(query), values)

    def wait(self, until: float) -> bool:
        """Wait a moment for the server. False if that time is over; then no one waits until the server is back."""
        left = until - time.monotonic()
        if left <= 0:
            self._is_waited_for = False
        elif self._is_waited_for and self.patience - left > _WORTH_REPORTING:
            self._report(left)
        return self._is_waited_for and not self._is_closed.wait(_RETRY_SECONDS)

    def close(self) -> None:
        self._is_closed.set()
        self._close_idle()

    def _begin(self, command: bytes) -> Session:
        until = time.monotonic() + self.patience
        while True:
            try:
                session = self._idle() or self.connect()
                with errors_translated(session):
                    session.execute(command)
            except (Unreachable, ConnectionLost) as error:
                self._close_idle()
                if not self.wait(until):
                    raise Unreachable(str(error)) from None
            else:
                self._is_waited_for = True
                self._report(None)
                return session

    def _report(self, seconds: float | None) -> None:
        with self._reporting:
            if self._has_reported is (seconds is None):
                self._has_reported = seconds is not None
                self.on_waiting(seconds)

    def _idle(self) -> Session | None:
        while self._free:
            session = self._free.pop()
            if is_alive(session):
                return session
            session.close()
        return None

    def _close_idle(self) -> None:
        while self._free:
            self._free.pop().close()

    def _release(self, session: Session) -> None:
        with suppress(psycopg.Error):
            if session.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                session.execute(b"ROLLBACK")
            if not self._is_closed.is_set():
                self._free.append(session)
                return
        session.close()


def is_quiet(session: Session) -> bool:
    """Whether a session is open, and its server says nothing: neither good-bye, nor a message."""
    try:
        return not (session.closed or select.select([session.pgconn.socket], [], [], 0)[0])
    except (psycopg.Error, OSError, ValueError):  # another thread has just closed it
        return False


def is_alive(session: Session) -> bool:
    """Whether a session that waits for nothing is still there, as far as this machine knows."""
    if is_quiet(session):
        return True
    if session.closed:
        return False
    try:
        session.execute(b"SELECT 1")
    except psycopg.Error:
        session.close()
        return False
    return True


@contextmanager
def errors_translated(session: Session) -> Iterator[None]:
    """Errors of the driver as DatabaseError."""
    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        if session.closed or state in _GOING_AWAY or state.startswith("08"):
            session.close()
            raise ConnectionLost(_reason(error)) from None
        if state in _CONFLICTS:
            raise Conflict(_reason(error)) from None
        raise (ConstraintError if state.startswith("23") else DatabaseError)(_reason(error)) from None


@lru_cache(maxsize=2048)
def _translated(query: str) -> bytes:
    return query.replace("?", "%s").encode()


def _reason(error: Exception) -> str:
    """The first line of a message: what the server or the driver says. It has no password."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
