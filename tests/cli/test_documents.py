"""The CVs of a migration: found beside the file, checked before anything is sent, and sent by their IDs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Served

Serve = Callable[..., Served]
MAPPING = """
version: 1
target: {job_post: 4f2c9a}
candidate:
  email: E-mail
  first_name: First name
  last_name: Last name
  cv: {column: CV file, folder: cvs}
answers:
  phone: Phone
  work_permit: Permit
"""
PEOPLE = ("ada", "bob", "cem", "dora")


@pytest.fixture
def served(serve: Serve) -> Served:
    """Four people, and a folder with the CV of each, beside the file."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING, "utf-8")
    (folder / "cvs").mkdir()
    rows = [["E-mail", "First name", "Last name", "CV file", "Phone", "Permit"]]
    for name in PEOPLE:
        (folder / "cvs" / f"{name}.pdf").write_bytes(b"%PDF-1.7\n" + name.encode())
        file = f"C:\\ats\\{name}.PDF"
        rows.append([f"{name}@example.com", name.title(), "Example", file, "+44 20 7946 0101", "yes"])
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows(rows)
    return served


def _fill_in(path: Path, ids: dict[str, str]) -> None:
    """As a person does after the upload, in a spreadsheet program that writes semicolons."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows({**row, "document_id": ids.get(row["file"], row["document_id"])} for row in rows)


def _sent(served: Served) -> dict[str, str]:
    return {body["email"].partition("@")[0]: body["cv"] for body in served.sandbox.memory.accepted()}


def test_documents_are_sent_by_the_ids_that_a_person_fills_in(served: Served) -> None:
    """list, upload, fill in, run: each person gets the ID of the own file; a later list keeps what was filled in."""
    folder = served.door.folder
    held = served("run", "people.csv", "--mapping", "mapping.yaml")
    assert (held.code, _sent(served)) == (4, {})
    assert "has no document ID yet [document-without-id]" in " ".join(held.out.split())
    listed = served("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    assert listed.code == 0
    assert "4 documents of rows can be used: 0 have a document ID, 4 do not. 0 of 4 files" in listed.out
    path = folder / "documents.csv"
    _fill_in(path, {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE[:3])})
    open_one = served("documents", "check", "people.csv", "--mapping", "mapping.yaml", "--json")
    assert (open_one.code, json.loads(open_one.out)["with_id"]) == (4, 3)
    assert served("run", "people.csv", "--mapping", "mapping.yaml").code == 4
    assert _sent(served) == {"ada": "100", "bob": "101", "cem": "102"}
    served("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    _fill_in(path, {"cvs/dora.pdf": "103"})
    assert served("documents", "check", "people.csv", "--mapping", "mapping.yaml").code == 0
    assert served("run", "people.csv", "--mapping", "mapping.yaml").code == 0
    assert _sent(served) == {"ada": "100", "bob": "101", "cem": "102", "dora": "103"}


def test_a_file_that_was_replaced_does_not_get_the_id_of_the_old_one(served: Served) -> None:
    """An ID belongs to a content: the row is held back."""
    served("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    path = served.door.folder / "documents.csv"
    _fill_in(path, {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE)})
    (served.door.folder / "cvs" / "bob.pdf").write_bytes(b"%PDF-1.7\nanother")
    assert served("run", "people.csv", "--mapping", "mapping.yaml").code == 4
    assert _sent(served) == {"ada": "100", "cem": "102", "dora": "103"}


def test_what_is_wrong_is_told_before_anything_is_sent(served: Served) -> None:
    """Missing, empty, two people with one file, and files of nobody: each with its cell, all at once."""
    folder = served.door.folder
    rows = (folder / "people.csv").read_text("utf-8")
    (folder / "people.csv").write_text(rows.replace("cem.PDF", "gone.pdf").replace("dora.PDF", "ada.pdf"), "utf-8")
    (folder / "cvs" / "bob.pdf").write_bytes(b"")
    checked = served("check", "people.csv", "--mapping", "mapping.yaml", "--verbose")
    assert checked.code == 4
    for line in (
        "'ada.pdf' in cvs is the document of 2 people (rows 2, 5) [document-shared]",
        "'bob.pdf' in cvs is empty [document-unusable]",
        "[document-missing]",
        "2 of its 4 files are the document of no row: cem.pdf, dora.pdf",
    ):
        assert line in " ".join(checked.err.split()) or line in " ".join(checked.out.split())
    assert served.sandbox.requests == [one for one in served.sandbox.requests if one.method == "GET"]


def test_a_fixed_report_and_a_resumed_run_find_the_folder_again(served: Served) -> None:
    """Their file is the copy of the run, and the folder is where it was."""
    folder = served.door.folder
    served("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    _fill_in(folder / "documents.csv", {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE)})
    rows = (folder / "people.csv").read_text("utf-8")
    (folder / "people.csv").write_text(rows.replace("cem.PDF", "cem2.pdf"), "utf-8")
    assert served("run", "people.csv", "--mapping", "mapping.yaml").code == 4
    (folder / "cvs" / "cem2.pdf").write_bytes((folder / "cvs" / "cem.pdf").read_bytes())
    assert served("resume").code in (0, 4)
    again = served("run", "people.csv", "--mapping", "mapping.yaml")
    assert again.code == 0, again.err
    assert _sent(served)["cem"] == "102"


def test_the_sandbox_invents_ids_and_says_so(served: Served) -> None:
    """A trial run shows everything else before a single file is uploaded."""
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--sandbox", "--verbose")
    assert ran.code == 0
    assert "4 documents have no ID yet, and get an invented one in the sandbox" in " ".join(ran.out.split())


def test_mapping_new_proposes_the_folder(served: Served) -> None:
    """A column whose cells are names of files that lie beside the source."""
    made = served("mapping", "new", "people.csv", "--job-post", "4f2c9a", "--to", "new.yaml")
    assert made.code == 0
    assert "cv: {column: CV file, folder: cvs}\n" in (served.door.folder / "new.yaml").read_text("utf-8")


BROKEN = [
    pytest.param("cv: {column: CV file, folder: nowhere}", "cannot be listed: no such file", id="no such folder"),
    pytest.param("cv: {column: CV file, folder: ../..}", "neither in the folder of the source", id="outside"),
    pytest.param("cv: {name: '{CV file}.pdf'}", "name has no effect without folder", id="a name without a folder"),
    pytest.param("cv: {name: cv.pdf, folder: cvs}", "does not say which columns are in the name", id="no column"),
    pytest.param("cv: {name: '{Nothing}.pdf', folder: cvs}", "column 'Nothing'", id="an unknown column"),
    pytest.param("cv: {column: CV file, folder: cvs, default: a.pdf}", "has folder and default", id="a default"),
]


@pytest.mark.parametrize(("line", "message"), BROKEN)
def test_a_mapping_that_cannot_find_documents_is_refused(served: Served, line: str, message: str) -> None:
    """At its line, before anything is sent."""
    mapping = MAPPING.replace("cv: {column: CV file, folder: cvs}", line)
    (served.door.folder / "mapping.yaml").write_text(mapping, "utf-8")
    refused = served("run", "people.csv", "--mapping", "mapping.yaml")
    assert (refused.code, _sent(served)) == (3, {})
    assert message in " ".join(refused.err.split())
    assert "mapping.yaml:8:" in refused.err


def test_an_id_of_two_files_is_refused(served: Served) -> None:
    """One of them would be the document of somebody else."""
    served("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    _fill_in(served.door.folder / "documents.csv", {"cvs/ada.pdf": "100", "cvs/bob.pdf": "100"})
    refused = served("run", "people.csv", "--mapping", "mapping.yaml")
    assert (refused.code, _sent(served)) == (3, {})
    assert "documents.csv:3:1: the list of document IDs has the document ID 100 for two different files" in " ".join(
        refused.err.split()
    )
