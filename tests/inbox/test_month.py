"""A month of nights, with a clock of its own: each file is imported once, or waits in attention/ with a reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Served
from tests.crash.fork_server import Failpoint, ForkServer
from tests.crash.imports import SHORT_TIMEOUTS
from tests.inbox.conftest import RULES, night_of

ROWS = 12  # of a usual file


@pytest.fixture
def fork_server() -> object:
    with ForkServer() as server:
        yield server


def test_a_month_of_nights(
    serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch, fork_server: ForkServer
) -> None:
    """30 files; some nights go wrong, and none of them loses a file or enters a person twice."""
    night = night_of(serve(), monkeypatch, RULES + 'settle = "1s"\ngive_up_after = "1s"\n')
    incoming, token = night.folder / "incoming", os.environ["IMPORTER_TOKEN"]
    address, codes, found = os.environ["IMPORTER_BASE_URL"], {}, {}
    nothing = night.at_sleep

    def drop(number: int, name: str = "", rows: int = ROWS) -> Path:
        return night.drop(name or f"people{number:02}.csv", range(number * 100, number * 100 + rows))

    def kill_at(point: str) -> None:
        process = fork_server.start(
            night.folder.parent.resolve(),
            ("inbox", "run", "-q"),
            {**SHORT_TIMEOUTS, "IMPORTER_TOKEN": token, "IMPORTER_BASE_URL": address},
            Failpoint(point),
        )
        assert process.end() == -9

    for number in range(1, 31):
        night.at, night.slept = night.at.replace(day=number), 0.0
        file = drop(number)
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
                monkeypatch.setenv("IMPORTER_BASE_URL", "http://127.0.0.1:9")
            case 17:
                monkeypatch.setenv("IMPORTER_TOKEN", "expired")
            case 20:
                drop(number, rows=5)
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
        codes[number] = night.run()
        found |= {(number, reason.code): event.place for event in night.ended for reason in event.reasons}
        night.at_sleep = nothing
        monkeypatch.setenv("IMPORTER_BASE_URL", address)
        monkeypatch.setenv("IMPORTER_TOKEN", token)
    assert {number: code for number, code in codes.items() if code} == {
        6: 3,
        8: 3,
        10: 3,
        12: 3,
        14: 5,
        17: 5,
        20: 3,
    }
    assert found == {
        (6, "file-empty"): "attention",
        (8, "inbox-file-repeated"): "attention",
        (10, "inbox-file-unmatched"): "attention",
        (12, "column-not-found"): "attention",
        (14, "inbox-run-stopped"): "working",
        (17, "inbox-run-stopped"): "working",
        (20, "inbox-file-smaller"): "attention",
    }
    waiting = {6, 8, 10, 12, 20}
    assert night.places["done"] == [f"people{number:02}.csv" for number in range(1, 31) if number not in waiting]
    assert "working" not in night.places
    assert night.places["incoming"] == ["link.csv"]
    expected = [
        f"person{number * 100 + row}@example.com"
        for number in range(1, 31)
        if number not in waiting
        for row in range(ROWS)
    ]
    assert sorted(night.served.accepted) == sorted(expected)
