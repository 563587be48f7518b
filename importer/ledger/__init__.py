"""A durable record of what was intended, sent and answered: the only room that knows the ledger's database."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from importer.ledger.sqlite_ledger import SqliteLedger
from importer.ledger.states import (
    DONE,
    TRANSITIONS,
    Answered,
    Attempt,
    Fingerprints,
    Intent,
    Known,
    NotAllowed,
    RequestRecord,
    RowState,
    RunRecord,
    Scope,
    State,
    Transition,
    normalized_email,
)
from importer.ledger.store import FilePresences, LedgerStore, LedgerUnwritable, Presence, Presences, TargetLock
from importer.problems import unusable_file

__all__ = [
    "DONE",
    "TRANSITIONS",
    "Address",
    "Answered",
    "Attempt",
    "Fingerprints",
    "Intent",
    "Known",
    "LedgerStore",
    "LedgerUnwritable",
    "NotAllowed",
    "Presence",
    "Presences",
    "RequestRecord",
    "RowState",
    "RunRecord",
    "Scope",
    "State",
    "TargetLock",
    "Transition",
    "ledger_file",
    "ledger_name",
    "normalized_email",
    "open_existing_ledger",
    "open_ledger",
    "presences_in",
]

Address = str | Path
"""Where a ledger is kept: the path of a file, or `sqlite:///PATH`."""


def open_ledger(address: Address, clock: Callable[[], float] = time.time) -> LedgerStore:
    """Open a ledger, or create it with its key if it does not exist. `clock`: seconds since 1970.

    Raises:
        UnusableInput: it cannot be written, is not a ledger, is damaged or of another version, its key is missing, or
            the type of database is not supported.
    """
    return SqliteLedger.open(ledger_file(address), clock)


def open_existing_ledger(address: Address) -> LedgerStore | None:
    """Open a ledger if it exists; None otherwise. Raises as `open_ledger` does."""
    return open_ledger(address) if ledger_file(address).exists() else None


def presences_in(out: Path, address: Address | None = None) -> Presences:
    """Which runs of a results folder are running; the ledger need not exist yet.

    address: of the ledger that these runs use; None for runs without a ledger.
    """
    if address is not None:
        ledger_file(address)
    return FilePresences(out)


def ledger_name(address: Address) -> str:
    """The name of a ledger in messages; it need not exist yet. Raises as `ledger_file` does."""
    return str(ledger_file(address))


def ledger_file(address: Address) -> Path:
    """The file of a ledger in SQLite.

    Raises:
        UnusableInput: it is the address of another type of database.
    """
    path = str(address).removeprefix("sqlite:///")
    if "://" in path:
        raise unusable_file(
            "ledger-type-unsupported",
            "the ledger must be a SQLite file",
            "set IMPORTER_LEDGER to the path of a file, or to sqlite:///PATH",
            "IMPORTER_LEDGER",
        )
    return Path(path)
