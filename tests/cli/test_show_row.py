"""`importer show RUN --row N`: one row with its cells, what was sent, its outcome and its requests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tests.cli.conftest import Served, candidate, read_csv, write_csv

Serve = Callable[..., Served]
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--json")


def test_a_row_that_was_sent(serve: Serve) -> None:
    """Its cells, what was sent, and each request with its time and its status."""
    served = serve({"kind": "429", "emails": ["person1@example.com"], "times": 1})
    write_csv(served.door.folder / "people.csv", [candidate(9), candidate(1, Phone="0555 000 0001", Salary="")])
    run = served(*RUN).summary["run"]
    shown = served("show", "last", "--row", "3", COLUMNS="80").out
    shown = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME", shown)
    shown = re.sub(r"\d+\.\d s", "SECONDS", shown)
    assert shown == (
        f"Row 3 of run {run}, for job post 4f2c9a: created (201)\n"
        "\n"
        "The cells of the row:\n"
        "  E-mail: person1@example.com\n"
        "  First: Ada\n"
        "  Last: Nr1\n"
        "  CV: 7001\n"
        "  Phone: 0555 000 0001\n"
        "  Permit: yes\n"
        "What was sent:\n"
        "  email: person1@example.com\n"
        "  first_name: Ada\n"
        "  last_name: Nr1\n"
        "  cv: 7001\n"
        "  phone: +905550000001\n"
        "  work_permit: yes\n"
        "\n"
        "Request of TIME: responded 429 after SECONDS\n"
        "Request of TIME: responded 201 after SECONDS\n"
    )


def test_a_row_whose_requests_are_not_in_the_log(serve: Serve) -> None:
    """It was sent, whatever the log has: a line may be cut."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    run = served(*RUN).summary["run"]
    (served.door.folder / "results" / run / "log.jsonl").write_text('{"event": "request", "row": 2, ', "utf-8")
    shown = served("show", "last", "--row", "2").out
    assert "What was sent:" in shown
    assert "The log of the run does not list its requests" in shown
    assert "No request was sent" not in shown


def test_a_row_that_was_held_back(serve: Serve) -> None:
    """Its problem and its cells are shown, and that nothing was sent."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1, Phone="call me")])
    run = served(*RUN).summary["run"]
    assert served("show", run, "--row", "2").out == (
        f"Row 2 of run {run}, for job post 4f2c9a: invalid\n"
        "people.csv, row 2, column \"Phone\": 'call me' is not a valid phone number [phone-invalid]\n"
        "  -> write it as +90 ..., or in the usual form for TR\n"
        "\n"
        "The cells of the row:\n"
        "  E-mail: person1@example.com\n"
        "  First: Ada\n"
        "  Last: Nr1\n"
        "  CV: 7001\n"
        "  Phone: call me\n"
        "  Permit: yes\n"
        "  Salary: 1000\n"
        "\n"
        "No request was sent for it in this run.\n"
    )


def test_a_row_as_json(serve: Serve) -> None:
    """With --json the same is one object."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    run = served(*RUN).summary["run"]
    shown = json.loads(served("show", run, "--row", "2", "--json").out)
    assert (shown["run"], shown["job_post"], shown["row"], shown["outcome"]) == (run, "4f2c9a", 2, "created")
    assert shown["cells"]["Phone"] == "+905550000001"
    assert shown["corrected"] == []
    assert [one["status"] for one in shown["requests"]] == [201]
    assert shown["body"] == served.sandbox.memory.accepted()[0]


def test_a_row_that_does_not_exist(serve: Serve) -> None:
    """The message says which numbers rows have."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    run = served(*RUN).summary["run"]
    ran = served("show", run, "--row", "9")
    assert (ran.code, ran.err) == (
        2,
        f"importer: run {run} has no row 9; use the number that a spreadsheet program shows\n",
    )


def test_a_row_that_the_run_skipped(serve: Serve) -> None:
    """Of a row that the run did not send, it is not said that something is sent, but which run imported it."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    first = served(*RUN).summary["run"]
    assert served(*RUN).counts == {"already_imported": 1}
    shown = served("show", "last", "--row", "2").out
    assert "What its request would contain:" in shown
    assert "What was sent" not in shown
    assert shown.endswith(f"No request was sent for it in this run.\nIt was imported by run {first}, row 2 there.\n")


def test_the_id_that_the_service_gave_back(serve: Serve) -> None:
    """A candidate of a talent pool is found again: by the row that was created, and by a later run."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2)])
    run = served("run", "people.csv", "--mapping", "pool.yaml", "--json").summary["run"]
    created = read_csv(served.door.folder / "results" / run / "201_created.csv")
    ids = [row["import_candidate_id"] for row in created]
    assert served("show", "--row", "3").out.endswith(f"\nID of the candidate in the service: {ids[1]}\n")
    served("run", "people.csv", "--mapping", "pool.yaml")
    assert served("show", "--row", "3").out.endswith(f"\nID of the candidate in the service: {ids[1]}\n")
    assert json.loads(served("show", "--row", "3", "--json").out)["candidate_id"] == int(ids[1])
