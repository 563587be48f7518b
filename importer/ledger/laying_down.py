"""A new ledger is laid down, or an old one is checked and brought up to date, before anything else is done with it."""

from __future__ import annotations

from pathlib import Path

from importer.errors import UnusableInput
from importer.ledger.identity import Fingerprints, adopt_key, create_key, key_path, read_key
from importer.ledger.migrations import migrate
from importer.ledger.schema import TABLES, VERSION
from importer.ledger.sqlite_file import SqliteFile, no_database
from importer.models import FilePlace, Problem


def lay_down_or_check(path: Path, file: SqliteFile) -> Fingerprints:
    """Gives what identities are made with.

    Raises:
        UnusableInput: it is no ledger, was written by a newer importer, or its key is gone or another's.
    """
    with file.transaction(writes=True) as connection:
        adopt_key(path)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            create_key(key_path(path))
            fingerprints = Fingerprints(read_key(key_path(path)))
            for statement in TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES (?, ?)", (VERSION, fingerprints.key_check()))
            return fingerprints
        if "about" not in tables:
            raise no_database(path, "a database of something else")
        known = connection.execute("SELECT version, key_check FROM about").fetchall()
        if len(known) != 1:
            raise no_database(path, "it does not say its version")
        [(version, key_check)] = known
        if version > VERSION:
            raise _newer(path, version)
        fingerprints = Fingerprints(read_key(key_path(path)))
        if fingerprints.key_check() != key_check:
            raise _foreign_key(path)
        migrate(connection, version)
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
            "put back the key file that lay there: without it nobody knows which rows were sent",
            FilePlace(str(key_path(path))),
        )
    )
