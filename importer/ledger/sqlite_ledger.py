"""A ledger in one SQLite file (WAL, synchronous=FULL), for runs on one machine."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Final, NoReturn

from sqlalchemy import URL, Connection, NullPool, create_engine, event, exc

from importer.files import INTERNAL, internal_folder
from importer.ledger.ledger import Ledger
from importer.ledger.states import Scope
from importer.problems import ConstraintError, DatabaseError, UnusableInput, not_writable, unusable_file
from importer.settings import LedgerAddress
from importer.store.lock import acquire
from importer.store.sqlite import FREE_IT, connect, create_private, errors_translated, inode_of, unusable

_HEADROOM: Final = 1024 * 1024  # bytes of free space below which nothing more is sent


class SqliteLedger(Ledger):
    """A `Ledger` in a file. Its target locks are in the folder `.importer` next to it."""

    remedy: ClassVar = FREE_IT

    def __init__(self, address: LedgerAddress, path: Path) -> None:
        """Open the file, or create a private one. Raises UnusableInput: it cannot be written."""
        try:
            internal_folder(path.parent)
        except OSError as error:
            raise not_writable(path, error.strerror or str(error)) from None
        create_private(path)
        url = URL.create("sqlite", database=str(path))
        engine = create_engine(url, creator=lambda: connect(path), poolclass=NullPool, hide_parameters=True)
        event.listen(engine, "begin", _begin)
        super().__init__(address, str(path), engine)
        self._path = path
        self._inode = inode_of(path)
        self._free: dict[str, Callable[[], None]] = {}

    def _take_lock(self, name: str, busy: str) -> None:
        path = self._path.parent / INTERNAL / f"{self._path.name}.{sha256(name.encode()).hexdigest()[:12]}.lock"
        try:
            lock = acquire(path)
        except OSError as error:
            raise not_writable(path, error.strerror or str(error)) from None
        if lock is None:
            raise self._busy(name, busy)
        self._free[name] = lock.release

    def _free_lock(self, name: str) -> None:
        self._free.pop(name)()

    def _lock_part(self, name: str, scope: Scope, number: int, count: int) -> NoReturn:
        hint = "set IMPORTER_LEDGER and IMPORTER_LEDGER_KEY_FILE as docs/cluster.md says, or leave --part out"
        raise unusable_file("ledger-not-shared", f"parts of {scope} need a ledger in PostgreSQL", hint, self.name)

    def _as_database_error(self, error: exc.DBAPIError) -> DatabaseError:
        if isinstance(error.orig, sqlite3.IntegrityError):
            return ConstraintError(str(error.orig))
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        return DatabaseError(str(error.orig), is_damaged=code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT))

    def _unusable(self, error: DatabaseError | OSError) -> UnusableInput:
        if isinstance(error, DatabaseError):
            return unusable(self._path, error)
        return not_writable(Path(error.filename or self._path), error.strerror or str(error))

    def scrub(self) -> bool:
        try:
            with errors_translated(), closing(connect(self._path)) as connection:
                connection.execute("VACUUM")
                (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except DatabaseError as error:
            raise self._unusable(error) from None
        return not is_busy

    def is_in_place(self) -> bool:
        return inode_of(self._path) == self._inode

    def _reason_not_to_send(self) -> str | None:
        free = None
        with suppress(OSError):  # it may go at any moment
            free = shutil.disk_usage(self._path.parent).free
        if not self.is_in_place():
            return "the file was moved or deleted"
        return "its disk is almost full" if free is not None and free < _HEADROOM else None


def _begin(connection: Connection) -> None:
    # Immediate: a transaction that reads before it writes can fail at the write, whatever the timeout.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")
