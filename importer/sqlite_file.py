"""A SQLite file as a private database: its mode, its durability, and its problems."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from importer.files import open_private, sync_folder
from importer.problems import ConstraintError, DatabaseError, UnusableInput, not_writable, unusable_file

SqliteConnection = sqlite3.Connection
IntegrityError = sqlite3.IntegrityError
FREE_IT: Final = "free disk space, fix the disk, or close a program that locks it"
_BUSY_TIMEOUT: Final = 30.0  # seconds to wait while another process writes


def create_private(path: Path) -> None:
    """Create an empty private file unless it exists: SQLite gives its WAL and SHM files the same mode.

    Raises:
        UnusableInput: the folder cannot be written, or one of the files is a symbolic link, which SQLite would follow.
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
        raise not_writable(Path(error.filename or path), error.strerror or str(error)) from None


def connect(path: Path) -> SqliteConnection:
    """A connection that one thread at a time may use, and that never begins a transaction by itself."""
    return sqlite3.connect(path.absolute(), timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)


class SqliteFile:
    """One SQLite file: WAL, synchronous=FULL, explicit transactions. Safe to use from many threads.

    Errors of SQLite are raised as DatabaseError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._free: list[SqliteConnection] = []  # idle connections; append and pop of a list need no lock
        self._is_closed = False
        self._inode = path.stat().st_ino

    @contextmanager
    def connection(self) -> Iterator[SqliteConnection]:
        """A connection for one thread, outside of any transaction."""
        with errors_translated():
            try:
                connection = self._free.pop()
            except IndexError:
                connection = self._connect()
            try:
                yield connection
            finally:
                self._release(connection)

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[SqliteConnection]:
        """A connection in a transaction, which is committed at the end, or rolled back by an exception."""
        with self.connection() as connection:
            # Immediate: a transaction that reads before it writes can fail at the write, whatever the timeout.
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield connection
            connection.commit()

    def is_in_place(self) -> bool:
        """Whether the path still leads to this file: SQLite continues to write to a file that was removed."""
        try:
            return self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Close all idle connections."""
        self._is_closed = True
        while self._free:
            self._free.pop().close()

    def _release(self, connection: SqliteConnection) -> None:
        try:
            connection.rollback()  # no effect after a commit
        except sqlite3.Error:
            connection.close()
            return
        if self._is_closed:  # a stream that was not read to its end is released late
            connection.close()
        else:
            self._free.append(connection)

    def _connect(self) -> SqliteConnection:
        connection = connect(self.path)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA secure_delete=ON")  # deleted content is overwritten: see importer purge
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def errors_translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ConstraintError(str(error)) from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        is_damaged = code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        raise DatabaseError(str(error), is_damaged=is_damaged) from None


# --- problems -----------------------------------------------------------------------------------


def not_a_database(path: Path, reason: str) -> UnusableInput:
    """The problem of a file that is not a database, or is damaged."""
    return unusable_file(
        "ledger-damaged",
        f"it is not a readable database ({reason}), so nothing is sent",
        "restore it from a backup; if you move it away instead, every row is sent again and the service reports "
        "which candidates it already has",
        path,
    )


def unusable(path: Path, error: DatabaseError) -> UnusableInput:
    """An error of SQLite as a problem of the file."""
    if "is locked" in str(error):
        hint = "close the program that has it open, then run the same command again"
        return unusable_file("not-writable", f"another program has locked it ({error})", hint, path)
    return (not_a_database if error.is_damaged else not_writable)(path, str(error))
