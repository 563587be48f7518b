"""A SQLite file as a private database: its mode, its durability, and its problems."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from importer.files import open_private, refuse_link, sync_folder
from importer.problems import ConstraintError, DatabaseError, UnusableInput, not_writable, unusable_file

SqliteConnection = sqlite3.Connection
IntegrityError = sqlite3.IntegrityError
FREE_IT: Final = "free disk space, fix the disk, or close a program that locks it"
_BUSY_TIMEOUT: Final = 30.0  # seconds to wait while another process writes
# secure_delete: deleted content is overwritten, see importer purge
_PRAGMAS: Final = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON")


def create_private(path: Path) -> None:
    """Create an empty private file unless it exists: SQLite gives its WAL and SHM files the same mode.

    Raises:
        UnusableInput: the folder cannot be written, or one of the files is a symbolic link, which SQLite would follow.
    """
    try:
        # An existing one is not opened: with any descriptor of a file, POSIX drops all locks that this process has on
        # it, also those of a connection of another thread.
        for file in (path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal"))):
            refuse_link(file)
        if not path.exists():
            with suppress(FileExistsError):  # another process was faster
                os.close(open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
            sync_folder(path.parent)
    except OSError as error:
        raise not_writable(Path(error.filename or path), error.strerror or str(error)) from None


def connect(path: Path) -> SqliteConnection:
    """A durable connection (WAL, synchronous=FULL) that one thread at a time may use. It begins no transaction by
    itself.
    """
    connection = sqlite3.connect(path.absolute(), timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def inode_of(path: Path) -> int | None:
    """Shows whether a path still leads to the same file: SQLite continues to write to one that was removed."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


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
