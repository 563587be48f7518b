"""Metrics of the last run of a job, as a file for the textfile collector of node_exporter."""

from __future__ import annotations

import re
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from importer.models import OutcomeKind
from importer.notices.job import JobEnded


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
