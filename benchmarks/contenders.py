"""Those who import one CSV into one service: each as the command that a person would type."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.candidates import JOB_POST
from benchmarks.certificate import Certificate
from benchmarks.sink_process import ROOT

PEERS = Path(__file__).parent / "peers"
OURS = "importer"


@dataclass(frozen=True, slots=True)
class Job:
    """One import: the CSV, its mapping, the sink, how many in flight, a folder of its own for what is written."""

    source: Path
    mapping: Path
    url: str
    in_flight: int
    folder: Path
    certificate: Certificate | None = None

    @property
    def apply_url(self) -> str:
        return f"{self.url}/api/v1/job-posts/{JOB_POST}/apply/"


@dataclass(frozen=True, slots=True)
class Call:
    """A command and what it needs in its environment."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contender:
    """A name for the tables, and how it does a job."""

    name: str
    call: Callable[[Job], Call]


def importer_call(job: Job, *arguments: str, command: str = "run") -> Call:
    """Our own command, whole: with check, ledger and reports."""
    ours = [sys.executable, "-m", "importer", command, str(job.source), "--mapping", str(job.mapping)]
    if command == "run":
        ours += ["--in-flight", str(job.in_flight)]
    paths = [str(job.certificate.trust)] if job.certificate else []
    environment = {
        "PYTHONPATH": os.pathsep.join([*paths, str(ROOT)]),
        "IMPORTER_BASE_URL": job.url,
        "IMPORTER_TOKEN": "sink",
    }
    return Call([*ours, "--out", str(job.folder / "results"), "--yes", "--quiet", *arguments], environment)


def _script(name: str) -> Callable[[Job], Call]:
    def call(job: Job) -> Call:
        trusted = ["--ca", str(job.certificate.certificate)] if job.certificate else []
        command = [sys.executable, str(PEERS / name), str(job.source), job.apply_url]
        return Call([*command, "--in-flight", str(job.in_flight), *trusted])

    return call


def _has(module: str) -> bool:
    return subprocess.run([sys.executable, "-c", f"import {module}"], check=False, capture_output=True).returncode == 0


def contenders() -> list[Contender]:
    """Ours first, then the bare loops that can run in our own environment."""
    found = [Contender(OURS, importer_call), Contender("requests loop", _script("requests_loop.py"))]
    if _has("pycurl"):
        found.append(Contender("pycurl loop", _script("pycurl_loop.py")))
    return found
