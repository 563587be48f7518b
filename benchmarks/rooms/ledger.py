"""Intents and answers of 32 senders into the ledger, beside bare sqlite3 that commits the same in groups of 32."""

from __future__ import annotations

import csv
import os
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.rooms.pair import arguments, tell_seconds
from importer.ledger import Answered, Attempt, Intent, Ledger, RunRecord, Scope, State
from importer.models import Operation, Target

SENDERS = 32
_SCOPE = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))


def _ours(folder: Path, count: int) -> None:
    with Ledger.open(folder / "ledger.sqlite") as ledger:
        ledger.begin_run(RunRecord("run", _SCOPE, "a.csv", "ab" * 32, "a.yaml", "results/run", datetime.now(UTC)))
        rows = iter(range(count))
        lock = threading.Lock()

        def send() -> None:
            for row in _shared(rows, lock):
                identity = ledger.fingerprints.identity(_SCOPE, f"person{row}@example.com")
                attempt = Attempt(identity, "run", row, 1)
                ledger.intend(Intent(attempt, identity))
                ledger.record(Answered(attempt, State.CREATED, 201))

        threads = [threading.Thread(target=send) for _ in range(SENDERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ledger.flush()


def _shared(rows: Iterator[int], lock: threading.Lock) -> Iterator[int]:
    while True:
        with lock:
            row = next(rows, None)
        if row is None:
            return
        yield row


def _bare(folder: Path, count: int) -> None:
    connection = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE sent (identity BLOB PRIMARY KEY, digest BLOB, row INTEGER, status INTEGER)")
    identities = [os.urandom(32) for _ in range(count)]
    for begin in range(0, count, SENDERS):
        group = list(enumerate(identities[begin : begin + SENDERS], start=begin))
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO sent VALUES (?, ?, ?, NULL)", [(one, one, row) for row, one in group])
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("UPDATE sent SET status = 201 WHERE identity = ?", [(one,) for _, one in group])
        connection.execute("COMMIT")
    connection.close()


def main() -> None:
    """Both on the same disk, for as many rows as the file has."""
    source, _, folder = arguments()
    with source.open(newline="", encoding="utf-8") as file:
        count = sum(1 for _ in csv.reader(file)) - 1
    tell_seconds(lambda: _ours(folder, count), lambda: _bare(folder, count))


if __name__ == "__main__":
    main()
