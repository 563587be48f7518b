"""The log of a run: JSON lines in its folder, without personal data, the token or messages of the service."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Final, NamedTuple

from importer.app import orders
from importer.files import open_private
from importer.sending import RequestAnswered

LOG_FILE: Final = "log.jsonl"
_DELAY: Final = 1.0  # seconds in which requests are written together


class RunLog(AbstractContextManager["RunLog"]):
    """Logs events, and passes all of them to `listen`. A context manager that writes the rest.

    Texts that may quote a cell or the service are left out; their codes are logged. If the log cannot be written, the
    run continues without it.
    """

    def __init__(self, listen: orders.Listener) -> None:
        self._listen = listen
        self._run = '""'  # as JSON
        self._path: Path | None = None  # from `Planned` on, which makes the folder known
        self._lines: list[str] = []  # that are not written yet
        self._written_at = 0.0

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None:
            self._log("error", "failed", error=kind.__name__, exit_code=getattr(error, "exit_code", 1))
        self._write()

    def __call__(self, event: orders.Event) -> None:
        if not isinstance(event, orders.RowEnded):
            self._log_event(event)
            self._write()
        self._listen(event)

    def answered(self, request: RequestAnswered) -> None:
        """Log a request."""
        level = "info" if request.is_settled and request.attempt == 1 else "warning"
        status = "null" if request.status is None else request.status
        found = f'"row": {request.row}, "attempt": {request.attempt}, "status": {status}'
        self._put(level, "request", f'{found}, "milliseconds": {request.seconds * 1000:.0f}')

    def _log_event(self, event: orders.Event) -> None:
        match event:
            case orders.Planned(folder=folder) as one:
                self._path, self._run = folder / LOG_FILE, json.dumps(one.run)
                found = one.forecast
                counts = {"ready": found.ready, "held_back": found.held_back, "filtered": found.filtered}
                self._log("info", "planned", rows=found.rows, **counts, done=found.done)
            case orders.Started(target=target):
                self._log("info", "started", **{target.key: target.id})
            case orders.Paused(reason=reason, seconds=seconds, rows=rows):
                self._log("warning", "paused", reason=reason, seconds=round(seconds, 1), rows=rows)
            case orders.Resumed():
                self._log("warning", "resumed")
            case orders.Remark(text, is_detail=False):
                self._log("info", "remark", text=text)
            case orders.ReportWritten(summary=summary):
                if summary.stopped is not None:
                    self._log("warning", "stopped", code=summary.stopped.code)
                outcomes = {kind: count for kind, count in summary.outcomes.items() if count}
                self._log("info", "ended", exit_code=summary.exit_code, outcomes=outcomes)

    def _log(self, level: str, event: str, **values: Any) -> None:
        self._put(level, event, json.dumps(values)[1:-1])

    def _put(self, level: str, event: str, values: str) -> None:
        if self._path is not None:
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            known = f'"time": "{time}", "level": "{level}", "event": "{event}", "run": {self._run}'
            self._lines.append(f"{{{known}, {values}}}\n" if values else f"{{{known}}}\n")
            if monotonic() - self._written_at >= _DELAY:
                self._write()

    def _write(self) -> None:
        # Opened each time: the folder of a run that does not start can be removed at any time.
        lines, self._lines = self._lines, []
        self._written_at = monotonic()
        if self._path is None or not lines:
            return
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(open_private(self._path, flags), "wb") as file:
                file.write("".join(lines).encode())
        except OSError:
            self._path = None  # the last line may be cut: nothing is written after it


class LoggedRequest(NamedTuple):
    """One request for a row: when its response came or was given up, after how long, and its status, if any."""

    time: datetime
    seconds: float
    status: int | None


def requests_of(folder: Path, row: int) -> tuple[LoggedRequest, ...]:
    """The requests of a run for one row, in their order, as far as its log has them."""
    found: list[LoggedRequest] = []
    with suppress(OSError), (folder / LOG_FILE).open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if '"event": "request"' in line and f'"row": {row}, ' in line:
                with suppress(ValueError, KeyError):  # the last line of a killed run may be cut
                    one = json.loads(line)
                    time = datetime.fromisoformat(one["time"])
                    found.append(LoggedRequest(time, one["milliseconds"] / 1000, one["status"]))
    return tuple(found)
