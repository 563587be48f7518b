"""Cuts the power under the ledger: what was written and not yet synced is lost, kept in part, or torn.

The real Ledger runs on a SQLite whose files go through a recording VFS (apsw). From the record the disk is built as it
may be found after a cut at any moment, and opened with the ledger as it is shipped. What it proves: no order of writes
that SQLite and we rely on is missing a sync. What it does not: a disk that lies about syncs.
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

from importer import sqlite_file
from importer.ledger import Answered, Attempt, Intent, LedgerStore, RunRecord, Scope, State, open_ledger
from importer.ledger.key import key_path
from importer.models import Operation, Target
from tests.ledger.given import intend

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
    """A file made shorter."""

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
    """The intent of this row was promised to be on disk, and its request may have gone."""

    row: int


@dataclass(frozen=True)
class Answer:
    """The answer to this row was handed over."""

    row: int


Happening = Write | Cut | Sync | Delete | Sent | Answer


class Record:
    """All that happened, in order."""

    def __init__(self) -> None:
        self.happenings: list[Happening] = []
        self._lock = threading.Lock()

    def add(self, happening: Happening) -> None:
        with self._lock:
            self.happenings.append(happening)


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
    """As much of sqlite3.Connection as the ledger uses, over apsw."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path), vfs="recording")
        self._connection.set_busy_timeout(30_000)

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> apsw.Cursor:
        try:
            return self._connection.execute(statement, tuple(parameters))
        except apsw.ConstraintError as error:
            raise sqlite3.IntegrityError(str(error)) from None
        except apsw.Error as error:
            raise sqlite3.OperationalError(str(error)) from None

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        for row in rows:
            self.execute(statement, row)

    def commit(self) -> None:
        if self._connection.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()


@contextmanager
def recording() -> Iterator[Record]:
    """While this is open, every connection to a ledger or journal is recorded."""
    record = Record()
    vfs = _RecordingVfs(record)
    try:
        with patch.object(sqlite_file, "connect", _Connection):
            yield record
    finally:
        vfs.unregister()


