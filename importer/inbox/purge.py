"""Removes old files from done/: the only way in which a file of an inbox is deleted."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from importer.inbox.folders import not_writable, open_inbox
from importer.inbox.records import RECORD, History, Record, records_in


def purge(folder: Path, age: timedelta, now: datetime) -> list[Record]:
    """Remove the files in done/ that were taken longer ago, with the copies of their reports; return them.

    The last file of each pattern stays: the next one is compared with it. Files in attention/ stay too.

    Raises:
        Busy: a worker uses the inbox. UnusableInput: the inbox cannot be used or written.
    """
    inbox = open_inbox(folder)
    with inbox.lock():
        history = History(inbox)
        old = [record for record in records_in(inbox, "done") if now - record.taken_at > age]
        removed = [record for record in old if history.of(record.pattern)[-1].folder != record.folder]
        try:
            for record in removed:
                _remove(record.folder)
        except OSError as error:
            raise not_writable(folder, error) from None
    return removed


def _remove(folder: Path) -> None:
    """The record last: after a crash, the next purge goes on."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name == RECORD):
        path.unlink()
    folder.rmdir()
