"""The tables of the ledger."""

from __future__ import annotations

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
    PrimaryKeyConstraint,
    String,
    Table,
    false,
)

from importer.ledger.states import State

VERSION = 2

metadata = MetaData()

_states = ", ".join(f"'{state}'" for state in State)

about = Table(
    "about",
    metadata,
    Column("version", Integer, nullable=False),
    Column("key_check", LargeBinary, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("run", String, primary_key=True),
    Column("base", String, nullable=False),
    Column("operation", String, nullable=False),
    Column("target", String, nullable=False),
    Column("source", String, nullable=False),
    Column("sha256", String, nullable=False),
    Column("mapping", String, nullable=False),
    Column("folder", String, nullable=False),
    Column("started_at", String, nullable=False),
    Column("ended_at", String),
    Column("exit_code", Integer),
    Column("purged_at", String),  # since then source, hash, mapping and folder are empty
)

identities = Table(
    "identities",
    metadata,
    Column("identity", LargeBinary, primary_key=True),
    Column("state", String, CheckConstraint(f"state IN ({_states})"), nullable=False),
    Column("status", Integer),
    Column("body_digest", LargeBinary, nullable=False),
    Column("run", String, ForeignKey("runs.run"), nullable=False),
    Column("row", Integer, nullable=False),
    Column("updated_at", Float, nullable=False),  # seconds since 1970
)

attempts = Table(
    "attempts",
    metadata,
    Column("run", String, ForeignKey("runs.run"), nullable=False),
    Column("row", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("identity", LargeBinary, ForeignKey("identities.identity"), nullable=False),
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("status", Integer),
    # What the attempt left its identity in; in_flight while it is open.
    Column("state", String, CheckConstraint(f"state IN ({_states})"), nullable=False),
    # An earlier request for the same identity was in doubt when this one was intended.
    Column("after_doubt", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("run", "row", "number"),
    sqlite_with_rowid=False,
)

Index(
    "one_open_attempt",
    attempts.c.identity,
    unique=True,
    sqlite_where=attempts.c.ended_at.is_(None),  # naming other databases here loads all that SQLAlchemy has for them
)
