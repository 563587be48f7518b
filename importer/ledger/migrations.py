"""Takes a ledger that an older importer wrote to the tables of this one."""

from __future__ import annotations

import sqlite3

from importer.ledger.schema import VERSION

# What leads from each version to the next. A step is never changed once it was released; a new one is added.
STEPS: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE runs ADD COLUMN purged_at VARCHAR",
        "ALTER TABLE attempts ADD COLUMN after_doubt BOOLEAN NOT NULL DEFAULT 0",
    ),
}


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Take all steps from `version` to ours in the caller's transaction: after a crash the ledger is the old one."""
    for step in range(version, VERSION):
        for statement in STEPS[step]:
            connection.execute(statement)
    if version != VERSION:
        connection.execute("UPDATE about SET version = ?", (VERSION,))
