"""The record of a file that was taken: .taken.json in its folder, which says what is known of it so far."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from pydantic import TypeAdapter

from importer.files import read_private, sync_folder, write_json
from importer.inbox.folders import PLACES, Inbox, Place
from importer.problems import Problem

RECORD: Final = ".taken.json"  # no file of this name is taken: a leading dot marks files of programs
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Identity:
    """A file and its state: while it is written, one of these changes."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    @property
    def changed_at(self) -> float:
        """When it was written or got its name, in seconds since the epoch."""
        return max(self.mtime_ns, self.ctime_ns) / 1e9

    def has_same_content(self, other: Identity) -> bool:
        """Whether nothing was written between; a rename changes only ctime."""
        return replace(self, ctime_ns=0) == replace(other, ctime_ns=0)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a file was not imported, or not completely: what, with its place, and what to do."""

    code: str
    text: str
    hint: str = ""

    @classmethod
    def of(cls, problem: Problem) -> Self:
        return cls(problem.code, str(replace(problem, hint="")), problem.hint)


@dataclass(frozen=True, slots=True)
class Contents:
    """What was in a file, and the service that it was imported into; compared with those of the next file."""

    service: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a pass did with a file. place: where it belongs; in `working` the next pass continues.

    reasons: () for a file that is done.
    """

    at: datetime
    exit_code: int
    place: Place
    reasons: tuple[Reason, ...] = ()
    outcomes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A file in its folder <id>.

    pattern: of its rule, None if none matched. marker: the name of its marker file, with its identity. runs: those that
    imported it, the last one last; is_begun: the last one began, but its result was not kept yet. released: a person
    accepted it. result: of the last pass, None before it;
    reported: whether the listeners were called for it; not yet, if it was released since.
    """

    folder: Path
    name: str
    pattern: str | None
    taken_at: datetime
    identity: Identity
    marker: str | None = None
    marker_identity: Identity | None = None
    runs: tuple[str, ...] = ()
    is_begun: bool = False
    released: bool = False
    contents: Contents | None = None
    result: Result | None = None
    reported: bool = False

    @property
    def file(self) -> Path:
        return self.folder / self.name

    @property
    def reason_file(self) -> Path:
        """The file that says why it is in attention/, and what to do."""
        return self.folder / self.own_name("reason.txt")

    @property
    def is_cut_off(self) -> bool:
        """Whether the worker that imported it died."""
        return self.result is None or self.is_begun

    @property
    def is_imported(self) -> bool:
        """Whether all rows that can be sent were sent."""
        return self.result is not None and self.result.exit_code in (0, 4) and self.contents is not None

    def own_name(self, name: str) -> str:
        """A name for a file of ours beside it."""
        taken = {each.casefold() for each in (self.name, self.marker) if each}
        path = Path(name)
        return name if name not in taken else f"{path.stem}-2{path.suffix}"

    def write(self) -> Self:
        """Write it durably.

        Raises:
            OSError: the folder cannot be written.
        """
        values = _adapter().dump_python(self, mode="json", exclude={"folder"})
        write_json(self.folder / RECORD, {"version": _VERSION, **values})
        sync_folder(self.folder)
        return self

    def with_changes(self, **values: Any) -> Self:
        """With other values, written."""
        return replace(self, **values).write()


def read_record(folder: Path) -> Record | None:
    """The record of a folder; None if it has none, or none that can be read."""
    try:
        values = json.loads(read_private(folder / RECORD))
        if values.pop("version") != _VERSION:
            return None
        return _adapter().validate_python({**values, "folder": folder})
    except (OSError, ValueError, KeyError, TypeError):
        return None


@cache
def _adapter() -> TypeAdapter[Record]:
    return TypeAdapter(Record)


def records_in(inbox: Inbox, place: Place) -> Iterator[Record]:
    """The records of the files in one of the private folders, oldest first."""
    for folder in folders_in(inbox, place):
        if (record := read_record(folder)) is not None:
            yield record


def folders_in(inbox: Inbox, place: Place) -> list[Path]:
    """The folders of files, sorted by name: by the time when they were taken."""
    path = inbox.place(place)
    if not path.is_dir():
        return []
    with os.scandir(path) as entries:
        return sorted(path / entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


class History:
    """The files of an inbox that were taken, by their patterns."""

    def __init__(self, inbox: Inbox) -> None:
        self._records = {record.folder.name: record for place in PLACES for record in records_in(inbox, place)}

    def add(self, record: Record) -> None:
        self._records[record.folder.name] = record

    def of(self, pattern: str | None) -> list[Record]:
        """Those of a pattern, in the order in which they were taken."""
        found = [record for record in self._records.values() if record.pattern == pattern]
        return sorted(found, key=lambda record: (record.taken_at, record.folder.name))

    def imported_with(self, contents: Contents, record: Record) -> Record | None:
        """Another file of the record's pattern with this content that was imported into this service."""
        others = (one for one in self.of(record.pattern) if one.folder.name != record.folder.name)
        return next((one for one in others if one.is_imported and one.contents == contents), None)

    def done_since(self, since: datetime) -> list[Record]:
        """Those that were done since then, and still are."""
        done = [record for record in self._records.values() if record.folder.parent.name == "done"]
        return [
            record for record in done if record.result and record.result.place == "done" and record.result.at > since
        ]

    def unreported(self) -> list[Record]:
        """Those that were moved before a crash, but not reported."""
        moved = [record for record in self._records.values() if record.folder.parent.name != "working"]
        return [record for record in moved if record.result is not None and not record.reported]
