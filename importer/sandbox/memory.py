"""Accepted submissions: one application per person and job post, one candidate per person and pool."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from importer.sandbox.company import Company
from importer.sandbox.http_messages import Operation
from importer.sandbox.json_reading import NotJson, SandboxUnusable, read_json

_FIELDS = {"operation": str, "target": str, "email": str, "body": dict, "at": str}
_OPERATIONS = (Operation.APPLY, Operation.ADD_TO_POOL)
_SAFELY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)  # a link could lead to another file of the user


class Memory:
    """Stores accepted submissions in order; with a journal, beyond the end of the process."""

    def __init__(self, company: Company, path: Path | None = None) -> None:
        """Starts with the known candidates of the company and the submissions in the journal at `path`.

        Raises:
            SandboxUnusable: the journal cannot be opened, is used by another sandbox, or is not a journal.
        """
        self._known: set[tuple[str, str, str]] = set()
        self._accepted: list[dict[str, Any]] = []
        for post in company.job_posts.values():
            self._add_known(Operation.APPLY, post.hash, post.already_applied)
        for pool in company.talent_pools.values():
            self._add_known(Operation.ADD_TO_POOL, pool.id, pool.already_exists)
        self._journal = Journal(path) if path else None
        for record in self._journal.records if self._journal else ():
            self._store(record)

    def accept(self, operation: Operation, target: str, body: dict[str, Any], at: datetime) -> bool:
        """Store a submission; False if this person already exists. E-mail addresses are compared casefolded.

        It is in the journal before this returns. Raises OSError, with nothing stored, if the journal cannot be written.
        """
        email = body["email"]
        if (operation, target, email.casefold()) in self._known:
            return False
        record = {"operation": operation, "target": target, "email": email, "body": body, "at": at.isoformat()}
        if self._journal:
            self._journal.append(_line(record))
        self._store(record)
        return True

    def accepted(self, operation: str | None = None, target: str | None = None) -> list[dict[str, Any]]:
        """The bodies accepted so far, in order; of one operation ("apply", "add-candidate") or target if given."""
        return [
            record["body"]
            for record in self._accepted
            if operation in (None, record["operation"]) and target in (None, record["target"])
        ]

    def __len__(self) -> int:
        return len(self._accepted)

    def close(self) -> None:
        if self._journal:
            self._journal.close()

    def _add_known(self, operation: str, target: str, emails: Iterable[str]) -> None:
        self._known.update((operation, target, email.casefold()) for email in emails)

    def _store(self, record: dict[str, Any]) -> None:
        self._add_known(record["operation"], record["target"], [record["email"]])
        self._accepted.append(record)


class Journal:
    """An open memory file. `append` returns after the operating system has the line."""

    def __init__(self, path: Path, *, wait: float = 10.0) -> None:
        """Open or create the file (mode 0600), lock it and read it; an incomplete last line is removed.

        Waits for another sandbox that uses the file: one whose parent was killed is about to end.

        Raises:
            SandboxUnusable: the file cannot be opened, is used for longer than `wait` seconds, or has other lines.
        """
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | _SAFELY, 0o600)
        except OSError as error:
            raise SandboxUnusable(
                f"{path}: the memory file cannot be opened: {error.strerror}; check the folder"
            ) from error
        self._size = 0
        try:
            self._lock(path, wait)
            self.records = self._read(path)
        except SandboxUnusable:
            os.close(self._file)
            raise

    def append(self, line: bytes) -> None:
        """Append a line (without its end) completely or not at all; raises OSError if it cannot be written."""
        rest = line + b"\n"
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            raise
        self._size += len(line) + 1

    def clear(self) -> None:
        """Overwrite and remove all lines."""
        os.lseek(self._file, 0, os.SEEK_SET)
        left = self._size
        while left > 0:
            left -= os.write(self._file, bytes(min(left, 1 << 20)))
        os.fsync(self._file)
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._size = 0

    def close(self) -> None:
        os.close(self._file)

    def _lock(self, path: Path, wait: float) -> None:
        deadline = time.monotonic() + wait
        while not lock_file(self._file):
            if time.monotonic() > deadline:
                raise SandboxUnusable(
                    f"{path}: another sandbox is using this memory file; stop it, or use another file"
                )
            time.sleep(0.02)

    def _read(self, path: Path) -> list[dict[str, Any]]:
        with open(self._file, "rb", closefd=False) as file:
            content = file.read()
        self._size = content.rfind(b"\n") + 1
        records: list[dict[str, Any]] = []
        wrong = []
        for number, line in enumerate(content[: self._size].splitlines(), start=1):
            record = _read_record(line)
            if record is None:
                wrong.append(f"{path}:{number}: this line is not from a sandbox memory file; use another file")
            else:
                records.append(record)
        if wrong:
            raise SandboxUnusable(wrong)
        if len(content) > self._size:
            os.ftruncate(self._file, self._size)
        os.lseek(self._file, self._size, os.SEEK_SET)
        return records


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()  # ASCII: a body may contain a lone surrogate


def _read_record(line: bytes) -> dict[str, Any] | None:
    try:
        record = read_json(line)
    except NotJson:
        return None
    if not isinstance(record, dict) or record.keys() != _FIELDS.keys():
        return None
    has_types = all(isinstance(record[name], kind) for name, kind in _FIELDS.items())
    return record if has_types and record["operation"] in _OPERATIONS else None


if sys.platform == "win32":
    import msvcrt

    _FAR_BEYOND_THE_END = 0x7FFF0000  # locked bytes cannot be read, so the lock is far beyond the end

    def lock_file(file: int) -> bool:
        """Try to lock a file descriptor; False if another process has the lock."""
        position = os.lseek(file, 0, os.SEEK_CUR)
        os.lseek(file, _FAR_BEYOND_THE_END, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(file, position, os.SEEK_SET)
        return True

else:
    import fcntl

    def lock_file(file: int) -> bool:
        """Try to lock a file descriptor; False if another process has the lock."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def forget(memory: Path, is_kept: Callable[[dict[str, Any]], bool]) -> None:
    """Remove the other submissions, and overwrite their bytes. Creates no file.

    Raises:
        SandboxUnusable: a sandbox is using the file, or it is not a memory file.
    """
    if not memory.is_file():
        return
    journal = Journal(memory, wait=0.0)
    try:
        kept = list(filter(is_kept, journal.records))
        if len(kept) < len(journal.records):
            journal.clear()
            for record in kept:
                journal.append(_line(record))
    finally:
        journal.close()
