"""Remembers the first row of each key, for any number of rows."""

from __future__ import annotations

from typing import Final, Self

from importer.sqlite_file import Connection, connect_to_temporary

_IN_MEMORY: Final = 50_000  # keys; more go to a temporary SQLite database, which disappears when it is closed
_CACHE_KIB: Final = 4096


class FirstRows:
    """The first row of each 16-byte key, in bounded memory. A context manager.

    The temporary database contains the keys, so they must not reveal anything: `Duplicates` derives them with a secret
    that exists only while the process runs.
    """

    def __init__(self, in_memory: int = _IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._latest: dict[bytes, int] = {}
        self._earlier: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._earlier is not None:
            self._earlier.close()

    def setdefault(self, key: bytes, row: int) -> int:
        """The first row that was given for the key; this row if it is the first."""
        first = self._latest.get(key)
        if first is None and self._earlier is not None:
            found = self._earlier.execute("SELECT row FROM first_rows WHERE key = ?", (key,)).fetchone()
            first = found[0] if found else None
        if first is not None:
            return first
        self._latest[key] = row
        if len(self._latest) >= self._in_memory:
            self._move_to_disk()
        return row

    def _move_to_disk(self) -> None:
        if self._earlier is None:
            self._earlier = connect_to_temporary(_CACHE_KIB)
            self._earlier.execute("CREATE TABLE first_rows (key BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        self._earlier.executemany("INSERT INTO first_rows VALUES (?, ?)", sorted(self._latest.items()))
        self._earlier.commit()
        self._latest.clear()
