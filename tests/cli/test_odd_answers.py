"""Answers that are no verdict on the run: one row's fate, words that mean something else, a pool's own refusal."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from typing import Any

from tests.cli.conftest import FrontDoor, Served, candidate, read_csv, write_csv
from tests.service.scripted import Script, answer, scripted

RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--json")
POOL = ("run", "people.csv", "--mapping", "pool.yaml", "--json")


def test_rows_that_are_refused_while_all_others_are_accepted(serve: Any, front_door: FrontDoor) -> None:
    """Five rows with five statuses are rejected with the service's words, all others created; nothing stops."""
    statuses = {20: 403, 50: 404, 90: 415, 120: 423, 180: 451}
    served: Served = serve(
        *(
            {"kind": "refuse", "emails": [f"person{number}@example.com"], "status": status, "message": "no", "times": 9}
            for number, status in statuses.items()
        )
    )
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(200)])
    ran = served(*RUN)
    assert (ran.code, ran.counts) == (4, {"created": 195, "rejected": 5})
    rejected = read_csv(front_door.folder / "results" / ran.summary["run"] / "400_rejected.csv")
    assert [(row["import_row"], row["import_problem"]) for row in rejected] == [
        (str(number + 2), f"the service rejected this row ({status}: no)") for number, status in statuses.items()
    ]
    again = served(*RUN)
    assert again.counts == {"already_imported": 195, "rejected": 5}
    assert len(served.accepted) == 195


def test_a_conflict_with_other_words_shows_them(front_door: FrontDoor) -> None:
    """A 409 can mean something else than that the candidate is there: its words stand in import_problem."""
    write_csv(front_door.folder / "people.csv", [candidate(1)])
    body = json.dumps({"detail": "record is being modified, retry"}).encode()
    with scripted(answer("409 Conflict", body)) as server:
        ran = front_door(*POOL, IMPORTER_BASE_URL=server.base_url, IMPORTER_TOKEN="t0ken")
    assert ran.counts == {"already_exists": 1}
    (row,) = read_csv(front_door.folder / "results" / ran.summary["run"] / "409_already_exists.csv")
    assert (row["import_problem"], row["import_hint"]) == (
        "the service responded 409: record is being modified, retry",
        "no action needed if that means: the candidate is there",
    )


def test_a_201_that_says_that_it_failed_is_a_warning_with_its_words(front_door: FrontDoor) -> None:
    """The row is created, as its status says; the warning has what the body says."""
    write_csv(front_door.folder / "people.csv", [candidate(1)])
    body = json.dumps({"success": False, "id": 5, "message": "quota exceeded", "cv": {"presigned_url": "x"}}).encode()
    with scripted(answer("201 Created", body)) as server:
        ran = front_door(*POOL, IMPORTER_BASE_URL=server.base_url, IMPORTER_TOKEN="t0ken")
    assert ran.counts == {"created": 1}
    (row,) = read_csv(front_door.folder / "results" / ran.summary["run"] / "201_created.csv")
    assert (row["import_problem"], row["import_hint"]) == (
        "created, but the response says that it failed: quota exceeded",
        "check in the service that the candidate exists",
    )


def test_people_whom_a_pool_has_already_and_refuses_with_400(front_door: FrontDoor) -> None:
    """The run goes on and names the setting; with it and --resend-rejected, all 90 are already there."""
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(90)])
    exists: Script = answer("400 Bad Request", b'{"email": ["Candidate is in this pool already."]}')
    with scripted(exists) as server:
        settings = {"IMPORTER_BASE_URL": server.base_url, "IMPORTER_TOKEN": "t0ken"}
        ran = front_door(*POOL, **settings)
        assert (ran.code, Counter(ran.counts)) == (4, {"rejected": 90})
        (group,) = ran.summary["problems"]
        assert group["count"] == 90
        assert (
            "IMPORTER_POOL_EXISTS"
            in read_csv(front_door.folder / "results" / ran.summary["run"] / "400_rejected.csv")[0]["import_hint"]
        )
        again = front_door(*POOL, "--resend-rejected", IMPORTER_POOL_EXISTS="in this pool ALREADY", **settings)
    assert (again.code, Counter(again.counts)) == (0, {"already_exists": 90})


def test_a_retry_after_of_nothing_is_no_invitation(front_door: FrontDoor) -> None:
    """`Retry-After: 0`, or a date in the past, for every request: at most two requests a second."""
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(20)])
    with scripted(answer("429 Too Many Requests", b"", "Retry-After: 0")) as server:
        settings = {"IMPORTER_BASE_URL": server.base_url, "IMPORTER_TOKEN": "t0ken", "IMPORTER_GIVE_UP_MINUTES": "0.1"}
        ran = front_door(*POOL, "--resend-unconfirmed", "never", IMPORTER_RESEND_DELAY_SECONDS="1", **settings)
    assert (ran.code, ran.counts) == (5, {"failed": 1, "not_sent": 19})
    assert len(server.requests) <= 12


def test_a_service_that_restarts_as_the_first_run_begins_is_waited_for(front_door: FrontDoor) -> None:
    """Although it has never answered at this address: it is back within half a minute."""
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(3)])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings = {"IMPORTER_BASE_URL": f"http://127.0.0.1:{port}", "IMPORTER_TOKEN": "t0ken"}
    with front_door.started(*POOL, **settings) as process:
        time.sleep(3)
        with scripted(answer("201 Created", b'{"id": 5}'), port=port) as server:
            out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert (json.loads(out)["outcomes"]["created"], len(server.requests)) == (3, 3)
