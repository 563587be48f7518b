"""Intents and responses of 32 senders in the ledger, compared with bare sqlite3 in groups of 32."""

from __future__ import annotations

import csv
import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.rooms.pair import arguments, print_seconds
from importer.ledger import Address, Answered, Attempt, Intent, RunRecord, Scope, State, open_ledger
from importer.models import Operation, Target

SENDERS = 32
_SCOPE = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))


def write_intents_and_responses(address: Address, count: int) -> None:
    """Like the loader: each transaction has the answers of some rows and the intents of the next."""
    with open_ledger(address) as ledger:
        ledger.begin_run(RunRecord("run", _SCOPE, "a.csv", "ab" * 32, "a.yaml", "results/run", datetime.now(UTC)))
        before: list[Attempt] = []
        for start in range(0, count + SENDERS, SENDERS):
            rows = range(start, min(start + SENDERS, count))
            identities = [ledger.fingerprints.identity(_SCOPE, f"person{row}@example.com") for row in rows]
            attempts = [Attempt(identity, "run", row, 1) for identity, row in zip(identities, rows, strict=True)]
            answers = [Answered(attempt, State.CREATED, 201) for attempt in before]
            ledger.write([*answers, *(Intent(attempt, attempt.identity) for attempt in attempts)])
            before = attempts


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
    """Both on the same disk, for the rows of the file."""
    source, _, folder = arguments()
    with source.open(newline="", encoding="utf-8") as file:
        count = sum(1 for _ in csv.reader(file)) - 1
    print_seconds(lambda: write_intents_and_responses(folder / "ledger.sqlite", count), lambda: _bare(folder, count))


if __name__ == "__main__":
    main()
