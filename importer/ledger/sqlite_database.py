"""A ledger's database in one SQLite file (WAL, synchronous=FULL), for runs on one machine."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

from importer.file_lock import hold_lock
from importer.files import INTERNAL, internal_folder, open_private
from importer.ledger.database import Connection, Database, Result
from importer.ledger.states import Scope
from importer.problems import DatabaseError, FilePlace, Problem, UnusableInput, not_writable
from importer.settings import LedgerAddress
from importer.sqlite_file import SqliteFile, create_private, not_a_database, unusable

_RESERVE: Final = 1024 * 1024  # bytes: enough for the answers of many more rows than can be in flight


class SqliteDatabase(SqliteFile, Database):
    """A `Database` in a file. Its disk reserve and target locks are in the folder `.importer` next to it."""

    types: ClassVar = {"bytes": "BLOB", "text": "VARCHAR", "by_key": " WITHOUT ROWID"}
    more_tables: ClassVar[tuple[str, ...]] = ()
    locking: ClassVar = ""
    remedy: ClassVar = "free disk space or fix the disk"

    def __init__(self, address: LedgerAddress, path: Path) -> None:
        """Open the file, or create a private one.

        Raises:
            UnusableInput: it cannot be written.
        """
        self.address = address
        self.name = str(path)
        try:
            internal_folder(path.parent)
        except OSError as error:
            raise not_writable(path, error.strerror or str(error)) from None
        create_private(path)
        super().__init__(path, "FULL")
        self._reserve = DiskReserve(path)

    def run(self, work: Callable[[Connection], Result], *, writes: bool = False) -> Result:
        with self.transaction(writes=writes) as connection:
            return work(connection)

    def stream(self, connection: Connection, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        return iter(connection.execute(query, values))

    @contextmanager
    def lock_target(self, scope: Scope) -> Iterator[None]:
        named = "\0".join((scope.base, scope.target.operation, scope.target.id))
        digest = hashlib.sha256(named.encode()).hexdigest()[:12]
        lock = self.path.parent / INTERNAL / f"{self.path.name}.{digest}.lock"
        with hold_lock(lock, f"another run is writing to {scope}"):
            yield

    def tables(self, connection: Connection) -> Collection[str]:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def take_reserve(self) -> None:
        self._reserve.take()

    def release_reserve(self) -> None:
        self._reserve.release()

    def reason_not_to_send(self) -> str | None:
        if not self.is_in_place():
            return "the file was moved or deleted"
        return "its disk is almost full" if self._reserve.is_needed() else None

    def scrub(self) -> bool:
        try:
            with self.connection() as connection:
                connection.execute("VACUUM")
                (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except DatabaseError as error:
            raise not_writable(self.path, str(error)) from None
        return not is_busy

    def own_problems(self, connection: Connection, hint: str) -> Iterator[Problem]:
        place = FilePlace(self.name)
        for (finding,) in connection.execute("PRAGMA integrity_check"):
            if finding != "ok":
                yield Problem("ledger-damaged", f"the database is damaged: {finding}", hint, place)
        broken = len(connection.execute("PRAGMA foreign_key_check").fetchall())
        if broken:
            message = f"{broken} entries refer to entries that do not exist"
            yield Problem("ledger-inconsistent", message, hint, place)

    def unusable(self, error: DatabaseError | OSError) -> UnusableInput:
        if isinstance(error, DatabaseError):
            return unusable(self.path, error)
        return not_writable(Path(error.filename or self.path), error.strerror or str(error))

    def not_a_ledger(self, reason: str) -> UnusableInput:
        return not_a_database(self.path, reason)


class DiskReserve:
    """A file that reserves space on the ledger's disk, so that answers can still be recorded when the disk is full.

    Then it is deleted, and nothing new is sent.
    """

    def __init__(self, ledger_path: Path) -> None:
        self._disk = ledger_path.parent
        self._path = ledger_path.parent / INTERNAL / f"{ledger_path.name}.reserve"

    def take(self) -> None:
        """Create the file if it does not exist.

        Raises:
            OSError: it cannot be written.
        """
        descriptor = open_private(self._path, os.O_WRONLY | os.O_CREAT)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if os.fstat(descriptor).st_size == _RESERVE:
                    return
                file.truncate(0)
                # Random bytes: some file systems store neither holes nor zeros.
                file.write(os.urandom(_RESERVE))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self._path.unlink()
            raise

    def release(self) -> None:
        """Free the space."""
        self._path.unlink(missing_ok=True)

    def is_needed(self) -> bool:
        """Whether so little space is left that the next commit may need the reserve."""
        return shutil.disk_usage(self._disk).free < _RESERVE
