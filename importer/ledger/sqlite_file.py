"""A SQLite file as a private database: its mode, its durability and what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from importer.atomic_files import open_private, sync_folder
from importer.errors import UnusableInput
from importer.models import FilePlace, Problem

Durability = Literal["FULL", "NORMAL"]
_PATIENCE: Final = 30.0  # seconds to wait for another process that writes


def create_private(path: Path) -> None:
    """Make an empty private file where there is none: SQLite gives its WAL and SHM files the same mode.

    Raises:
        UnusableInput: the folder cannot be written, or one of these is a symbolic link, which SQLite would follow.
    """
    try:
        is_new = not path.exists()
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
        for ending in ("-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                os.close(open_private(path.with_name(path.name + ending)))
        if is_new:
            sync_folder(path.parent)
    except OSError as error:
        raise unwritable(Path(error.filename or path), error.strerror or str(error)) from None


def connect(path: Path) -> sqlite3.Connection:
    """A connection that any one thread may use at a time, and that begins no transaction by itself."""
    return sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)


class SqliteFile:
    """One SQLite file: WAL, foreign keys on, explicit transactions. Safe to use from many threads.

    What is wrong with the file is told as SQLite does, by sqlite3.DatabaseError.
    """

    def __init__(self, path: Path, durability: Durability) -> None:
        self._path = path
        self._durability = durability
        self._free: list[sqlite3.Connection] = []  # those that nobody uses; append and pop of a list need no lock
        self._is_closed = False

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A connection for one thread, outside of any transaction."""
        try:
            connection = self._free.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            connection.rollback()  # nothing, where all is well
        except sqlite3.Error:
            connection.close()
            return
        if self._is_closed:  # a stream that was not read to its end is given back late
            connection.close()
        else:
            self._free.append(connection)

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction, which is kept at the end, or undone by what is raised meanwhile."""
        with self.connection() as connection:
            # Immediate: a writer that begins as a reader can be refused in the middle, whatever the time-out.
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield connection
            connection.commit()

    def close(self) -> None:
        """Let the file go."""
        self._is_closed = True
        while self._free:
            self._free.pop().close()

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self._path)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={self._durability}")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten: see importer purge
        except BaseException:
            connection.close()
            raise
        return connection


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


def is_no_database(error: sqlite3.Error) -> bool:
    """Whether a file was refused because its bytes are no database, or a broken one."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
