"""Accepted submissions: one application per person and job post, one candidate per person and pool.

A memory file has a submission in each line, in JSON. It is private, and one sandbox at a time uses it.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from importer.sandbox.company import Company
from importer.sandbox.files import SandboxUnusable

APPLY: Final = "apply"
ADD_TO_POOL: Final = "add-candidate"
_FIELDS: Final = {"operation", "target", "email", "body", "at"}
_FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
Record = dict[str, Any]


class Memory:
    """Stores accepted submissions in order; with a file, beyond the end of the process."""

    def __init__(self, company: Company, path: Path | None = None) -> None:
        """Starts with the known candidates of the company and the submissions in the file.

        Raises SandboxUnusable: the file cannot be opened, another sandbox uses it, or it has other lines.
        """
        self._known: set[tuple[str, str, str]] = set()
        self._accepted: list[Record] = []
        for post in company.job_posts.values():
            self._know(APPLY, post.hash, post.already_applied)
        for pool in company.talent_pools.values():
            self._know(ADD_TO_POOL, pool.id, pool.already_exists)
        self._opened, self._file = ExitStack(), None
        if path is not None:
            self._file, records = self._opened.enter_context(_opened(path))
            for record in records:
                self._store(record)

    def accept(self, operation: str, target: str, body: dict[str, Any], at: datetime) -> bool:
        """Store a submission; False if this person already exists. E-mail addresses are compared casefolded.

        It is in the file before this returns. Raises OSError, with nothing stored, if that cannot be written.
        """
        email = body["email"]
        if (operation, target, email.casefold()) in self._known:
            return False
        record = {"operation": operation, "target": target, "email": email, "body": body, "at": at.isoformat()}
        if self._file is not None:
            _append(self._file, record)
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
        self._opened.close()

    def _know(self, operation: str, target: str, emails: Iterable[str]) -> None:
        self._known.update((operation, target, email.casefold()) for email in emails)

    def _store(self, record: Record) -> None:
        self._know(record["operation"], record["target"], [record["email"]])
        self._accepted.append(record)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[FileIO, list[Record]]]:
    """The file, created if there is none, and what it has. A last line that a crash has cut off is removed."""
    try:
        descriptor = os.open(path, _FLAGS, 0o600)  # no link: it could lead to another file
    except OSError as error:
        message = f"the memory file cannot be opened: {error.strerror}; check the folder"
        raise SandboxUnusable(f"{path}: {message}") from error
    with FileIO(descriptor, "r+") as file, ExitStack() as locked:
        lock = FileLock(f"{path}.lock", timeout=0, mode=os.fstat(descriptor).st_mode & 0o777 | 0o600)
        try:
            locked.enter_context(lock)
        except Timeout:
            message = "another sandbox is using this memory file; stop it, or use another file"
            raise SandboxUnusable(f"{path}: {message}") from None
        content = file.readall()
        end = content.rfind(b"\n") + 1
        try:
            records = [json.loads(line) for line in content[:end].splitlines()]
        except ValueError:
            records = [None]
        is_cut_off = content[end:].startswith(b"{")
        if not all(isinstance(one, dict) and one.keys() == _FIELDS for one in records) or (
            content[end:] and not is_cut_off
        ):
            raise SandboxUnusable(f"{path}: this is not a memory file of a sandbox; use another file")
        file.truncate(end)
        yield file, records


def _append(file: FileIO, record: Record) -> None:
    """Append a line completely or not at all. Returns after the operating system has it; raises OSError."""
    line = json.dumps(record).encode() + b"\n"  # ASCII: a body may contain a lone surrogate
    size = file.seek(0, os.SEEK_END)
    try:
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        file.truncate(size)
        raise
