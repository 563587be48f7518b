"""What the sandbox has accepted: one application for each person and job post, one candidate for each pool."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from importer.sandbox.company import Company
from importer.sandbox.http_messages import Operation
from importer.sandbox.json_reading import NotJson, SandboxUnusable, read_json

_FIELDS = {"operation": str, "target": str, "email": str, "body": dict, "at": str}
_OPERATIONS = (Operation.APPLY, Operation.ADD_TO_POOL)
_SAFELY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)  # a link could lead to somebody's own file


class Memory:
    """Remembers what was accepted, in order; with a journal it does so beyond the end of the process."""

    def __init__(self, company: Company, path: Path | None = None) -> None:
        """Begins with whom the company knows already, and with what the journal at `path` holds.

        Raises:
            SandboxUnusable: the journal cannot be opened, is held by another sandbox, or is no journal.
        """
        self._there: set[tuple[str, str, str]] = set()
        self._accepted: list[dict[str, Any]] = []
        for post in company.job_posts.values():
            self._know(Operation.APPLY, post.hash, post.already_applied)
        for pool in company.talent_pools.values():
            self._know(Operation.ADD_TO_POOL, pool.id, pool.already_exists)
        self._journal = Journal(path) if path else None
        for record in self._journal.records if self._journal else ():
            self._remember(record)

    def accept(self, operation: Operation, target: str, body: dict[str, Any], at: datetime) -> bool:
        """Remembers a submission; False if this person is there already. E-mails are told apart casefolded.

        The journal has it before this returns. Raises OSError, with nothing remembered, if it cannot be written.
        """
        email = body["email"]
        if (operation, target, email.casefold()) in self._there:
            return False
        record = {"operation": operation, "target": target, "email": email, "body": body, "at": at.isoformat()}
        if self._journal:
            self._journal.append(json.dumps(record).encode())
        self._remember(record)
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

    def _know(self, operation: str, target: str, emails: Iterable[str]) -> None:
        self._there.update((operation, target, email.casefold()) for email in emails)

    def _remember(self, record: dict[str, Any]) -> None:
        self._know(record["operation"], record["target"], [record["email"]])
        self._accepted.append(record)


class Journal:
    """An open memory file. What was appended is with the operating system before `append` returns."""

    def __init__(self, path: Path, *, wait: float = 10.0) -> None:
        """Opens or makes the file (mode 0600), locks it and reads it; a last line without its end is taken off.

        Another sandbox that holds the file is waited for: one whose parent was just killed is about to end.

        Raises:
            SandboxUnusable: the file cannot be opened, is held for longer than `wait` seconds, or holds other lines.
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
        """Adds a line (without its end) whole or not at all; raises OSError if it cannot be written."""
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
        """Overwrites all lines, and takes them off."""
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
                raise SandboxUnusable(f"{path}: another sandbox holds this memory file; stop it, or name another file")
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

    _FAR_BEYOND_THE_END = 0x7FFF0000  # a lock bars others from reading, so it lies where nothing is read

    def lock_file(file: int) -> bool:
        """Tries to lock a file descriptor; False if another process holds it."""
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
        """Tries to lock a file descriptor; False if another process holds it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def forget(memory: Path, before: datetime) -> None:
    """Remove the submissions accepted before that moment, and overwrite what they took. No file is made.

    Raises:
        SandboxUnusable: a sandbox is using the file, or it is none of a sandbox's.
    """
    if not memory.is_file():
        return
    journal = Journal(memory, wait=0.0)
    try:
        kept = [record for record in journal.records if datetime.fromisoformat(record["at"]) >= before]
        if len(kept) < len(journal.records):
            journal.clear()
            for record in kept:
                journal.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())
    finally:
        journal.close()
