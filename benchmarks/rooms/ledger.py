"""Intents and responses of 32 senders in the ledger, compared with bare sqlite3 in groups of 32."""

from __future__ import annotations

import csv
import os
import sqlite3
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from benchmarks.rooms.pair import arguments, print_seconds
from importer.ledger import Address, Answered, Attempt, Intent, RunRecord, Scope, State, open_ledger
from importer.models import Operation, Target

SENDERS = 32
_SCOPE = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))


def write_intents_and_responses(address: Address, count: int) -> None:
    """Like the loader: intents are written ahead, and no sender waits for the disk."""
    with open_ledger(address) as ledger:
        ledger.begin_run(RunRecord("run", _SCOPE, "a.csv", "ab" * 32, "a.yaml", "results/run", datetime.now(UTC)))
        ready: SimpleQueue[Attempt | None] = SimpleQueue()
        slots = threading.Semaphore(2 * SENDERS)

        def send() -> None:
            while (attempt := ready.get()) is not None:
                ledger.record(Answered(attempt, State.CREATED, 201))
                slots.release()

        threads = [threading.Thread(target=send) for _ in range(SENDERS)]
        for thread in threads:
            thread.start()
        for row in range(count):
            slots.acquire()
            identity = ledger.fingerprints.identity(_SCOPE, f"person{row}@example.com")
            attempt = Attempt(identity, "run", row, 1)
            intent = Intent(attempt, identity)
            ledger.write_intent(intent, partial(_enqueue, ready, attempt))
            if ready.empty():
                ledger.flush_soon()
        for _ in range(2 * SENDERS):  # wait for all responses
            slots.acquire()
        for _ in threads:
            ready.put(None)
        for thread in threads:
            thread.join()
        ledger.flush()


def _enqueue(ready: SimpleQueue[Attempt | None], attempt: Attempt, error: Exception | None) -> None:
    if error is not None:
        raise error
    ready.put(attempt)


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
