"""Simulates power cuts under the ledger: unsynced writes are lost, kept in part, or partly written.

The real ledger runs on SQLite with a recording VFS (apsw). From the record, possible disk contents after a cut at any
moment are built and opened with the shipped ledger. This proves that no sync is missing that SQLite or the importer
relies on. It does not cover a disk that reports a sync it did not do.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw

from importer.ledger import Answered, Attempt, Intent, Ledger, RunRecord, Scope, State, open_ledger
from importer.ledger.fingerprints import key_path
from importer.models import Operation, Target
from tests.ledger.given import intend, problems_of

SCOPE = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))
_SECTOR = 512
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Write:
    file: str
    offset: int
    data: bytes


@dataclass(frozen=True)
class Cut:
    """A file was truncated."""

    file: str
    size: int


@dataclass(frozen=True)
class Sync:
    file: str


@dataclass(frozen=True)
class Delete:
    file: str
    is_synced: bool


@dataclass(frozen=True)
class Sent:
    """The intent of this row was confirmed to be on disk, and its request may have been sent."""

    row: int


@dataclass(frozen=True)
class Answer:
    """The response to this row was passed to the ledger."""

    row: int


Event = Write | Cut | Sync | Delete | Sent | Answer


class Record:
    """All events, in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._lock = threading.Lock()

    def add(self, event: Event) -> None:
        with self._lock:
            self.events.append(event)


# --- recording ---


