"""A SQLite file as a private database: its mode, its durability and what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from importer.durable import sync_folder
from importer.errors import UnusableInput
from importer.models import FilePlace, Problem

Durability = Literal["FULL", "NORMAL"]


def create_private(path: Path) -> None:
    """Make an empty file of mode 0600 where there is none: SQLite gives its WAL and SHM files the same mode.

    Raises:
        UnusableInput: the folder cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not path.exists()
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        if is_new:
            sync_folder(path.parent)
    except OSError as error:
        raise unwritable(path, error.strerror or str(error)) from None


def open_engine(path: Path, durability: Durability) -> Engine:
    """An engine over one SQLite file: WAL, foreign keys on, explicit transactions.

    A connection with the execution option `writes=True` takes the write lock when its transaction begins.
    """
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={durability}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten: see importer purge

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Immediate: a writer that begins as a reader can be refused in the middle, whatever the time-out.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def unwritable(path: Path, reason: str) -> UnusableInput:
    """Nothing can be kept at `path`."""
    return UnusableInput(
        Problem(
            "ledger-unwritable",
            f"it cannot be written ({reason}), and without it nothing is sent",
            "make room or give yourself the right to write there, or name another folder with --out",
            FilePlace(str(path)),
        )
    )


def no_database(path: Path, reason: str) -> UnusableInput:
    """What lies at `path` is something else, or damaged."""
    return UnusableInput(
        Problem(
            "ledger-damaged",
            f"it is not a database that we can read ({reason}), and without it nothing is sent",
            "put it back from a backup, or move it away: then every row is sent again and the service tells "
            "which it has already",
            FilePlace(str(path)),
        )
    )


def is_no_database(error: Exception) -> bool:
    """Whether a file was refused because its bytes are no database, or a broken one."""
    cause = getattr(error, "orig", error)
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
