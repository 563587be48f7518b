"""Intents and answers of 32 senders into the ledger, beside bare sqlite3 that commits the same in groups of 32."""

from __future__ import annotations

import csv
import os
import sqlite3
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from benchmarks.rooms.pair import arguments, tell_seconds
from importer.ledger import Answered, Attempt, Intent, RunRecord, Scope, State, open_ledger
from importer.models import Operation, Target

SENDERS = 32
_SCOPE = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))


def _ours(folder: Path, count: int) -> None:
    """As the loader does it: intents go ahead of their turn, and no sender waits for the disk."""
    with open_ledger(folder / "ledger.sqlite") as ledger:
        ledger.begin_run(RunRecord("run", _SCOPE, "a.csv", "ab" * 32, "a.yaml", "results/run", datetime.now(UTC)))
        ready: SimpleQueue[Attempt | None] = SimpleQueue()
        room = threading.Semaphore(2 * SENDERS)

        def send() -> None:
            while (attempt := ready.get()) is not None:
                ledger.record(Answered(attempt, State.CREATED, 201))
                room.release()

        threads = [threading.Thread(target=send) for _ in range(SENDERS)]
        for thread in threads:
            thread.start()
        for row in range(count):
            room.acquire()
            identity = ledger.fingerprints.identity(_SCOPE, f"person{row}@example.com")
            attempt = Attempt(identity, "run", row, 1)
            intent = Intent(attempt, identity)
            ledger.write_intent(intent, partial(_hand_over, ready, attempt))
            if ready.empty():
                ledger.flush_soon()
        for _ in range(2 * SENDERS):  # every answer is given
            room.acquire()
        for _ in threads:
            ready.put(None)
        for thread in threads:
            thread.join()
        ledger.flush()


def _hand_over(ready: SimpleQueue[Attempt | None], attempt: Attempt, refusal: Exception | None) -> None:
    if refusal is not None:
        raise refusal
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
    """Both on the same disk, for as many rows as the file has."""
    source, _, folder = arguments()
    with source.open(newline="", encoding="utf-8") as file:
        count = sum(1 for _ in csv.reader(file)) - 1
    tell_seconds(lambda: _ours(folder, count), lambda: _bare(folder, count))


if __name__ == "__main__":
    main()