class _RecordingVfs(apsw.VFS):
    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__("recording", "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _RecordingFile(self.record, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        super().xDelete(name, syncdir)
        self.record.add(Delete(Path(name).name, syncdir))


class _RecordingFile(apsw.VFSFile):
    def __init__(self, record: Record, name: Any, flags: list[int]) -> None:
        self._record = record
        self._name = Path(name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary").name
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._record.add(Write(self._name, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        self._record.add(Cut(self._name, size))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._record.add(Sync(self._name))


class _Connection:
    """The part of sqlite3.Connection that the ledger uses, over apsw."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path), vfs="recording")
        self._connection.set_busy_timeout(30_000)

    def cursor(self) -> _Cursor:
        return _Cursor(self._connection)

    def execute(self, statement: str) -> _Cursor:
        cursor = self.cursor()
        cursor.execute(statement)
        return cursor

    def create_function(self, *_: Any, **__: Any) -> None:
        """The ledger calls none of SQLAlchemy's functions."""

    def commit(self) -> None:
        if self._connection.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()


class _Cursor:
    """The part of sqlite3.Cursor that SQLAlchemy uses."""

    arraysize, lastrowid = 1, None

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._cursor.exec_trace = self._describe
        self.description: Any = None
        self.rowcount = -1
        self._rows: Iterator[Any] = iter(())

    def _describe(self, cursor: apsw.Cursor, _statement: str, _parameters: Any) -> bool:
        """Once a statement without a row has ended, apsw describes it no more."""
        self.description = [(name, *[None] * 6) for name, _ in cursor.get_description()] or None
        return True

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        before = self._connection.total_changes()
        try:
            self._rows = iter(self._cursor.execute(statement, tuple(parameters)).fetchall())
        except apsw.ConstraintError as error:
            raise sqlite3.IntegrityError(str(error)) from None
        except apsw.Error as error:
            raise sqlite3.OperationalError(str(error)) from None
        self.rowcount = self._connection.total_changes() - before

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        for row in rows:
            self.execute(statement, row)

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def close(self) -> None:
        self._cursor.close()


@contextmanager
def recording() -> Iterator[Record]:
    """Record every connection to a ledger or journal until the block ends."""
    record = Record()
    vfs = _RecordingVfs(record)
    try:
        with patch.object(sqlite3, "connect", lambda path, **_: _Connection(path)):
            yield record
    finally:
        vfs.unregister()


def record_a_run(folder: Path, rows: int, senders: int = 8) -> Record:
    """Record a run of `rows` rows; the ledger is closed at the end."""
    with recording() as record:
        path = folder / "ledger.sqlite"
        with open_ledger(path) as ledger:
            ledger.begin_run(_run("run-1"))
            left = iter(range(rows))
            lock = threading.Lock()

            def send() -> None:
                while True:
                    with lock:
                        row = next(left, None)
                    if row is None:
                        return
                    attempt = Attempt(_identity(ledger, row), "run-1", row, 1)
                    intend(ledger, Intent(attempt, ledger.fingerprints.body_digest(b"body")))
                    record.add(Sent(row))
                    record.add(Answer(row))
                    ledger.write([Answered(attempt, State.CREATED, 201)])

            threads = [threading.Thread(target=send) for _ in range(senders)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    return record


# --- after a cut ---


@dataclass
class Disk:
    """The synced content of each file, and the writes since its last sync."""

    synced: dict[str, bytearray] = field(default_factory=dict)
    pending: dict[str, list[Write | Cut]] = field(default_factory=dict)
    maybe_deleted: dict[str, bytearray] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        match event:
            case Write(file) | Cut(file):
                self.pending.setdefault(file, []).append(event)
            case Sync(file):
                if file not in self.synced:
                    # With the first sync of a new file SQLite's own VFS syncs the folder, and what was deleted is gone.
                    self.maybe_deleted.clear()
                _apply(self.synced.setdefault(file, bytearray()), self.pending.pop(file, []))
            case Delete(file, is_synced):
                content = self.synced.pop(file, None)
                self.pending.pop(file, None)
                self.maybe_deleted.pop(file, None)
                if content is not None and not is_synced:
                    self.maybe_deleted[file] = content

    def after_a_cut(self, rng: random.Random) -> dict[str, bytes]:
        """One possible state of the files: nothing, a prefix or any part of the unsynced writes is kept."""
        found = {file: bytearray(content) for file, content in self.synced.items()}
        found |= {file: bytearray(content) for file, content in self.maybe_deleted.items() if rng.random() < 0.5}
        way = rng.choice(("lost", "prefix", "scattered", "partial"))
        for file, pending in self.pending.items():
            kept = _kept(pending, way, rng)
            if kept or rng.random() < 0.5:
                _apply(found.setdefault(file, bytearray()), kept)
        return {file: bytes(content) for file, content in found.items()}


def _kept(pending: list[Write | Cut], way: str, rng: random.Random) -> list[Write | Cut]:
    if way == "lost":
        return []
    if way == "scattered":
        return [event for event in pending if rng.random() < 0.5]
    kept = pending[: rng.randint(0, len(pending))]
    if way == "partial" and kept and isinstance(last := kept[-1], Write):
        whole = rng.randint(0, len(last.data) // _SECTOR) * _SECTOR
        kept[-1] = Write(last.file, last.offset, last.data[:whole])
    return kept


def _apply(content: bytearray, events: Sequence[Write | Cut]) -> None:
    for event in events:
        if isinstance(event, Cut):
            del content[event.size :]
            continue
        end = event.offset + len(event.data)
        if len(content) < end:
            content.extend(bytes(end - len(content)))
        content[event.offset : end] = event.data


@dataclass
class PowerFigures:
    """The results of a series of power cuts."""

    cuts: int = 0
    events: int = 0
    confirmed: int = 0
    lost: int = 0
    inconsistent: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self) -> list[str]:
        return [
            f"power cuts           {self.cuts}, among {self.events} writes and syncs, {self.seconds:.0f} s",
            f"intents confirmed    {self.confirmed}, before all these cuts together",
            f"intents lost         {self.lost}",
            f"inconsistent ledgers {len(self.inconsistent)}",
        ]


def cut_power(folder: Path, cuts: int, rows: int, seed: int = 1) -> PowerFigures:
    """Record one run, and check the ledger after `cuts` power cuts at random moments."""
    began = time.monotonic()
    original = folder / "original"
    original.mkdir()
    record = record_a_run(original, rows)
    rng = random.Random(seed)
    figures = PowerFigures(cuts, len(record.events))
    moments = sorted(rng.randint(0, len(record.events)) for _ in range(cuts))
    disk, done = Disk(), 0
    sent: set[int] = set()
    answered: set[int] = set()
    for moment in moments:
        for event in record.events[done:moment]:
            disk.apply(event)
            if isinstance(event, Sent):
                sent.add(event.row)
            elif isinstance(event, Answer):
                answered.add(event.row)
        done = moment
        _check(folder, disk.after_a_cut(rng), sent, answered, figures)
    figures.seconds = time.monotonic() - began
    return figures


def _check(folder: Path, files: dict[str, bytes], sent: set[int], answered: set[int], figures: PowerFigures) -> None:
    """Open the ledger as the next run would, and count what is lost or inconsistent."""
    place = folder / "found"
    shutil.rmtree(place, ignore_errors=True)
    key = key_path(place / "ledger.sqlite")
    key.parent.mkdir(parents=True)
    shutil.copy(key_path(folder / "original" / "ledger.sqlite"), key)
    for name, content in files.items():
        (place / name).write_bytes(content)
    figures.confirmed += len(sent)
    with open_ledger(place / "ledger.sqlite") as ledger:
        ledger.begin_run(_run("run-2"))
        rows = {_identity(ledger, row): row for row in sent}
        known = {rows[identity]: found.state for identity, found in ledger.look_up(list(rows)).items()}
        figures.lost += len(sent) - len(known)
        figures.inconsistent += problems_of(ledger)
    figures.inconsistent += [
        f"row {row} is {state}" for row, state in known.items() if not _may_be(state, row in answered)
    ]


def _may_be(state: State, is_answered: bool) -> bool:
    return state is State.UNCONFIRMED or (state is State.CREATED and is_answered)


def _identity(ledger: Ledger, row: int) -> bytes:
    return ledger.fingerprints.identity(SCOPE, f"person{row}@example.com")


def _run(name: str) -> RunRecord:
    return RunRecord(name, SCOPE, _NOON)
