"""Copies a whole ledger into an empty one, of the same or another kind, and compares both before it is kept."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from importer.database_errors import DatabaseError
from importer.ledger.database import Connection, Database
from importer.ledger.key import create_key, foreign_key, read_key
from importer.ledger.sql_ledger import SqlLedger
from importer.ledger.tables import COLUMNS, examine
from importer.problems import UnusableInput, unusable_file

_PORTION: Final = 1000  # rows


class Copied(NamedTuple):
    """How many entries were copied."""

    runs: int
    identities: int
    attempts: int


def copy_ledger(source: Database, source_key: Path, target: Database, target_key: Path) -> Copied:
    """Copy everything in one transaction, with the key. Both databases are closed.

    Raises:
        Busy: a run holds a target of the source.
        UnusableInput: one of them cannot be used, the target is not empty or has another key, or the copy differs.
    """
    with ExitStack() as opened:
        origin = opened.enter_context(SqlLedger.open(source, source_key, time.time))
        for scope in sorted({record.scope for record in origin.runs()}, key=str):
            opened.enter_context(origin.lock_target(scope))
        _give_key(read_key(source_key), target_key)
        opened.enter_context(SqlLedger.open(target, target_key, time.time))
        try:
            with source.transaction() as reading, target.transaction(writes=True) as writing:
                return Copied(*(content.rows for content in _copy(source, reading, target, writing)))
        except DatabaseError as error:
            raise target.unusable(error) from None


def _give_key(key: bytes, path: Path) -> None:
    """Create the key file of the target, unless it has the same key already."""
    if not path.exists():
        try:
            create_key(path, key)
        except OSError as error:
            raise unusable_file(
                "ledger-key-unreadable",
                f"the key of the ledger cannot be written ({error.strerror})",
                "create the folder, or get write permission there",
                path,
            ) from None
    if read_key(path) != key:
        raise foreign_key(path)


class _Content(NamedTuple):
    """What a table has: equal if it has the same rows, in whatever order."""

    rows: int = 0
    digest: int = 0

    def plus(self, row: Sequence[Any]) -> _Content:
        shown = repr([int(value) if isinstance(value, bool) else value for value in row])
        digest = int.from_bytes(hashlib.blake2b(shown.encode(), digest_size=16).digest())
        return _Content(self.rows + 1, (self.digest + digest) % (1 << 128))


def _copy(source: Database, reading: Connection, target: Database, writing: Connection) -> list[_Content]:
    contents = []
    for table, columns in COLUMNS.items():
        names = ", ".join(f'"{name}"' for name in columns)
        query = f"SELECT {names} FROM {table}"
        if writing.execute(f"{query} LIMIT 1").fetchone():
            raise unusable_file(
                "ledger-not-empty",
                "this ledger is not empty, so nothing was copied",
                "copy into a new one; two ledgers cannot be joined",
                target.name,
            )
        insertion = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
        read = _Content()
        for rows in _portions(source.stream(reading, query)):
            for row in rows:
                read = read.plus(row)
            writing.executemany(insertion, [_as_typed(columns, row) for row in rows])
        written = _Content()
        for row in target.stream(writing, query):
            written = written.plus(row)
        if read != written:
            raise _differs(target, f"{table}: {read.rows} rows were read, {written.rows} written, or they differ")
        contents.append(read)
    if problems := examine(writing, target):
        raise _differs(target, problems[0].message)
    return contents


def _portions(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while portion := list(islice(rows, _PORTION)):
        yield portion


def _as_typed(columns: Sequence[str], row: Sequence[Any]) -> list[Any]:
    """SQLite has 0 and 1 for truth values."""
    return [bool(value) if name == "after_unconfirmed" else value for name, value in zip(columns, row, strict=True)]


def _differs(target: Database, finding: str) -> UnusableInput:
    return unusable_file(
        "ledger-copy-differs",
        f"the copy is not what the ledger is, so nothing was kept ({finding})",
        "run importer doctor with the ledger that you copy from",
        target.name,
    )
