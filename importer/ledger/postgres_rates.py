"""The rate of each service in PostgreSQL: a row that all runs share, on the clock of the server.

The generic cell rate algorithm: the row has the time of the next turn, and each run that takes turns moves it on. Its
commits do not wait for the disk: if the server loses the last of them, a few requests are sent too early, no more.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from typing import Final

import psycopg

from importer.database_errors import DatabaseError
from importer.ledger.database import Connection
from importer.ledger.postgres_server import PostgresServer, Session, Statements, errors_translated
from importer.ledger.states import RunRecord
from importer.ledger.store import LedgerUnwritable, RateNews, RateReport, RateUser, ServiceRate, SharedLimit

# Times are seconds since 1970 on the server's clock. rate: learned by its runs, as it was at set_at.
RATES: Final = """CREATE TABLE rates (
         base {text} NOT NULL PRIMARY KEY,
         next_turn FLOAT NOT NULL DEFAULT 0,
         held_until FLOAT NOT NULL DEFAULT 0,
         accepted BIGINT NOT NULL DEFAULT 0,
         version INTEGER NOT NULL DEFAULT 0,
         rate FLOAT NOT NULL DEFAULT 'Infinity',
         set_at FLOAT NOT NULL DEFAULT 0,
         growth FLOAT NOT NULL DEFAULT 0,
         top FLOAT NOT NULL DEFAULT 'Infinity'
       )"""
# The processes that send now. spacing: seconds from one of its turns to the next, 0 without a limit. per_second: its
# requests lately.
RATE_USERS: Final = """CREATE TABLE rate_users (
         run {text} NOT NULL,
         host {text} NOT NULL,
         process INTEGER NOT NULL,
         base {text} NOT NULL,
         spacing FLOAT NOT NULL,
         accepted BIGINT NOT NULL,
         refused BIGINT NOT NULL,
         per_second FLOAT NOT NULL,
         seen_at FLOAT NOT NULL,
         PRIMARY KEY (run, host, process)
       )"""
_NOW: Final = "EXTRACT(EPOCH FROM clock_timestamp())::float8"
_ADD: Final = "INSERT INTO rates (base) VALUES (?) ON CONFLICT DO NOTHING"
_FORGET: Final = f"DELETE FROM rate_users WHERE base = ? AND seen_at < {_NOW} - 86400"
_HELD: Final = f"GREATEST(held_until, {_NOW} + ?)"
_TAKE: Final = f"next_turn = CASE WHEN ? > 0 THEN GREATEST(next_turn, {_HELD}) + ? ELSE next_turn END"
_LEARN: Final = f", version = version + 1, rate = ?, set_at = {_NOW} - ?, growth = ?, top = ?"
_LIMIT: Final = f"rate, {_NOW} - set_at, growth, top"
_FOUND: Final = f"next_turn - {_NOW}, GREATEST(0, held_until - {_NOW}), accepted, version, {_LIMIT}"
_EXCHANGE: Final = """UPDATE rates SET accepted = accepted + ?, held_until = CASE WHEN ? > 0 THEN {held} ELSE held_until
    END, {take}{learn} WHERE base = ? RETURNING {found}"""
_SEEN: Final = f"""INSERT INTO rate_users VALUES (?, ?, ?, ?, ?, ?, ?, 0, {_NOW})
    ON CONFLICT (run, host, process) DO UPDATE SET spacing = excluded.spacing,
    accepted = rate_users.accepted + excluded.accepted, refused = rate_users.refused + excluded.refused,
    seen_at = excluded.seen_at, per_second =
    (excluded.accepted + excluded.refused) / GREATEST(excluded.seen_at - rate_users.seen_at, 0.001)"""
_USERS: Final = f"""SELECT base, run, host, process, spacing, accepted, refused, per_second, {_NOW} - seen_at
    FROM rate_users ORDER BY base, run"""
_SEEN_EVERY: Final = 1.0  # seconds
_STATEMENT: Final = {
    is_learning: _EXCHANGE.format(held=_HELD, take=_TAKE, learn=_LEARN if is_learning else "", found=_FOUND)
    for is_learning in (False, True)
}


class PostgresRateBoard:
    """A `RateBoard` with a session of its own. remedy: what to do if the server is gone."""

    def __init__(self, server: PostgresServer, run: RunRecord, name: str, remedy: str) -> None:
        self._server, self._name, self._remedy = server, name, remedy
        self._who, self._base = (run.run, socket.gethostname(), os.getpid()), run.scope.base
        self._session: Session | None = None
        self._seen_at = 0.0
        self._accepted = self._refused = 0  # not written to rate_users yet

    def exchange(self, report: RateReport) -> RateNews:
        try:
            session = self._connected()
            with errors_translated(session):
                return self._exchange(Statements(session), report)
        except DatabaseError as error:
            self.close()
            raise LedgerUnwritable(self._name, str(error), self._remedy) from None

    def _connected(self) -> Session:
        if self._session is None or self._session.closed:
            self._session = session = self._server.connect()
            with errors_translated(session):
                session.execute(b"SET synchronous_commit = off")
                Statements(session).execute(_ADD, (self._base,))
                Statements(session).execute(_FORGET, (self._base,))
        return self._session

    def _exchange(self, statements: Statements, report: RateReport) -> RateNews:
        seconds = report.turns * report.interval
        learned = () if report.limit is None else report.limit
        values = (report.accepted, report.hold, report.hold, report.turns, report.hold, seconds, *learned, self._base)
        next_turn, hold, accepted, version, *limit = statements.execute(_STATEMENT[bool(learned)], values).fetchone()
        self._accepted += report.accepted
        self._refused += report.refused
        if time.monotonic() >= self._seen_at + _SEEN_EVERY:
            statements.execute(_SEEN, (*self._who, self._base, report.interval, self._accepted, self._refused))
            self._accepted = self._refused = 0
            self._seen_at = time.monotonic()
        return RateNews(max(0.0, next_turn - seconds), hold, accepted, version, SharedLimit(*limit))

    def close(self) -> None:
        if self._session is None:
            return
        session, self._session = self._session, None
        with suppress(psycopg.Error):  # it is forgotten after a day
            Statements(session).execute("DELETE FROM rate_users WHERE run = ? AND host = ? AND process = ?", self._who)
        session.close()


def service_rates(connection: Connection) -> tuple[ServiceRate, ...]:
    """The rate of each service, and the runs that use it now."""
    users: dict[str, list[RateUser]] = {}
    for base, *values in connection.execute(_USERS):
        users.setdefault(base, []).append(RateUser(*values))
    query = f"SELECT base, GREATEST(0, held_until - {_NOW}), {_LIMIT} FROM rates ORDER BY base"
    return tuple(
        ServiceRate(base, hold, SharedLimit(*limit), tuple(users.get(base, ())))
        for base, hold, *limit in connection.execute(query)
    )
