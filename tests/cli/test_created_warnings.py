"""A 201 means created; a body that does not match is only a warning."""

from __future__ import annotations

import json
import socket

from openpyxl import load_workbook

from tests.cli.conftest import FrontDoor, candidate, read_csv, write_csv
from tests.service.scripted import Script, answer, scripted


def answers_with(*bodies: str) -> Script:
    """A pool that creates everybody, and answers with these bodies in turn."""
    scripts = iter([answer("201 Created", body.encode()) for body in bodies])

    def script(peer: socket.socket) -> None:
        next(scripts)(peer)

    return script


def record(email: str, number: int = 5) -> str:
    return json.dumps(
        {"id": number, "email": email, "cv": {"presigned_url": "https://files.example.com/1?signature=s3cret"}}
    )


def test_a_created_row_whose_response_names_another_candidate_is_a_warning(front_door: FrontDoor) -> None:
    """It stays created; the terminal and the report name the row and the other address, also written anew."""
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(3)])
    bodies = [record("PERSON0@EXAMPLE.COM"), record("bob@example.com"), "<html>created</html>"]
    with scripted(answers_with(*bodies)) as server:
        settings = {"IMPORTER_BASE_URL": server.base_url, "IMPORTER_TOKEN": "t0ken"}
        ran = front_door("run", "people.csv", "--mapping", "pool.yaml", "--verbose", **settings)
    assert ran.code == 0
    (folder,) = (path for path in (front_door.folder / "results").iterdir() if (path / "summary.json").exists())
    warning = (
        "created, but the response contains another e-mail address: bob@example.com",
        "find the candidate in the service and correct it there; the row is not sent again",
    )
    unreadable = (
        "created, but the response has an unexpected format",
        "check in the service that the candidate exists",
    )
    for again in (False, True):
        if again:
            assert front_door("report", folder.name).code == 0
        reported = [(row["import_problem"], row["import_hint"]) for row in read_csv(folder / "201_created.csv")]
        assert reported == [("", ""), warning, unreadable]
        problems = json.loads((folder / "summary.json").read_text())["problems"]
        assert [(problem["what"], problem["hint"], problem["example_row"]) for problem in problems] == [
            (*warning, 3), (*unreadable, 4)
        ]  # fmt: skip
    output = " ".join((ran.out + ran.err).split())
    for text in (
        f"row 3: {warning[0]} [created-email-differs] -> {warning[1]}",
        f"row 4: {unreadable[0]} [created-response-invalid] -> {unreadable[1]}",
    ):
        assert text in output
    assert "Check the rows with a warning in 201_created.csv" in output
    kept = b"".join(path.read_bytes() for path in (front_door.folder / "results").rglob("*") if path.is_file())
    assert b"s3cret" not in kept


def test_the_created_rows_of_a_pool_carry_the_ids_of_their_candidates(front_door: FrontDoor) -> None:
    """File and sheet have them, also when the report is written again."""
    folder = front_door.folder
    write_csv(folder / "people.csv", [candidate(number) for number in range(3)])
    bodies = [record(f"person{number}@example.com", 4100 + number) for number in range(3)]
    with scripted(answers_with(*bodies)) as server:
        settings = {"IMPORTER_BASE_URL": server.base_url, "IMPORTER_TOKEN": "t0ken"}
        ran = front_door("run", "people.csv", "--mapping", "pool.yaml", "--json", **settings)
        results = folder / "results" / ran.summary["run"]
        assert front_door("report", "last").code == 0
        created = read_csv(results / "201_created.csv")
        assert [row["import_candidate_id"] for row in created] == ["4100", "4101", "4102"]
        rows = load_workbook(results / "report.xlsx")["201 created"].iter_rows(values_only=True)
        assert [row[5] for row in rows] == ["import_candidate_id", "4100", "4101", "4102"]
    kept = b"".join(path.read_bytes() for path in results.rglob("*") if path.is_file())
    assert b"s3cret" not in kept
