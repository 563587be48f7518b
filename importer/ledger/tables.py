"""The tables of a ledger: one schema for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

from importer.ledger.states import State

VERSION: Final = 5  # no earlier one was ever released
_TEXT: Final = String().with_variant(String(collation="C"), "postgresql")
_STATES: Final = ", ".join(f"'{state}'" for state in State)

TABLES: Final = MetaData()

about: Final = Table(
    "about",
    TABLES,
    Column("version", Integer, nullable=False),
    Column("key_check", LargeBinary, nullable=False),
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

runs: Final = Table(  # if purged_at is set, source, sha256, mapping and folder are empty
    "runs",
    TABLES,
    Column("run", _TEXT, primary_key=True),
    Column("base", _TEXT, nullable=False),
    Column("operation", _TEXT, nullable=False),
    Column("target", _TEXT, nullable=False),
    Column("source", _TEXT, nullable=False),
    Column("sha256", _TEXT, nullable=False),
    Column("mapping", _TEXT, nullable=False),
    Column("folder", _TEXT, nullable=False),
    Column("started_at", _TEXT, nullable=False),
    Column("ended_at", _TEXT),
    Column("exit_code", Integer),
    Column("purged_at", _TEXT),
)

documents: Final = Table(  # of an earlier build it is created when the first document is uploaded
    "documents",
    TABLES,
    Column("key", LargeBinary, primary_key=True),  # of the content, at one service
    Column("document_id", _TEXT),  # None: it was sent, and the answer is not known
    Column("attempts", Integer, nullable=False),
    Column("updated_at", Float, nullable=False),  # seconds since 1970
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
    Column("updated_at", Float, nullable=False),  # seconds since 1970
    Index("people_of_run", "run", "row"),
    sqlite_with_rowid=False,
)
