"""A new ledger is laid down, or an old one is checked and brought up to date, before anything else is done with it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, insert, inspect, select

from importer.errors import UnusableInput
from importer.ledger.identity import Fingerprints, create_key, key_path, read_key
from importer.ledger.migrations import migrate
from importer.ledger.schema import VERSION, about, metadata
from importer.ledger.sqlite_file import no_database
from importer.models import FilePlace, Problem


def lay_down_or_check(path: Path, engine: Engine) -> Fingerprints:
    """Gives what identities are made with.

    Raises:
        UnusableInput: it is no ledger, was written by a newer importer, or its key is gone or another's.
    """
    with engine.execution_options(writes=True).begin() as connection:
        tables = inspect(connection).get_table_names()
        if not tables:
            create_key(key_path(path))
            fingerprints = Fingerprints(read_key(key_path(path)))
            metadata.create_all(connection)
            connection.execute(insert(about), [{"version": VERSION, "key_check": fingerprints.key_check()}])
            return fingerprints
        if about.name not in tables:
            raise no_database(path, "a database of something else")
        known = connection.execute(select(about.c.version, about.c.key_check)).one()
        if known.version > VERSION:
            raise _newer(path, known.version)
        fingerprints = Fingerprints(read_key(key_path(path)))
        if fingerprints.key_check() != known.key_check:
            raise _foreign_key(path)
        migrate(connection, known.version)
    return fingerprints


def _newer(path: Path, version: int) -> UnusableInput:
    return UnusableInput(
        Problem(
            "ledger-newer",
            f"it was written by a newer importer (ledger version {version}, this one knows {VERSION})",
            "upgrade this importer, or name another folder with --out",
            FilePlace(str(path)),
        )
    )


def _foreign_key(path: Path) -> UnusableInput:
    return UnusableInput(
        Problem(
            "ledger-key-foreign",
            "this key belongs to another ledger",
            "put back the key file that lay beside the ledger: without it nobody knows which rows were sent",
            FilePlace(str(key_path(path))),
        )
    )
