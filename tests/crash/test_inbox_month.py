"""A month of nights, with a clock of its own: each file is imported once, or waits in attention/ with a reason."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from importer.sandbox import SandboxOptions, running
from tests.cli.conftest import Served, front_door_in
from tests.crash.fork_server import Failpoint, ForkServer
from tests.crash.imports import SHORT_TIMEOUTS, write_mappings
from tests.inbox.conftest import RULES, Night, night_of

ROWS = 12  # of a file
NIGHTS = (1, 2, 3, 6, 7, 8, 10, 12, 14, 15, 17, 18, *range(22, 31))  # the other nights of the month have no file
HASTY = 'settle = "1s"\ngive_up_after = "1s"\n'


class Service:
    """A sandbox that can be stopped for a night; it remembers whom it accepted."""

    def __init__(self, memory: Path) -> None:
        self._options = SandboxOptions(token="t0ken", memory=memory)
        self.start()

    def start(self) -> None:
        self._context = running(self._options)
        self.sandbox = self._context.__enter__()
        self._options = replace(self._options, port=int(self.sandbox.base_url.rpartition(":")[2]))

    def stop(self) -> None:
        self._context.__exit__(None, None, None)


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file can grow beyond this size."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_month_of_nights(tmp_path: Path, fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some nights go wrong, and none of them loses a file or enters a person twice."""
    write_mappings(tmp_path)
    service, front_door = Service(tmp_path / "memory.jsonl"), front_door_in(tmp_path)
    monkeypatch.setenv("IMPORTER_BASE_URL", service.sandbox.base_url)
    monkeypatch.setenv("IMPORTER_TOKEN", "t0ken")
    try:
        night = night_of(Served(front_door, service.sandbox), monkeypatch, RULES + HASTY)
        all_nights(night, service, fork_server)
    finally:
        service.stop()


def all_nights(night: Night, service: Service, fork_server: ForkServer) -> None:
    incoming, nothing = night.folder / "incoming", night.at_sleep
    codes, found = dict[int, int](), dict[tuple[int, str], str]()

    def drop(number: int, name: str = "") -> Path:
        return night.drop(name or f"people{number:02}.csv", range(number * 100, number * 100 + ROWS))

    def kill_at(point: str) -> None:
        process = fork_server.start(
            night.folder.parent.resolve(),
            ("inbox", "run", "-q"),
            {**SHORT_TIMEOUTS, **{name: os.environ[name] for name in ("IMPORTER_TOKEN", "IMPORTER_BASE_URL")}},
            Failpoint(point),
        )
        assert process.end() == -9

    for number in NIGHTS:
        night.at, night.slept = night.at.replace(day=number), 0.0
        file, disk = drop(number), nullcontext()
        match number:
            case 3:  # half-written: its sender goes on while the worker looks
                whole = file.read_bytes()
                file.write_bytes(whole[:300])
                night.at_sleep = lambda file=file, whole=whole: (
                    file.write_bytes(whole) if file.exists() and file.stat().st_size == 300 else None
                )
            case 6:
                file.write_bytes(b"")
            case 8:  # yesterday's file again, under another name
                file.unlink()
                drop(7, "people08.csv")
            case 10:  # renamed: no pattern
                file.rename(incoming / "persons10.csv")
            case 12:
                file.write_text(file.read_text().replace("E-mail", "Mail"))
            case 14:
                service.stop()
            case 17:
                os.environ["IMPORTER_TOKEN"] = "expired"
            case 22:
                kill_at("before renaming to people22.csv")
            case 23:
                kill_at("before renaming to run.json")
            case 24:
                kill_at("after the commit of a response")
            case 25:
                kill_at("after the commit of the end of the run")
            case 26:
                (incoming / "link.csv").symlink_to("/etc/hostname")
            case 28:
                disk = full_disk(0)
            case 29:
                disk = full_disk(2_000)
        with disk:
            codes[number] = night.run()
        found |= {(number, reason.code): event.place for event in night.ended for reason in event.reasons}
        night.at_sleep = nothing
        os.environ["IMPORTER_TOKEN"] = "t0ken"
        if number == 14:
            service.start()
    assert {number: code for number, code in codes.items() if code} == {
        6: 3,
        8: 3,
        10: 3,
        12: 3,
        14: 5,
        17: 5,
        28: 3,
        29: 3,
    }
    assert found == {
        (6, "file-empty"): "attention",
        (8, "inbox-file-repeated"): "attention",
        (10, "inbox-file-unmatched"): "attention",
        (12, "column-not-found"): "attention",
        (14, "inbox-run-stopped"): "working",
        (17, "inbox-run-stopped"): "working",
        (29, "not-writable"): "working",
    }
    waiting = {6, 8, 10, 12}
    assert night.places["done"] == [f"people{number:02}.csv" for number in NIGHTS if number not in waiting]
    assert "working" not in night.places
    assert night.places["incoming"] == ["link.csv"]
    expected = [
        f"person{number * 100 + row}@example.com" for number in NIGHTS if number not in waiting for row in range(ROWS)
    ]
    assert sorted(body["email"] for body in service.sandbox.memory.accepted()) == sorted(expected)
