"""Accepted submissions: one application per person and job post, one candidate per person and pool."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from importer.sandbox.company import Company
from importer.sandbox.files import NotJson, SandboxUnusable, read_json

APPLY: Final = "apply"
ADD_TO_POOL: Final = "add-candidate"
_FIELDS: Final = {"operation": str, "target": str, "email": str, "body": dict, "at": str}
_SAFELY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)  # a link could lead to another file


class Memory:
    """Stores accepted submissions in order; with a journal, beyond the end of the process."""

    def __init__(self, company: Company, path: Path | None = None) -> None:
        """Starts with the known candidates of the company and the submissions in the journal at `path`.

        Raises SandboxUnusable: see `Journal`.
        """
        self._known: set[tuple[str, str, str]] = set()
        self._accepted: list[dict[str, Any]] = []
        for post in company.job_posts.values():
            self._add_known(APPLY, post.hash, post.already_applied)
        for pool in company.talent_pools.values():
            self._add_known(ADD_TO_POOL, pool.id, pool.already_exists)
        self._journal = Journal(path) if path else None
        for record in self._journal.records if self._journal else ():
            self._store(record)

    def accept(self, operation: str, target: str, body: dict[str, Any], at: datetime) -> bool:
        """Store a submission; False if this person already exists. E-mail addresses are compared casefolded.

        It is in the journal before this returns. Raises OSError, with nothing stored, if the journal cannot be written.
        """
        email = body["email"]
        if (operation, target, email.casefold()) in self._known:
            return False
        record = {"operation": operation, "target": target, "email": email, "body": body, "at": at.isoformat()}
        if self._journal:
            self._journal.append(record)
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
    """An open memory file with a submission in each line, in JSON."""

    def __init__(self, path: Path) -> None:
        """Open or create the file (mode 0600), lock it and read it; an incomplete last line is removed.

        Raises SandboxUnusable: the file cannot be opened, another sandbox uses it, or it has other lines.
        """
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | _SAFELY, 0o600)
        except OSError as error:
            message = f"the memory file cannot be opened: {error.strerror}; check the folder"
            raise SandboxUnusable(f"{path}: {message}") from error
        self._lock = FileLock(f"{path}.lock", mode=os.fstat(self._file).st_mode & 0o777 | 0o600)
        try:
            self._lock.acquire(timeout=0)
            self.records = self._read(path)
        except Timeout:
            self.close()
            message = "another sandbox is using this memory file; stop it, or use another file"
            raise SandboxUnusable(f"{path}: {message}") from None
        except SandboxUnusable:
            self.close()
            raise

    def append(self, record: dict[str, Any]) -> None:
        """Append a line completely or not at all. Returns after the operating system has it; raises OSError."""
        rest = line = json.dumps(record).encode() + b"\n"  # ASCII: a body may contain a lone surrogate
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            self._truncate(self._size)
            raise
        self._size += len(line)

    def clear(self) -> None:
        """Overwrite and remove all lines."""
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, bytes(self._size))
        os.fsync(self._file)
        self._truncate(0)

    def _truncate(self, size: int) -> None:
        os.ftruncate(self._file, size)
        os.lseek(self._file, size, os.SEEK_SET)
        self._size = size

    def close(self) -> None:
        os.close(self._file)
        self._lock.release()

    def _read(self, path: Path) -> list[dict[str, Any]]:
        content = path.read_bytes()
        self._size = content.rfind(b"\n") + 1
        records = [_record(line) for line in content[: self._size].splitlines()]
        advice = "this line is not from a sandbox memory file; use another file"
        if wrong := [number for number, record in enumerate(records, start=1) if record is None]:
            raise SandboxUnusable(f"{path}:{number}: {advice}" for number in wrong)
        self._truncate(self._size)
        return [record for record in records if record is not None]


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = read_json(line)
    except NotJson:
        return None
    if not isinstance(record, dict) or record.keys() != _FIELDS.keys():
        return None
    return record if all(isinstance(record[name], kind) for name, kind in _FIELDS.items()) else None


def forget(memory: Path, is_kept: Callable[[dict[str, Any]], bool]) -> None:
    """Remove the other submissions, and overwrite their bytes. Creates no file.

    Raises SandboxUnusable: a sandbox is using the file, or it is not a memory file.
    """
    if not memory.is_file():
        return
    journal = Journal(memory)
    try:
        kept = list(filter(is_kept, journal.records))
        if len(kept) < len(journal.records):
            journal.clear()
            for record in kept:
                journal.append(record)
    finally:
        journal.close()
