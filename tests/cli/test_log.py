"""log.jsonl: the requests and events of a run, in its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from importer.app.orders import Forecast, Planned, ignore
from importer.app.run_log import RunLog
from importer.models import Operation, Target
from importer.problems import StoppedEarly
from tests.cli.conftest import Served, candidate, write_csv

Serve = Callable[..., Served]
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--json")


def log_of(folder: Path) -> list[dict[str, Any]]:
    """The lines of the only log, each with the keys that all have taken off."""
    (path,) = folder.glob("results/*/log.jsonl")
    assert path.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        assert datetime.fromisoformat(line.pop("time")).utcoffset() == timedelta(0)
        assert line.pop("run") == path.parent.name
    return lines


def without_times(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert all(line.pop("milliseconds") >= 0 for line in lines if line["event"] == "request")
    return lines


PLANNED = {"level": "info", "event": "planned", "rows": 4} | {
    "ready": 3, "held_back": 1, "filtered": 0, "done": 0,
}  # fmt: skip
STARTED = {"level": "info", "event": "started", "job_post": "4f2c9a"}
ENDED = {"level": "info", "event": "ended", "exit_code": 4, "outcomes": {"created": 3, "invalid": 1}}


def request(row: int, status: int | None = 201, attempt: int = 1, level: str = "info") -> dict[str, Any]:
    return {"level": level, "event": "request", "row": row, "attempt": attempt, "status": status}


RETRY = [request(2, 429, 1, "warning"), request(2, 201, 2, "warning")]


def test_each_request_and_event_is_logged(serve: Serve) -> None:
    """Row, attempt, status and time of each request; nothing of a person, and no token."""
    served = serve({"kind": "429", "emails": ["person0@example.com"], "times": 1})
    folder = served.door.folder
    write_csv(folder / "people.csv", [*(candidate(number) for number in range(3)), candidate(3, Phone="call me")])
    served(*RUN)
    expected = [PLANNED, STARTED, *RETRY, request(3), request(4), ENDED]
    assert sorted(without_times(log_of(folder)), key=str) == sorted(expected, key=str)  # rows end in any order
    (path,) = folder.glob("results/*/log.jsonl")
    text = path.read_text(encoding="utf-8")
    assert not [word for word in ("example.com", "Ada", "+90", "call me", "t0ken") if word in text]


def test_a_check_has_its_log_too(serve: Serve) -> None:
    """With what it has found."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1, Phone="call me")])
    served("check", *RUN[1:])
    assert [line["event"] for line in log_of(served.door.folder)] == ["planned", "ended"]


def test_a_pause_is_logged_with_its_reason(serve: Serve) -> None:
    """It says why nothing is sent, for how long, and how many rows wait."""
    wait = {"kind": "429", "emails": ["person0@example.com"], "times": 1, "retry_after": "seconds", "seconds": 2}
    served = serve(wait)
    write_csv(served.door.folder / "people.csv", [candidate(0)])
    assert served(*RUN).code == 0
    (paused,) = (line for line in log_of(served.door.folder) if line["event"] == "paused")
    assert 1.5 < paused.pop("seconds") <= 2
    assert paused == {
        "level": "warning",
        "event": "paused",
        "reason": "the service refuses too many requests (429)",
        "rows": 1,
    }


def test_a_stop_is_logged_without_the_message_of_the_service(serve: Serve) -> None:
    """It has its code: what the service wrote may be about a person."""
    served = serve({"kind": "refuse", "share": 1, "operation": "apply", "message": "Ada is not welcome"})
    folder = served.door.folder
    write_csv(folder / "people.csv", [candidate(number) for number in range(12)])
    assert served(*RUN).code == 5
    stopped = {"level": "warning", "event": "stopped", "code": "rejection-repeated"}
    assert stopped in log_of(folder)
    (path,) = folder.glob("results/*/log.jsonl")
    assert "welcome" not in path.read_text(encoding="utf-8")


def planned(folder: Path) -> Planned:
    target = Target(Operation.APPLY, "4f2c9a")
    return Planned(folder, folder.name, "sandbox", target, "CSV", False, "", Forecast(1, 1, 2, (), 0, 0, 0, (), ()))


def test_a_run_without_a_report_leaves_its_exit_code(tmp_path: Path) -> None:
    """What the error says may quote a cell, so only its kind is logged."""

    def stop_early() -> None:
        with RunLog(ignore) as log:
            log(planned(tmp_path))
            raise StoppedEarly("ada@example.com")

    with pytest.raises(StoppedEarly):
        stop_early()
    _, line = map(json.loads, (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines())
    assert (line["level"], line["event"], line["error"], line["exit_code"]) == ("error", "failed", "StoppedEarly", 5)
    assert "ada" not in json.dumps(line)


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    """Every event still reaches the listener."""
    (tmp_path / "log.jsonl").mkdir()
    events: list[object] = []
    with RunLog(events.append) as log:
        log(planned(tmp_path))
    assert len(events) == 1
