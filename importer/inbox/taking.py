"""Moves files: incoming/X -> working/<id>/X -> done/<id> or attention/<id>, each by one rename."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from importer.files import sync_folder
from importer.inbox.arrivals import Arrival, is_regular, on_one_line
from importer.inbox.folders import PLACES, Inbox, Place, not_writable
from importer.inbox.records import RECORD, Identity, Record, folders_in, read_record

_LONGEST_NAME: Final = 100  # bytes of a file's name in the name of its folder


def take(inbox: Inbox, arrival: Arrival, now: datetime) -> Record | None:
    """Move a complete file to a folder of its own; None if it is gone.

    Raises:
        UnusableInput: the inbox cannot be written; the file stays in incoming/, or the next pass takes it.
    """
    try:
        name = on_one_line(arrival.name)
        folder = _new_folder(inbox, name, now)
        pattern = arrival.rule.pattern if arrival.rule else None
        marker = inbox.incoming / arrival.marker if arrival.marker else None
        marked = Identity.of(marker.lstat()) if marker and is_regular(marker) else None
        record = Record(folder, name, pattern, now, arrival.identity, arrival.marker, marked).write()
        sync_folder(folder.parent)
        try:
            (inbox.incoming / arrival.name).rename(record.file)
        except FileNotFoundError:
            _discard(folder)
            return None
        _take_marker(inbox, record)
        _sync(inbox.incoming, folder)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None
    return record


def _new_folder(inbox: Inbox, name: str, now: datetime) -> Path:
    """A new private folder in working/, with a name that no file of the inbox has."""
    safe = os.fsencode(name)[:_LONGEST_NAME].decode("utf-8", "ignore")
    number = 1
    while True:
        id = f"{now:%Y%m%d-%H%M%S}-{safe}" + (f"-{number}" if number > 1 else "")
        if not any((inbox.place(place) / id).exists() for place in PLACES):
            folder = inbox.place("working") / id
            folder.mkdir(0o700)
            return folder
        number += 1


def _take_marker(inbox: Inbox, record: Record) -> None:
    """Move the marker of a file that was taken; not a newer one, of the next file of the same name."""
    if record.marker is None or record.marker_identity is None:
        return
    marker = inbox.incoming / record.marker
    if is_regular(marker) and record.marker_identity.has_same_content(Identity.of(marker.lstat())):
        marker.rename(record.folder / record.marker)


def move(inbox: Inbox, record: Record, place: Place) -> Record:
    """Move the folder of a file to another place; return its record there.

    Raises:
        UnusableInput: it cannot be moved; the next pass moves it.
    """
    target = inbox.place(place) / record.folder.name
    number = 1
    try:
        while target.exists():  # only after a person moved folders
            number += 1
            target = target.with_name(f"{record.folder.name}-{number}")
        record.folder.rename(target)
        _sync(inbox.place(place), record.folder.parent)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None
    moved = read_record(target)
    assert moved is not None  # it was written before
    return moved


def unfinished(inbox: Inbox) -> Iterator[Record]:
    """The files in working/, oldest first, after what a crash left there was put right.

    Raises:
        UnusableInput: the inbox cannot be written.
    """
    try:
        for folder in folders_in(inbox, "working"):
            record = read_record(folder)
            if record is None or (not record.runs and record.result is None and not os.path.lexists(record.file)):
                _discard(folder)  # killed before the file was moved: it is still in incoming/
                continue
            _take_marker(inbox, record)
            yield record
    except OSError as error:
        raise not_writable(inbox.folder, error) from None


def _discard(folder: Path) -> None:
    """Remove the folder of a file that was not moved into it; one that has anything else stays."""
    names = {path.name for path in folder.iterdir()}
    if names <= {RECORD, f".{RECORD}.tmp"}:
        for name in names:
            (folder / name).unlink()
        with suppress(OSError):
            folder.rmdir()


def _sync(*folders: Path) -> None:
    for folder in folders:
        sync_folder(folder)
