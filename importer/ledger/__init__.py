"""A durable record of what was intended, sent and answered: the only room that knows the ledger's database."""

from __future__ import annotations

from importer.ledger.address import LedgerPlace, as_address, is_on_server, ledger_file, ledger_folder, ledger_name
from importer.ledger.fingerprints import Fingerprints, key_path, normalized_email
from importer.ledger.ledger import Ledger
from importer.ledger.sqlite_ledger import SqliteLedger
from importer.ledger.states import (
    DONE,
    TRANSITIONS,
    Answered,
    Attempt,
    Intent,
    Known,
    LedgerUnwritable,
    NotAllowed,
    RowState,
    RunRecord,
    Scope,
    Sent,
    State,
)
from importer.problems import unusable_file


def open_ledger(address: LedgerPlace) -> Ledger:
    """Open a ledger, or create it with its key if it does not exist.

    Raises UnusableInput: it cannot be written, is not a ledger, is damaged or of another version, its key is missing,
    or the type of database is not supported.
    """
    ledger = _opened(address)
    assert ledger is not None  # it is created
    return ledger


def open_existing_ledger(address: LedgerPlace) -> Ledger | None:
    """Open a ledger if it exists; None otherwise. Raises as `open_ledger` does."""
    if not is_on_server(address) and not ledger_file(address).exists():
        return None
    return _opened(address, must_exist=True)


def _opened(address: LedgerPlace, *, must_exist: bool = False) -> Ledger | None:
    known = as_address(address)
    if not is_on_server(known):
        path = ledger_file(known)
        return SqliteLedger(known, path).opened(known.key_file or key_path(path), must_exist=must_exist)
    try:
        from importer.ledger.postgres_ledger import PostgresLedger  # only where it is installed and needed
    except ImportError:
        raise unusable_file(
            "ledger-driver-missing",
            "the library for PostgreSQL is not installed",
            "run: pip install 'candidate-importer[postgres]'",
            "IMPORTER_LEDGER",
        ) from None
    if known.key_file is None:
        raise unusable_file(
            "ledger-key-unusable",
            "a ledger in PostgreSQL needs the file with its key, the same on every machine",
            "set it to the path of that file; with a new ledger the file is created",
            "IMPORTER_LEDGER_KEY_FILE",
        )
    return PostgresLedger(known).opened(known.key_file, must_exist=must_exist)
