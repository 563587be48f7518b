"""The tables of a ledger: one schema for SQLite and PostgreSQL, created with its key, or checked."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    inspect,
    select,
)

from importer.ledger.fingerprints import Fingerprints, create_key, key_unusable, read_fingerprints
from importer.ledger.states import State
from importer.problems import DatabaseError, UnusableInput, unusable_file

VERSION: Final = 8
_TEXT: Final = String().with_variant(String(collation="C"), "postgresql")
_STATES: Final = ", ".join(f"'{state}'" for state in State)

TABLES: Final = MetaData()

about: Final = Table(
    "about", TABLES, Column("version", Integer, nullable=False), Column("key_check", LargeBinary, nullable=False)
)

targets: Final = Table(
    "targets",
    TABLES,
    Column("name", _TEXT, primary_key=True),
    Column("owner", _TEXT, nullable=False),  # drawn anew each time that the lock of the target is taken
    Column("process", Integer, nullable=False),  # these three for messages only
    Column("host", _TEXT, nullable=False),
    Column("started_at", _TEXT, nullable=False),
)

runs: Final = Table(
    "runs",
    TABLES,
    Column("run", _TEXT, primary_key=True),
    Column("base", _TEXT, nullable=False),
    Column("operation", _TEXT, nullable=False),
    Column("target", _TEXT, nullable=False),
    Column("started_at", _TEXT, nullable=False),
    Column("ended_at", _TEXT),
)

documents: Final = Table(
    "documents",
    TABLES,
    Column("key", LargeBinary, primary_key=True),  # of the content, at one service
    Column("document_id", _TEXT),  # None: it was sent, and the answer is not known
    Column("service", _TEXT, nullable=False),  # that gives the ID
    sqlite_with_rowid=False,
)

people: Final = Table(
    "people",
    TABLES,
    Column("identity", LargeBinary, primary_key=True),
    Column("state", _TEXT, CheckConstraint(f"state IN ({_STATES})"), nullable=False),
    Column("status", Integer),  # the last one received
    Column("body_digest", LargeBinary, nullable=False),
    Column("run", _TEXT, ForeignKey("runs.run"), nullable=False),
    Column("row", Integer, nullable=False),
    Column("origin", LargeBinary, nullable=False, index=True),
    Column("after_unconfirmed", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),  # requests of that run for the row
    Index("people_of_run", "run", "row"),
    sqlite_with_rowid=False,
)


def create_or_check(connection: Connection, name: str, key_file: Path, *, must_exist: bool) -> Fingerprints | None:
    """Create the tables and the key of a new ledger, or check an existing one; the hashes that are made with its key.

    All in one transaction, so a crash leaves a complete ledger or none. must_exist: None instead of creating it.

    Raises:
        DatabaseError: it is not a ledger.
        UnusableInput: it has another version, or its key is missing or belongs to another ledger.
        OSError: the key cannot be written.
    """
    tables = inspect(connection).get_table_names()
    if not tables:
        if must_exist:
            return None
        create_key(key_file)
        fingerprints = read_fingerprints(key_file)
        TABLES.create_all(connection, checkfirst=False)
        connection.execute(about.insert(), {"version": VERSION, "key_check": fingerprints.key_check()})
        return fingerprints
    if about.name not in tables:
        raise DatabaseError("it is a database of another program", is_damaged=True)
    found = connection.execute(select(about)).all()
    if len(found) != 1:
        raise DatabaseError("its version is missing", is_damaged=True)
    if found[0].version != VERSION:
        raise _other_version(name, found[0].version)
    fingerprints = read_fingerprints(key_file)
    if fingerprints.key_check() != found[0].key_check:
        raise key_unusable(key_file, "this key file belongs to another ledger", "put back the original key file")
    return fingerprints


def _other_version(name: str, version: int) -> UnusableInput:
    is_newer = version > VERSION
    return unusable_file(
        "ledger-version",
        f"{'a newer importer' if is_newer else 'an older importer'} wrote this ledger (its version is {version}, "
        f"this importer reads {VERSION})",
        "update this importer, or use another ledger (--out, IMPORTER_LEDGER)"
        if is_newer
        else "name a new one with IMPORTER_LEDGER, also to purge or forget what is in this results folder; then every "
        "row is sent again, and the service reports which candidates it already has",
        name,
    )
