"""What was asked of the sandbox: one line for each request, without bodies and without e-mail addresses."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from importer.sandbox.unusable import SandboxUnusable


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request: the status it was answered with (None: no answer was sent), its fault, and its time in ms."""

    at: str
    method: str
    path: str
    status: int | None
    fault: str | None
    ms: float


class RequestLog:
    """Writes requests to a file as JSON lines, and keeps them for whoever runs the sandbox in their own process."""

    def __init__(self, path: Path | None = None, *, keep: bool = False) -> None:
        """Raises SandboxUnusable if the file cannot be opened."""
        self.requests: list[LoggedRequest] = []
        self._keep = keep
        self._file = _open(path) if path else None

    def add(self, method: str, path: str, status: int | None, fault: str | None, seconds: float) -> None:
        """Logs one request; called before its answer leaves, so that whoever has the answer finds the line."""
        if not self._keep and not self._file:
            return
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        request = LoggedRequest(at, method, path, status, fault, round(seconds * 1000, 3))
        if self._keep:
            self.requests.append(request)
        if self._file:
            self._file.write(json.dumps(asdict(request)) + "\n")

    def close(self) -> None:
        if self._file:
            self._file.close()


def _open(path: Path) -> TextIO:
    try:
        return path.open("a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise SandboxUnusable(f"{path}: the log file cannot be opened: {error.strerror}; check the folder") from error
