"""The memory file: one JSON line for each accepted submission, held by one sandbox at a time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from importer.sandbox.file_lock import lock_file
from importer.sandbox.strict_json import NotJson, read_json
from importer.sandbox.unusable import SandboxUnusable

_NAMES = {"operation": str, "target": str, "email": str, "body": dict, "at": str}
_SAFELY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)  # a link could lead to somebody's own file
_OPERATIONS = ("apply", "add-candidate")


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
                wrong.append(f"{path}:{number}: is no line of a sandbox memory; name another file")
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
    if not isinstance(record, dict) or record.keys() != _NAMES.keys():
        return None
    if not all(isinstance(record[name], kind) for name, kind in _NAMES.items()):
        return None
    return record if record["operation"] in _OPERATIONS else None
