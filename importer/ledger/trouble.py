"""What is told of a ledger that cannot be used."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from importer.errors import StoppedEarly, UnusableInput
from importer.ledger.sqlite_file import is_no_database, no_database, unwritable


class LedgerUnwritable(StoppedEarly):
    """The ledger cannot be written any more, so nothing more may be sent. `reason` is what is wrong with it."""

    def __init__(self, path: Path, reason: str) -> None:
        self.reason = f"the ledger {path} cannot be written ({reason})"
        self.hint = "make room or mend the disk, then run the same command again"
        super().__init__(f"{self.reason}, so nothing more is sent; {self.hint}")


def unusable(path: Path, error: sqlite3.Error) -> UnusableInput:
    """What the database said, when it was not a row's life that met it."""
    reason = str(error)
    return no_database(path, reason) if is_no_database(error) else unwritable(path, reason)