def record_a_run(folder: Path, rows: int, senders: int = 8) -> Record:
    """A run of so many rows, its answers handed over as they come, and the ledger closed in the end."""
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
                    ledger.record(Answered(attempt, State.CREATED, 201))

            threads = [threading.Thread(target=send) for _ in range(senders)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    return record


# --- after the cut ---


@dataclass
class Disk:
    """What is on the disk for sure, and what was written since the last sync of each file."""

    safe: dict[str, bytearray] = field(default_factory=dict)
    pending: dict[str, list[Write | Cut]] = field(default_factory=dict)
    maybe_deleted: dict[str, bytearray] = field(default_factory=dict)

    def take(self, happening: Happening) -> None:
        match happening:
            case Write(file) | Cut(file):
                self.pending.setdefault(file, []).append(happening)
            case Sync(file):
                if file not in self.safe:
                    # With the first sync of a new file SQLite's own VFS syncs the folder, and what was deleted is gone.
                    self.maybe_deleted.clear()
                _apply(self.safe.setdefault(file, bytearray()), self.pending.pop(file, []))
            case Delete(file, is_synced):
                content = self.safe.pop(file, None)
                self.pending.pop(file, None)
                self.maybe_deleted.pop(file, None)
                if content is not None and not is_synced:
                    self.maybe_deleted[file] = content

    def after_a_cut(self, luck: random.Random) -> dict[str, bytes]:
        """One of the ways in which the files may be found: nothing, a beginning, or any part of what was not synced."""
        found = {file: bytearray(content) for file, content in self.safe.items()}
        found |= {file: bytearray(content) for file, content in self.maybe_deleted.items() if luck.random() < 0.5}
        way = luck.choice(("lost", "prefix", "scattered", "torn"))
        for file, pending in self.pending.items():
            kept = _kept(pending, way, luck)
            if kept or luck.random() < 0.5:
                _apply(found.setdefault(file, bytearray()), kept)
        return {file: bytes(content) for file, content in found.items()}


def _kept(pending: list[Write | Cut], way: str, luck: random.Random) -> list[Write | Cut]:
    if way == "lost":
        return []
    if way == "scattered":
        return [happening for happening in pending if luck.random() < 0.5]
    kept = pending[: luck.randint(0, len(pending))]
    if way == "torn" and kept and isinstance(last := kept[-1], Write):
        whole = luck.randint(0, len(last.data) // _SECTOR) * _SECTOR
        kept[-1] = Write(last.file, last.offset, last.data[:whole])
    return kept


def _apply(content: bytearray, happenings: Sequence[Write | Cut]) -> None:
    for happening in happenings:
        if isinstance(happening, Cut):
            del content[happening.size :]
            continue
        end = happening.offset + len(happening.data)
        if len(content) < end:
            content.extend(bytes(end - len(content)))
        content[happening.offset : end] = happening.data


@dataclass
class PowerFigures:
    """What a series of power cuts showed."""

    cuts: int = 0
    happenings: int = 0
    promised: int = 0
    lost: int = 0
    unsound: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self) -> list[str]:
        return [
            f"power cuts           {self.cuts}, among {self.happenings} writes and syncs, {self.seconds:.0f} s",
            f"intents promised     {self.promised}, before all these cuts together",
            f"intents lost         {self.lost}",
            f"unsound ledgers      {len(self.unsound)}",
        ]


def cut_power(folder: Path, cuts: int, rows: int, seed: int = 1) -> PowerFigures:
    """Record one run, and look at the ledger as so many cuts at random moments may leave it."""
    began = time.monotonic()
    original = folder / "original"
    original.mkdir()
    record = record_a_run(original, rows)
    luck = random.Random(seed)
    figures = PowerFigures(cuts, len(record.happenings))
    moments = sorted(luck.randint(0, len(record.happenings)) for _ in range(cuts))
    disk, done = Disk(), 0
    sent: set[int] = set()
    answered: set[int] = set()
    for moment in moments:
        for happening in record.happenings[done:moment]:
            disk.take(happening)
            if isinstance(happening, Sent):
                sent.add(happening.row)
            elif isinstance(happening, Answer):
                answered.add(happening.row)
        done = moment
        _look(folder, disk.after_a_cut(luck), sent, answered, figures)
    figures.seconds = time.monotonic() - began
    return figures


def _look(folder: Path, files: dict[str, bytes], sent: set[int], answered: set[int], figures: PowerFigures) -> None:
    """Open what was found as the next run would, and count what is not as it was promised."""
    place = folder / "found"
    shutil.rmtree(place, ignore_errors=True)
    key = key_path(place / "ledger.sqlite")
    key.parent.mkdir(parents=True)
    shutil.copy(key_path(folder / "original" / "ledger.sqlite"), key)
    for name, content in files.items():
        (place / name).write_bytes(content)
    figures.promised += len(sent)
    with open_ledger(place / "ledger.sqlite") as ledger:
        ledger.begin_run(_run("run-2"))
        rows = {_identity(ledger, row): row for row in sent}
        known = {rows[identity]: found.state for identity, found in ledger.look_up(list(rows)).items()}
        figures.lost += len(sent) - len(known)
        figures.unsound += [str(problem) for problem in ledger.check()]
    figures.unsound += [f"row {row} is {state}" for row, state in known.items() if not _may_be(state, row in answered)]


def _may_be(state: State, is_answered: bool) -> bool:
    return state is State.UNCONFIRMED or (state is State.CREATED and is_answered)


def _identity(ledger: LedgerStore, row: int) -> bytes:
    return ledger.fingerprints.identity(SCOPE, f"person{row}@example.com")


def _run(name: str) -> RunRecord:
    return RunRecord(name, SCOPE, "a.csv", "ab" * 32, "m.yaml", "results", _NOON)
