"""The first row that came with each key, in memory that does not grow with the number of rows."""

from __future__ import annotations

import sqlite3
from typing import Self

_IN_MEMORY = 50_000  # keys; more are put into a temporary database of SQLite's own, gone when it is closed
_CACHE_KIB = 4096


class FirstRows:
    """A mapping from keys of 16 bytes to row numbers, for files of millions of rows.

    The temporary database has no name in any folder and holds what the keys are, so they must tell nothing by
    themselves: see `Duplicates`, which makes them with a key that lives as long as the process. Closed by a `with`.
    """

    def __init__(self, in_memory: int = _IN_MEMORY) -> None:
        self._most = in_memory
        self._lately: dict[bytes, int] = {}
        self._earlier: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._earlier is not None:
            self._earlier.close()

    def setdefault(self, key: bytes, row: int) -> int:
        """The first row that came with the key: the one given, if there was none."""
        first = self._lately.get(key)
        if first is None and self._earlier is not None:
            found = self._earlier.execute("SELECT row FROM first_rows WHERE key = ?", (key,)).fetchone()
            first = found[0] if found else None
        if first is not None:
            return first
        self._lately[key] = row
        if len(self._lately) >= self._most:
            self._put_away()
        return row

    def _put_away(self) -> None:
        if self._earlier is None:
            self._earlier = sqlite3.connect("", check_same_thread=False)
            self._earlier.execute("PRAGMA journal_mode = OFF")
            self._earlier.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            self._earlier.execute("CREATE TABLE first_rows (key BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        self._earlier.executemany("INSERT INTO first_rows VALUES (?, ?)", sorted(self._lately.items()))
        self._earlier.commit()
        self._lately.clear()
