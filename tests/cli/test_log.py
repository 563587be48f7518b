"""log.jsonl: the requests and events of a run, in its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from importer.app.orders import Paused, Planned, ReadyRows, ignore
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
ROW = {"level": "debug", "event": "row", "row": 5, "outcome": "invalid", "codes": ["phone-invalid"]}
ENDED = {"level": "info", "event": "ended", "exit_code": 4, "outcomes": {"created": 3, "invalid": 1}}


def request(row: int, status: int | None = 201, attempt: int = 1, level: str = "info") -> dict[str, Any]:
    return {"level": level, "event": "request", "row": row, "attempt": attempt, "status": status}


RETRY = [request(2, 429, 1, "warning"), request(2, 201, 2, "warning")]


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        pytest.param("debug", [PLANNED, STARTED, ROW, *RETRY, request(3), request(4), ENDED], id="debug: all"),
        pytest.param(None, [PLANNED, STARTED, *RETRY, request(3), request(4), ENDED], id="info, the default"),
        pytest.param("warning", RETRY, id="warning: retries"),
    ],
)
def test_each_request_and_event_is_logged_from_the_level_on(
    serve: Serve, level: str | None, expected: list[dict[str, Any]]
) -> None:
    """Row, attempt, status and time of each request; nothing of a person, and no token."""
    served = serve({"kind": "429", "emails": ["person0@example.com"], "times": 1})
    folder = served.door.folder
    write_csv(folder / "people.csv", [*(candidate(number) for number in range(3)), candidate(3, Phone="call me")])
    served(*RUN, *(["--log-level", level] if level else []))
    key = str  # rows end in any order
    assert sorted(without_times(log_of(folder)), key=key) == sorted(expected, key=key)
    (path,) = folder.glob("results/*/log.jsonl")
    text = path.read_text(encoding="utf-8")
    assert not [word for word in ("example.com", "Ada", "+90", "call me", "t0ken") if word in text]


def test_a_check_has_its_log_too(serve: Serve) -> None:
    """The setting does what the flag does."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1, Phone="call me")])
    served("check", *RUN[1:], IMPORTER_LOG_LEVEL="debug")
    events = [(line["event"], line.get("codes")) for line in log_of(served.door.folder)]
    assert events == [("planned", None), ("started", None), ("row", ["phone-invalid"]), ("ended", None)]


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
    target = ReadyRows(folder.name, Target(Operation.APPLY, "4f2c9a"), 1, 1, 1, 0, 0, 0)
    return Planned(folder, "sandbox", "CSV", (target,), is_split=False, dry_run=False)


def test_a_run_without_a_report_leaves_its_exit_code(tmp_path: Path) -> None:
    """What the error says may quote a cell, so only its kind is logged."""

    def stop_early() -> None:
        with RunLog("error", ignore) as log:
            log(planned(tmp_path))
            raise StoppedEarly("ada@example.com")

    with pytest.raises(StoppedEarly):
        stop_early()
    (line,) = map(json.loads, (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines())
    assert (line["level"], line["event"], line["error"], line["exit_code"]) == ("error", "failed", "StoppedEarly", 5)
    assert "ada" not in json.dumps(line)


def test_a_long_log_is_continued_in_a_new_file(tmp_path: Path) -> None:
    """The older lines are kept under other names, whole and private, and the oldest are removed."""
    for number in range(8):  # each closes the log, which writes what it has; the next one goes on with it
        with RunLog("info", ignore, max_bytes=300) as log:
            log(planned(tmp_path))
            log(Paused(f"reason {number}", 1, 1, 1))
    names = ["log.jsonl.4", "log.jsonl.3", "log.jsonl.2", "log.jsonl.1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    lines = [json.loads(line) for name in names for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]
    assert [line["reason"] for line in lines if line["event"] == "paused"] == [f"reason {n}" for n in range(4, 8)]
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in names} == {0o600}


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    """Every event still reaches the listener."""
    (tmp_path / "log.jsonl").mkdir()
    events: list[object] = []
    with RunLog("info", events.append) as log:
        log(planned(tmp_path))
    assert len(events) == 1
