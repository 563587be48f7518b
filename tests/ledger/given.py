"""A ledger with one run, for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection

from importer.ledger import Answered, Attempt, Intent, Ledger, RunRecord, Scope, State, open_ledger
from importer.models import Operation, Target
from importer.settings import LedgerAddress

JOB_POST = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))
POOL = Scope("https://recruiting.example.com", Target(Operation.ADD_TO_POOL, "17"))
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BODY = b'{"email":"ayse.yilmaz@example.com","first_name":"Ayse"}'


def record(run: str = "run-1", scope: Scope = JOB_POST, at: datetime = NOON) -> RunRecord:
    return RunRecord(run, scope, at)


def words_of(address: LedgerAddress) -> list[str]:
    """An address as arguments of a process, which `address_of` reads."""
    return [address.location, str(address.key_file or "")]


def address_of(words: list[str]) -> LedgerAddress:
    location, key_file = words
    return LedgerAddress(location, Path(key_file) if key_file else None)


def begun(address: LedgerAddress | str | Path, run: str = "run-1", scope: Scope = JOB_POST) -> Ledger:
    ledger = open_ledger(address)
    ledger.begin_run(record(run, scope))
    return ledger


def problems_of(ledger: Ledger) -> list[str]:
    """What SQLite finds, and rows that no run can settle any more; nothing if the ledger is intact."""

    def examine(connection: Connection) -> list[str]:
        found = []
        if connection.dialect.name == "sqlite":
            found += [one for one in connection.exec_driver_sql("PRAGMA integrity_check").scalars() if one != "ok"]
            found += map(str, connection.exec_driver_sql("PRAGMA foreign_key_check"))
        left = "SELECT count(*) FROM people JOIN runs USING (run) WHERE state = 'in_flight' AND ended_at IS NOT NULL"
        if count := connection.exec_driver_sql(left).scalar():
            found.append(f"{count} candidates are being sent by runs that have ended")
        return found

    return ledger.read_with(examine)


def make_intent(
    ledger: Ledger, row: int, number: int = 1, run: str = "run-1", body: bytes = BODY, scope: Scope = JOB_POST
) -> Intent:
    identity = ledger.fingerprints.identity(scope, f"person{row}@example.com")
    return Intent(Attempt(identity, run, row, number), ledger.fingerprints.body_digest(body))


def intend(ledger: Ledger, intent: Intent) -> None:
    """Return when the intent is on disk; raises the error otherwise."""
    ledger.write([intent])


def lead_to(ledger: Ledger, state: State | None, row: int = 2) -> Intent:
    """Bring the identity of a row into a state by allowed transitions; returns its last intent."""
    intent = make_intent(ledger, row)
    if state is None:
        return intent
    intend(ledger, intent)
    if state is not State.IN_FLIGHT:
        ledger.write([Answered(intent.attempt, state, 500)])
    return intent
