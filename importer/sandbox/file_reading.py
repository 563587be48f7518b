"""Reads a JSON file of the sandbox and gathers what is wrong with it, so that all of it is told at once."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from importer.sandbox.refusals import listed, quoted
from importer.sandbox.strict_json import NotJson, read_json
from importer.sandbox.unusable import SandboxUnusable

MAX_BYTES = 20_000_000


def read_json_file(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises:
        SandboxUnusable: the file cannot be read, or holds no JSON object.
    """
    try:
        status = path.stat()
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise SandboxUnusable(f"{path}: is a pipe or a device, which may never end; name a file")
        if status.st_size > MAX_BYTES:
            raise SandboxUnusable(f"{path}: is larger than {MAX_BYTES:,} bytes; name a smaller one")
        value = read_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise SandboxUnusable(f"{path}: cannot be read: {error.strerror}; check the path") from error
    except NotJson as error:
        raise SandboxUnusable(f"{path}: is no JSON: {error}; mend it there") from error
    if not isinstance(value, dict):
        raise SandboxUnusable(f"{path}: must hold a JSON object")
    return value


class Findings:
    """The problems of one file, each with the place inside it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems: list[str] = []

    def add(self, place: str, message: str) -> None:
        self._problems.append(f"{self._path}, {place}: {message}" if place else f"{self._path}: {message}")

    def unknown_names(self, place: str, value: dict[str, Any], known: tuple[str, ...]) -> None:
        """Tells each name of an object that is not among the known ones."""
        for name in value:
            if name not in known:
                self.add(place, f"unknown name {quoted(name)}; known are {listed(known)}")

    def raise_if_any(self) -> None:
        if self._problems:
            raise SandboxUnusable(self._problems)
