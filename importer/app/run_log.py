"""The log of a run: JSON lines in its folder, without personal data, the token or messages of the service."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Final, NamedTuple, Self, get_args

from importer.app import orders
from importer.files import open_private
from importer.models import Outcome
from importer.sending import RequestAnswered
from importer.settings import LogLevel

LOG_FILE: Final = "log.jsonl"
_NAMES: Final = (LOG_FILE, *(f"{LOG_FILE}.{number}" for number in range(1, 5)))  # the newest lines first
_MAX_BYTES: Final = 50_000_000
_DELAY: Final = 1.0  # seconds in which requests are written together
_LEVELS: Final = get_args(LogLevel)


class RunLog:
    """Logs events from the given level on, and passes all of them to `listen`. A context manager that writes the rest.

    A run with several targets has one log, in the folder of the whole run. Texts that may quote a cell or the service
    are left out; their codes are logged. If the log cannot be written, the run continues without it. max_bytes: with
    more it is renamed and a new one begins; the oldest lines of a very long run are removed.
    """

    def __init__(self, level: LogLevel, listen: orders.Listener, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._levels = frozenset(_LEVELS[_LEVELS.index(level) :])
        self._listen = listen
        self._run = '""'  # the current one, as JSON
        self._path: Path | None = None  # from `Planned` on, which makes the folder known
        self._lines: list[str] = []  # that are not written yet
        self._written_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None:
            self._log("error", "failed", error=kind.__name__, exit_code=getattr(error, "exit_code", 1))
        self._write()

    def __call__(self, event: orders.Event) -> None:
        if not isinstance(event, orders.RowEnded):
            self._log_event(event)
            self._write()
        elif "debug" in self._levels and not event.outcome.attempts:
            self._log_unsent(event.outcome)
        self._listen(event)

    def answered(self, request: RequestAnswered) -> None:
        """Log a request."""
        level = "info" if request.is_settled and request.attempt == 1 else "warning"
        if level in self._levels:
            status = "null" if request.status is None else request.status
            found = f'"row": {request.row}, "attempt": {request.attempt}, "status": {status}'
            self._put(level, "request", f'{found}, "milliseconds": {request.seconds * 1000:.0f}')

    def _log_unsent(self, outcome: Outcome) -> None:
        codes = list(dict.fromkeys(problem.code for problem in outcome.problems))
        self._log("debug", "row", row=outcome.row, outcome=outcome.kind, codes=codes)

    def _log_event(self, event: orders.Event) -> None:
        match event:
            case orders.Planned(folder=folder, targets=targets):
                self._path = folder / LOG_FILE
                for one in targets:
                    self._run = json.dumps(one.run)
                    counts = {"ready": one.ready, "held_back": one.held_back, "filtered": one.filtered}
                    self._log("info", "planned", rows=one.rows, **counts, done=one.done)
                self._run = json.dumps(folder.name)
            case orders.Started(run=run, target=target):
                self._run = json.dumps(run)
                self._log("info", "started", **{target.key: target.id})
            case orders.Paused(reason=reason, seconds=seconds, rows=rows):
                self._log("warning", "paused", reason=reason, seconds=round(seconds, 1), rows=rows)
            case orders.Resumed():
                self._log("warning", "resumed")
            case orders.Stopped(code=code):
                self._log("warning", "stopped", code=code)
            case orders.TargetBlocked(run=run):
                self._log("warning", "blocked", target=run)
            case orders.EarlierRunEnded(run=run):
                self._log("info", "earlier-run-ended", earlier=run)
            case orders.ReportWritten(summary=summary):
                self._run = json.dumps(summary.run)
                outcomes = {kind: count for kind, count in summary.outcomes.items() if count}
                self._log("info", "ended", exit_code=summary.exit_code, outcomes=outcomes)

    def _log(self, level: LogLevel, event: str, **values: Any) -> None:
        if level in self._levels:
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
                size = file.seek(0, os.SEEK_END)
            if size >= self._max_bytes:
                self._rotate(self._path)
        except OSError:
            self._path = None  # the last line may be cut: nothing is written after it

    @staticmethod
    def _rotate(path: Path) -> None:
        for name, older in reversed(list(pairwise(_NAMES))):
            with suppress(FileNotFoundError):
                path.with_name(name).replace(path.with_name(older))


class LoggedRequest(NamedTuple):
    """One request for a row: when its response came or was given up, after how long, and its status, if any."""

    time: datetime
    seconds: float
    status: int | None


def requests_of(folder: Path, run: str, row: int) -> tuple[LoggedRequest, ...]:
    """The requests of a run for one row, in their order, as far as its log has them. folder: of the whole run."""
    found: list[LoggedRequest] = []
    for line in chain.from_iterable(_lines(folder / name) for name in reversed(_NAMES)):
        if '"event": "request"' in line and f'"row": {row}, ' in line:
            with suppress(ValueError, KeyError):  # the last line of a killed run may be cut
                one = json.loads(line)
                if one["run"] == run:
                    time = datetime.fromisoformat(one["time"])
                    found.append(LoggedRequest(time, one["milliseconds"] / 1000, one["status"]))
    return tuple(found)


def _lines(path: Path) -> Iterator[str]:
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        yield from file
