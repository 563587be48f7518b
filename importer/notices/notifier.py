"""Reports how scheduled runs end, to people and monitors, as the settings say. If that fails, the import goes on."""

from __future__ import annotations

import json
import logging
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, Literal

from importer.files import can_be_made_private, internal_folder, mode_for_others, read_private, read_regular, write_json
from importer.models import OutcomeKind
from importer.notices.job import JobEnded, causes_of
from importer.problems import ImporterError
from importer.report.summary import Summary
from importer.settings import Settings

_MAX_BYTES: Final = 1 << 20


class AddressesUnusable(Exception):
    """The file with the addresses cannot be used; the message says why, and what to do."""


def addresses_in(file: Path) -> list[str]:
    """The addresses of a file, one on a line; `#` begins a comment.

    Raises AddressesUnusable: it cannot be read, others can read it, or it has no address.
    """
    try:
        if mode_for_others(file) and can_be_made_private(file):
            raise AddressesUnusable(f"other users can read {file}, which has secrets; run: chmod 600 {file}")
        lines = read_regular(file, _MAX_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise AddressesUnusable(f"{file}, the file of IMPORTER_NOTIFY_FILE, cannot be read: {reason}") from None
    found = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not found:
        raise AddressesUnusable(f"{file}, the file of IMPORTER_NOTIFY_FILE, has no address; enter one on each line")
    return found


def described(number: int, address: str) -> str:
    """An address without its secrets, which its path or host may be: its place in the file and its kind."""
    kind = re.match(r"[a-z0-9+.-]+(?=://)", address)  # without one, it may be a secret alone
    return f"address {number} ({kind[0]})" if kind else f"address {number}"


def send(address: str, subject: str, body: str, kind: Literal["success", "warning", "failure"]) -> str:
    """Send a notice to one address; returns why that failed, or ""."""
    apprise = _apprise()
    if apprise is None:
        return "needs apprise; install it with: pip install 'candidate-importer[notify]'"
    service = apprise.Apprise()
    if not service.add(address):
        return "is of no kind that apprise knows"
    try:
        is_sent = service.notify(
            title=subject, body=body, notify_type=apprise.NotifyType(kind), body_format=apprise.NotifyFormat.TEXT
        )
    except Exception as error:  # noqa: BLE001 - of a plugin for one of a hundred services; the import must not end
        return f"failed: {type(error).__name__}"
    return "" if is_sent else "does not accept it, or cannot be reached"


_JOBS: Final = "jobs"  # a file for each, so that jobs that end together keep their states
_MOST_EVENTS: Final = 50  # of a job that are known again
_PING_SECONDS: Final = 4.0
_SECONDS: Final = 5.0  # after which no further address is tried; apprise itself waits for up to four

Report = Callable[[Summary | ImporterError, Path | None], None]
"""Gets the summary of a run and its folder, or what ended it."""


def _apprise() -> Any:
    """The library, or None if it is not installed."""
    try:
        import apprise
    except ImportError:
        return None
    logging.getLogger("apprise").propagate = False  # it may write addresses with their secrets
    return apprise


def described_addresses(settings: Settings) -> tuple[str, ...]:
    """For `importer doctor`: the addresses of notices without their secrets; none if notices are not set up.

    Raises AddressesUnusable: the file with the addresses cannot be used.
    """
    if settings.notify_file is None:
        return ()
    listed = addresses_in(settings.notify_file)
    names = [described(number, address) for number, address in enumerate(listed, start=1)]
    apprise = _apprise()  # that it is missing is told when a notice is sent
    if apprise and (wrong := [name for name, one in zip(names, listed, strict=True) if not apprise.Apprise().add(one)]):
        raise AddressesUnusable(f"{settings.notify_file}: apprise does not know {', '.join(wrong)}")
    return tuple(names)


class Notifier:
    """Reports the runs of scheduled jobs. on_failure: gets a sentence about what could not be sent or written."""

    def __init__(self, settings: Settings, on_failure: Callable[[str], None]) -> None:
        self._settings, self._on_failure = settings, on_failure

    def started(self) -> None:
        """Ping the monitor that a scheduled command starts."""
        self._ping("/start")

    @contextmanager
    def reporting(self, job: str, file: str) -> Iterator[Report]:
        """Report a command that runs one job: what the function gets, or the error that ended it."""
        self.started()
        ended = JobEnded(job, file, 1, now := datetime.now(UTC), now)

        def keep(what: Summary | ImporterError, folder: Path | None) -> None:
            nonlocal ended
            ended = replace(ended, exit_code=what.exit_code or 0)
            if isinstance(what, ImporterError):
                ended = replace(ended, causes=causes_of(what), summary=None)
            else:
                ended = replace(ended, summary=what, folder=folder)

        try:
            yield keep
        except ImporterError as error:
            keep(error, None)
            raise
        finally:
            self.job_ended(replace(ended, ended_at=datetime.now(UTC)))
            self.ended(ended.exit_code)

    def job_ended(self, ended: JobEnded) -> None:
        """Send a notice of a run if the settings ask for one, and write the metrics.

        A run in the sandbox counts for a job of its own: it must not hide that a real one is missing.
        """
        if ended.summary is not None and ended.summary.sandbox:
            ended = replace(ended, job=f"{ended.job} (sandbox)")
        try:
            before = self._record(ended)
            last_success = datetime.fromisoformat(before["last_success"]) if before.get("last_success") else None
            if self._settings.metrics_folder is not None:
                self._fail(write_metrics(self._settings.metrics_folder, ended, last_success))
            if self._settings.notify_file is None:
                return
            is_known = ended.event in before.get("events", ())
            if not is_known and (self._settings.notify == "always" or not ended.is_ok):
                self._send(ended)
        except (OSError, ImporterError) as error:
            self._fail(f"the notice of this run cannot be sent: {error}")

    def works_again(self, job: str) -> None:
        """What kept a job from starting is over, so that it is reported if it comes back."""
        now = datetime.now(UTC)
        with suppress(OSError, ImporterError):
            if self._state_of(job).get("state") == "failed":
                self.job_ended(JobEnded(job, job, 0, now, now))

    def ended(self, exit_code: int) -> None:
        """Ping the monitor that a scheduled command ended; with a failure unless no action is needed."""
        self._ping("" if exit_code == 0 else "/fail")

    # ------------------------------------------------------------------------------------------------

    def _send(self, ended: JobEnded) -> None:
        assert self._settings.notify_file is not None
        try:
            addresses = addresses_in(self._settings.notify_file)
        except AddressesUnusable as unusable:
            self._fail(f"no notice was sent: {unusable}")
            return
        began, notice = time.monotonic(), (ended.subject(), ended.body(), ended.kind)
        for number, address in enumerate(addresses, start=1):
            is_late = time.monotonic() - began > _SECONDS
            if error := "was not tried, since others took too long" if is_late else send(address, *notice):
                self._fail(f"a notice could not be sent: {described(number, address)} {error}")

    def _record(self, ended: JobEnded) -> dict[str, Any]:
        """Keep the state of the job, and return the one before: state, events, and the last success of all."""
        before, path = self._state_of(ended.job), self._file_of(ended.job)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        state, now = "ok" if ended.is_ok else "failed", _iso(ended.ended_at)
        success = now if ended.is_ok else before.get("last_success")
        known = [] if ended.is_ok else [*before.get("events", ()), *([ended.event] if ended.event else [])]
        values = {"state": state, "last_success": success, "events": known[-_MOST_EVENTS:]}
        write_json(path, {"version": 1, "job": values})
        return {**before, "last_success": success}

    def _file_of(self, job: str) -> Path:
        return internal_folder(self._settings.out) / _JOBS / f"{sha256(job.encode()).hexdigest()[:16]}.json"

    def _state_of(self, job: str) -> dict[str, Any]:
        try:
            return dict(json.loads(read_private(self._file_of(job)))["job"])
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _ping(self, suffix: str) -> None:
        if (url := self._settings.ping_url) is None:
            return
        try:
            with urllib.request.urlopen(url.get_secret_value().rstrip("/") + suffix, timeout=_PING_SECONDS):
                pass
        except (OSError, ValueError, HTTPException) as error:
            self._fail(f"the ping of IMPORTER_PING_URL failed: {type(error).__name__}")

    def _fail(self, sentence: str) -> None:
        if sentence:
            self._on_failure(sentence)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


# --- metrics ---


def write_metrics(folder: Path, ended: JobEnded, last_success: datetime | None) -> str:
    """Write `importer_<job>.prom`, atomically. Returns why that failed, or "".

    last_success: when a run of this job last ended with code 0.
    """
    try:
        from prometheus_client import CollectorRegistry, Gauge, write_to_textfile
    except ImportError:
        return "metrics need prometheus_client; install it with: pip install 'candidate-importer[notify]'"
    registry = CollectorRegistry()

    def gauge(name: str, help: str, value: float) -> None:
        Gauge(f"importer_{name}", help, ["job"], registry=registry).labels(ended.job).set(value)

    seconds = (ended.ended_at - ended.started_at).total_seconds()
    gauge("last_run_timestamp_seconds", "When the last run ended.", ended.ended_at.timestamp())
    gauge("last_run_exit_code", "The exit code of the last run: 0 if no action is needed.", ended.exit_code)
    gauge("last_run_duration_seconds", "How long the last run took.", seconds)
    if last_success is not None:
        gauge("last_success_timestamp_seconds", "When a run last ended with code 0.", last_success.timestamp())
    if (summary := ended.summary) is not None:
        rows = Gauge(
            "importer_last_run_rows", "Rows of the last run by outcome.", ["job", "outcome"], registry=registry
        )
        for kind in OutcomeKind:
            rows.labels(ended.job, kind.value).set(summary.outcomes[kind])
        sent, retried = summary.requests.sent, summary.requests.retried
        gauge("last_run_requests", "Requests that the last run sent.", sent)
        gauge("last_run_retries", "How many of them sent a row again.", retried)
        gauge("last_run_requests_per_second", "Requests per second, over the whole run.", sent / max(seconds, 0.001))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_to_textfile(str(folder / f"importer_{_slug(ended.job)}.prom"), registry)
    except OSError as error:
        return f"{folder}: the metrics cannot be written: {error.strerror or error}"
    return ""


def _slug(job: str) -> str:
    """A part of a file name; different for different jobs."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", job).strip("_")
    return plain if plain == job else f"{plain}_{sha256(job.encode()).hexdigest()[:6]}".lstrip("_")
