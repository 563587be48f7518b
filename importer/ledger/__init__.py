"""What was intended, sent and answered, durably: the only room that knows the ledger's database."""

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
    RowState,
    RunRecord,
    Scope,
    State,
    Transition,
    normalized_email,
)
from importer.ledger.store import FilePresences, LedgerStore, LedgerUnwritable, Presence, Presences
from importer.problems import FilePlace, Problem, UnusableInput

__all__ = [
    "DONE",
    "TRANSITIONS",
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
    "RowState",
    "RunRecord",
    "Scope",
    "State",
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
    """Open a ledger; where there is none, make a new one with its key. `clock`: seconds since 1970.

    Raises:
        UnusableInput: it cannot be written, is no ledger, is damaged, was written by a newer importer, its key is gone,
            or this importer knows no such kind of database.
    """
    return SqliteLedger.open(ledger_file(address), clock)


def open_existing_ledger(address: Address) -> LedgerStore | None:
    """Open a ledger if there is one; makes none. Raises as `open_ledger` does."""
    return open_ledger(address) if ledger_file(address).exists() else None


def presences_in(out: Path, address: Address | None = None) -> Presences:
    """Who is at work on the runs of a results folder; the ledger need not be there yet.

    address: of the ledger that these runs are for, None for what no ledger ever knows of.
    """
    if address is not None:
        ledger_file(address)
    return FilePresences(out)


def ledger_name(address: Address) -> str:
    """What messages call a ledger, also where there is none yet. Raises as `ledger_file` does."""
    return str(ledger_file(address))


def ledger_file(address: Address) -> Path:
    """The file of a ledger in SQLite.

    Raises:
        UnusableInput: it is the address of a database that this importer cannot use.
    """
    path = str(address).removeprefix("sqlite:///")
    if "://" in path:
        raise UnusableInput(
            Problem(
                "ledger-type-unsupported",
                "the ledger must be a SQLite file",
                "set IMPORTER_LEDGER to the path of a file, or to sqlite:///PATH",
                FilePlace("IMPORTER_LEDGER"),
            )
        )
    return Path(path)
