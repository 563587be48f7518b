"""A SQLite file as a private database: its mode, its durability, and what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from importer.atomic_files import open_private, sync_folder
from importer.problems import FilePlace, Problem, UnusableInput, not_writable

Connection = sqlite3.Connection
Durability = Literal["FULL", "NORMAL"]
_PATIENCE: Final = 30.0  # seconds to wait for another process that writes


class DatabaseError(Exception):
    """What SQLite says is wrong. `is_damaged`: the file's bytes are no database, or a broken one."""

    def __init__(self, reason: str, *, is_damaged: bool = False) -> None:
        super().__init__(reason)
        self.is_damaged = is_damaged


class ConstraintError(DatabaseError):
    """What was to be written breaks a rule of the tables: a bug of ours."""


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
        raise not_writable(Path(error.filename or path), error.strerror or str(error)) from None


def connect(path: Path) -> Connection:
    """A connection that any one thread may use at a time, and that begins no transaction by itself."""
    return sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)


def connect_to_temporary(cache_kib: int) -> Connection:
    """A database in a temporary file without a name in any folder, gone when it is closed; it keeps no journal."""
    connection = sqlite3.connect("", check_same_thread=False)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute(f"PRAGMA cache_size = -{cache_kib}")
    return connection


class SqliteFile:
    """One SQLite file: WAL, foreign keys on, explicit transactions. Safe to use from many threads.

    What is wrong with the file is raised as DatabaseError.
    """

    def __init__(self, path: Path, durability: Durability) -> None:
        self.path = path
        self._durability = durability
        self._free: list[Connection] = []  # those that nobody uses; append and pop of a list need no lock
        self._is_closed = False
        self._inode = path.stat().st_ino

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection for one thread, outside of any transaction."""
        with _errors_translated():
            try:
                connection = self._free.pop()
            except IndexError:
                connection = self._connect()
            try:
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        """A connection in a transaction, which is kept at the end, or undone by what is raised meanwhile."""
        with self.connection() as connection:
            # Immediate: a writer that begins as a reader can be refused in the middle, whatever the time-out.
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield connection
            connection.commit()

    def is_in_place(self) -> bool:
        """Whether what is written here is found by its name: SQLite goes on in a file that was removed."""
        try:
            return self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Let the file go."""
        self._is_closed = True
        while self._free:
            self._free.pop().close()

    def _give_back(self, connection: Connection) -> None:
        try:
            connection.rollback()  # nothing, where all is well
        except sqlite3.Error:
            connection.close()
            return
        if self._is_closed:  # a stream that was not read to its end is given back late
            connection.close()
        else:
            self._free.append(connection)

    def _connect(self) -> Connection:
        connection = connect(self.path)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={self._durability}")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten: see importer purge
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def _errors_translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ConstraintError(str(error)) from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        is_damaged = code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        raise DatabaseError(str(error), is_damaged=is_damaged) from None


# --- what is told of it -------------------------------------------------------------------------


def not_a_database(path: Path, reason: str) -> UnusableInput:
    """What lies at `path` is something else, or damaged."""
    return UnusableInput(
        Problem(
            "ledger-damaged",
            f"it is not a readable database ({reason}), so nothing is sent",
            "restore it from a backup; if you move it away instead, every row is sent again and the service reports "
            "which candidates it already has",
            FilePlace(str(path)),
        )
    )


def unusable(path: Path, error: DatabaseError) -> UnusableInput:
    """What SQLite said of a file, as a problem of the settings."""
    return (not_a_database if error.is_damaged else not_writable)(path, str(error))
