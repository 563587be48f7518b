"""The tools that import one CSV into one service, each as a command line."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.candidates import JOB_POST
from benchmarks.certificate import Certificate
from benchmarks.environments import Peer, Unavailable, cache, packages_of, python_of
from benchmarks.peers.bulk_post_body import template, write_renamed
from benchmarks.sink_process import ROOT

PEERS = Path(__file__).parent / "peers"
OURS = "importer"
OURS_FAST = "importer (fast)"
REQUESTS_LOOP = "requests loop"
PYCURL_LOOP = "pycurl loop"
_PYCURL = Peer("pycurl", "7.49.0")
_DLT = Peer("dlt", "1.31.0")
_BULK_POST = Peer("bulk-post", "0.3.0", newer=True)


@dataclass(frozen=True, slots=True)
class Job:
    """One import: the CSV, its mapping, the sink, the concurrency, and its own output folder."""

    source: Path
    mapping: Path
    url: str
    concurrency: int
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
    """A tool: its name in the tables, and its command for a job."""

    name: str
    call: Callable[[Job], Call]


@dataclass(frozen=True, slots=True)
class Contenders:
    """The tools that can run here, and a note on each that cannot."""

    available: tuple[Contender, ...]
    skipped: tuple[str, ...]


def importer_call(job: Job, *arguments: str, command: str = "run", paths: Sequence[Path] = ()) -> Call:
    """The importer command with check, ledger and reports. `paths`: where packages are looked up first."""
    ours = [sys.executable, "-m", "importer", command, str(job.source), "--mapping", str(job.mapping)]
    if command == "run":
        ours += ["--concurrency", str(job.concurrency), "--yes"]
    trusted = {"IMPORTER_CA_FILE": str(job.certificate.certificate)} if job.certificate else {}
    environment = {
        **trusted,
        "PYTHONPATH": os.pathsep.join(str(path) for path in [*paths, ROOT]),
        "IMPORTER_BASE_URL": job.url,
        "IMPORTER_TOKEN": "sink",
    }
    return Call([*ours, "--out", str(job.folder / "results"), "--quiet", *arguments], environment)


def find_contenders(wanted: Sequence[str] = ()) -> Contenders:
    """Importer, the bare loops and the peers (`wanted`, or all); creates missing environments of peers."""
    found: list[Contender] = []
    skipped: list[str] = []
    for name, make in _KNOWN.items():
        if wanted and name not in wanted:
            continue
        try:
            call = make()
        except Unavailable as reason:
            skipped.append(f"{name}: {reason}")
            continue
        if call is not None:
            found.append(Contender(name, call))
    return Contenders(tuple(found), tuple(skipped))


Calls = Callable[[Job], Call]


def _ours() -> Calls:
    hidden = cache() / "without-pycurl"
    hidden.mkdir(parents=True, exist_ok=True)
    (hidden / "pycurl.py").write_text('raise ImportError("hidden, to measure without it")\n', encoding="utf-8")
    return lambda job: importer_call(job, paths=[hidden])


def _ours_fast() -> Calls | None:
    """With pycurl, if this tree has the extra for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "fast" not in project.get("optional-dependencies", {}):
        return None
    packages = packages_of(python_of(_PYCURL))
    return lambda job: importer_call(job, paths=[packages])


def _script(name: str, python: Path) -> Calls:
    def call(job: Job) -> Call:
        trusted = ["--ca", str(job.certificate.certificate)] if job.certificate else []
        command = [str(python), str(PEERS / name), str(job.source), job.apply_url]
        return Call([*command, "--concurrency", str(job.concurrency), *trusted])

    return call


def _bulk_post() -> Calls:
    command = python_of(_BULK_POST).with_name("bulk-post")

    def call(job: Job) -> Call:
        source = write_renamed(job.source, job.folder / "renamed.csv")
        typed = [str(command), "--url", job.apply_url, "--csv", str(source), "--body", template()]
        typed += ["--auth-type", "bearer", "--token", "sink", "--parallel", "--concurrency-level", str(job.concurrency)]
        trusted = {"SSL_CERT_FILE": str(job.certificate.certificate)} if job.certificate else {}
        return Call(typed, trusted)

    return call


_KNOWN: dict[str, Callable[[], Calls | None]] = {
    OURS: _ours,
    OURS_FAST: _ours_fast,
    REQUESTS_LOOP: lambda: _script("requests_loop.py", Path(sys.executable)),
    PYCURL_LOOP: lambda: _script("pycurl_loop.py", python_of(_PYCURL)),
    str(_DLT): lambda: _script("dlt_load.py", python_of(_DLT)),
    str(_BULK_POST): _bulk_post,
}
