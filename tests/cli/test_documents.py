"""The CVs of a migration: found beside the file, checked before anything is sent, and sent by their IDs."""

from __future__ import annotations

import csv
import hashlib
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import load_workbook

from tests.cli.conftest import Served
from tests.patience import PATIENCE

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
    return _with_people(serve())


def _with_people(served: Served) -> Served:
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
    assert "4 documents of rows can be used: 0 with a document ID, 4 without. 0 of 4 files" in listed.out
    path = folder / "documents.csv"
    _fill_in(path, {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE[:3])})
    open_one = served("documents", "check", "people.csv", "--mapping", "mapping.yaml")
    assert (open_one.code, "3 with a document ID, 1 without" in open_one.out) == (4, True)
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


# --- uploads: the sandbox has such an operation, as a real service ---

UPLOADS = {"IMPORTER_UPLOAD_PATH": "/_sandbox/files/", "IMPORTER_UPLOAD_ID_AT": "/content/id"}
RUN = ("run", "people.csv", "--mapping", "mapping.yaml")


def _content_of(served: Served) -> dict[str, bytes | None]:
    """The content of the document that each accepted person has."""
    folder = served.door.folder / "cvs"
    contents = {hashlib.sha256(path.read_bytes()).hexdigest(): path.read_bytes() for path in folder.iterdir()}
    of_id = {str(one["id"]): contents[one["sha256"]] for one in served.sandbox.uploaded}
    return {name: of_id.get(cv) for name, cv in _sent(served).items()}


EXPECTED = {name: b"%PDF-1.7\n" + name.encode() for name in PEOPLE}


@pytest.mark.parametrize("form", ["multipart", "raw", "base64_json"])
def test_documents_are_uploaded_before_their_rows(served: Served, form: str) -> None:
    """Each person gets the own document; a second run uploads nothing and sends nothing."""
    ran = served(*RUN, **UPLOADS, IMPORTER_UPLOAD_FORM=form)
    assert ran.code == 0, ran.out
    assert _content_of(served) == EXPECTED
    again = served(*RUN, **UPLOADS)
    assert (again.code, len(served.sandbox.uploaded), len(served.sandbox.memory)) == (0, 4, 4)
    assert "4 already imported" in again.out


def test_a_document_is_uploaded_once_over_all_runs(served: Served) -> None:
    """Only those of rows that are sent; a row that is fixed later brings its own."""
    folder = served.door.folder
    rows = (folder / "people.csv").read_text("utf-8")
    (folder / "people.csv").write_text(rows.replace("bob@example.com", "bob@example"), "utf-8")
    assert served(*RUN, **UPLOADS).code == 4
    assert len(served.sandbox.uploaded) == 3
    (folder / "people.csv").write_text(rows, "utf-8")
    assert served(*RUN, **UPLOADS).code == 0
    assert (_content_of(served), len(served.sandbox.uploaded)) == (EXPECTED, 4)


FAULTS = [
    pytest.param({"kind": "cut_body", "first": 2}, id="the answer is cut off"),
    pytest.param({"kind": "empty_201", "first": 2}, id="the answer is empty"),
    pytest.param({"kind": "503", "share": 0.4, "times": 99}, id="503"),
    pytest.param({"kind": "reset", "share": 0.4, "times": 99}, id="reset"),
    pytest.param({"kind": "429", "share": 0.4, "times": 99, "retry_after": "seconds", "seconds": 1}, id="429"),
    pytest.param({"kind": "503", "when": "after", "first": 2}, id="the answer is lost"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_no_document(serve: Serve, fault: dict[str, object]) -> None:
    """An upload is repeated until it is answered; an answer that was lost costs a copy, never a wrong document."""
    served = _with_people(serve({**fault, "operation": "files"}))
    ran = served(*RUN, **UPLOADS)
    assert (ran.code, _content_of(served)) == (0, EXPECTED)
    copies = len(served.sandbox.uploaded) - len(EXPECTED)
    told = f"{copies} uploads of documents gave no ID: the service may have copies"
    summary = next(served.door.folder.glob("results/*/summary.json")).read_text("utf-8")
    assert (told in summary) == (copies > 0)


def test_a_refused_document_makes_only_its_row_invalid(serve: Serve) -> None:
    """With the words of the service."""
    refusal = {"kind": "refuse", "first": 1, "message": "we do not like it", "operation": "files"}
    served = _with_people(serve(refusal))
    ran = served(*RUN, **UPLOADS, IMPORTER_CONCURRENCY="1")
    assert (ran.code, len(_sent(served))) == (4, 3)
    refused = "the service refused the document 'ada.pdf' (400: we do not like it) [document-refused]"
    assert refused in " ".join(ran.out.split())
    assert served(*RUN, **UPLOADS).code == 0
    assert _content_of(served) == EXPECTED


WRONG = [
    pytest.param({"IMPORTER_UPLOAD_PATH": "/api/v1/nothing/"}, "does not take uploads at /api/v1/nothing/", id="path"),
    pytest.param({"IMPORTER_UPLOAD_ID_AT": "/id"}, "has no document ID at /id", id="the place of the ID"),
    pytest.param({"IMPORTER_UPLOAD_ID_AT": "/success"}, "has no document ID at /success", id="a word is no ID"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
def test_wrong_settings_of_uploads_stop_the_run(served: Served, settings: dict[str, str], message: str) -> None:
    """No row is held to be wrong: all are left for the next run."""
    ran = served(*RUN, **{**UPLOADS, **settings}, IMPORTER_CONCURRENCY="1")
    assert (ran.code, _sent(served)) == (5, {})
    assert message in " ".join(ran.out.split())
    assert "4 not sent" in " ".join(ran.out.split())
    assert served(*RUN, **UPLOADS).code == 0
    assert _content_of(served) == EXPECTED


def test_a_service_that_takes_no_upload_leaves_the_rows_for_the_next_run(serve: Serve) -> None:
    """It is tried for as long as for rows."""
    served = _with_people(serve({"kind": "503", "share": 1, "times": 99, "operation": "files"}))
    ran = served(*RUN, **UPLOADS, IMPORTER_GIVE_UP_MINUTES="0.01")
    assert (ran.code, _sent(served)) == (5, {})
    assert "no document can be uploaded" in " ".join(ran.out.split())


@pytest.mark.net
def test_kills_while_documents_are_uploaded_cost_copies_at_most(serve: Serve) -> None:
    """Whatever the moment: in the end each person has the own document, and nobody is entered twice."""
    slow = {"kind": "delay", "share": 1, "ms": 30, "jitter_ms": 30, "times": 999}
    served = _with_people(serve(slow, {"kind": "503", "when": "after", "share": 0.1, "operation": "files"}))
    _with_many_people(served, 120)
    kills = 12
    arrived = [served.sandbox.uploaded, served.sandbox.memory]
    for number in range(kills):
        wanted = sum(map(len, arrived)) + 3 + 5 * number
        with served.door.started(*RUN, **UPLOADS) as process:
            while process.poll() is None and sum(map(len, arrived)) < wanted:
                time.sleep(0.005)
            process.kill()
    last = served(*RUN, **UPLOADS)
    assert last.code == 0, last.out
    sent, contents = _sent(served), _content_of(served)
    assert len(sent) == len(served.sandbox.memory) == 120
    assert contents == {name: b"%PDF-1.7\n" + name.encode() for name in sent}
    copies = len(served.sandbox.uploaded) - 120
    assert copies <= (kills + 2) * 2 * 8


def _with_many_people(served: Served, count: int) -> None:
    folder = served.door.folder
    shutil.rmtree(folder / "cvs")
    (folder / "cvs").mkdir()
    rows = [["E-mail", "First name", "Last name", "CV file", "Phone", "Permit"]]
    for number in range(count):
        name = f"p{number}"
        (folder / "cvs" / f"{name}.pdf").write_bytes(b"%PDF-1.7\n" + name.encode())
        rows.append([f"{name}@example.com", "Ada", "Example", f"{name}.pdf", "+44 20 7946 0101", "yes"])
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows(rows)


def _listed(served: Served) -> list[dict[str, str]]:
    """The list of document IDs, written for the file."""
    assert served("documents", "list", "people.csv", "--mapping", "mapping.yaml").code == 0
    with (served.door.folder / "documents.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


SAVED = [
    pytest.param("utf-16", "\t", "", id="Unicode text of Excel"),
    pytest.param("cp1254", ";", "", id="Windows"),
    pytest.param("utf-8", ",", ".0", id="IDs that became decimal numbers"),
]


@pytest.mark.parametrize(("encoding", "delimiter", "decimals"), SAVED)
def test_a_spreadsheet_program_may_save_the_list(served: Served, encoding: str, delimiter: str, decimals: str) -> None:
    """With another encoding, more columns and another order: only the content and its ID count."""
    rows = [
        {"notes": "ğ", **one, "document_id": f"{number}{decimals}"} for number, one in enumerate(_listed(served), 500)
    ]
    with (served.door.folder / "documents.csv").open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, [*reversed(rows[0])], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    assert served(*RUN).code == 0
    assert _sent(served) == {name: str(500 + number) for number, name in enumerate(PEOPLE)}


def test_a_list_is_read_whatever_program_has_saved_it(served: Served) -> None:
    """Lines of a Mac, a first line for Excel, names in capitals, IDs with letters, an apostrophe before an ID."""
    rows = _listed(served)
    lines = ["sep=;", "", "Document_ID;SHA256", *(f"'{number}-ab;{one['sha256']}" for number, one in enumerate(rows))]
    (served.door.folder / "documents.csv").write_text("\r".join(lines), "utf-16")
    assert served(*RUN).code == 0
    assert _sent(served) == {name: f"{number}-ab" for number, name in enumerate(PEOPLE)}


def test_a_list_is_never_written_over_another_file(served: Served) -> None:
    """Such as the source; a list of that name keeps its IDs, and its service also in the sandbox."""
    listing = ("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    source = (served.door.folder / "people.csv").read_bytes()
    assert served(*listing, "--to", "people.csv").code == 3
    assert (served.door.folder / "people.csv").read_bytes() == source
    path = served.door.folder / "documents.csv"
    _listed(served)
    _fill_in(path, {"cvs/ada.pdf": "5"})
    assert served(*listing, "--sandbox").code == 0
    rows = csv.DictReader(path.read_text("utf-8-sig").splitlines())
    assert [(one["service"], one["document_id"]) for one in rows] == [
        (served.sandbox.base_url, "5"),
        *[(served.sandbox.base_url, "")] * 3,
    ]


def test_a_name_of_several_columns(served: Served) -> None:
    """Each row gets the file whose name has all of them."""
    path = served.door.folder / "mapping.yaml"
    path.write_text(path.read_text("utf-8").replace("column: CV file", 'name: "{First name}_{Last name}.pdf"'), "utf-8")
    for name in PEOPLE:
        (served.door.folder / "cvs" / f"{name}.pdf").rename(served.door.folder / "cvs" / f"{name}_example.pdf")
    assert served(*RUN, **UPLOADS).code == 0
    assert _content_of(served) == EXPECTED


def test_ids_of_another_service_are_refused(served: Served) -> None:
    """The same number is another document there."""
    _listed(served)
    path = served.door.folder / "documents.csv"
    _fill_in(path, {f"cvs/{name}.pdf": "7" + str(number) for number, name in enumerate(PEOPLE)})
    path.write_text(path.read_text("utf-8").replace(served.sandbox.base_url, "https://other.example.com"), "utf-8")
    refused = served(*RUN)
    assert (refused.code, _sent(served)) == (3, {})
    assert "is of https://other.example.com, and not of" in " ".join(refused.err.split())


def test_what_is_no_document_id_is_refused_at_its_line(served: Served) -> None:
    """The list is named, and not the cell of the source; and one ID for two contents is refused."""
    _listed(served)
    _fill_in(served.door.folder / "documents.csv", {"cvs/ada.pdf": "#NV", "cvs/bob.pdf": "9", "cvs/cem.pdf": "9"})
    refused = " ".join(served(*RUN).err.split())
    assert "documents.csv:2:1: the list of document IDs has '#NV', which is not a document ID" in refused
    assert "documents.csv:4:1: the list of document IDs has the document ID 9 for two different files" in refused


def _hash_of(served: Served, name: str) -> str:
    return hashlib.sha256((served.door.folder / "cvs" / f"{name}.pdf").read_bytes()).hexdigest()


def _exchange(path: Path, one: str, other: str) -> None:
    text = path.read_text("utf-8-sig")
    assert {one, other} <= {*text.replace(";", "\n").splitlines()}
    path.write_text(text.replace(one, "\0").replace(other, one).replace("\0", other), "utf-8")


def test_a_list_whose_columns_were_sorted_apart_gives_nobody_the_document_of_another(served: Served) -> None:
    """The ID was filled in beside the name of a file, and the content beside it is that of another one."""
    _listed(served)
    path = served.door.folder / "documents.csv"
    _fill_in(path, {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE)})
    _exchange(path, _hash_of(served, "ada"), _hash_of(served, "bob"))
    ran = served(*RUN)
    assert (ran.code, _sent(served)) == (4, {"cem": "102", "dora": "103"})
    told = "in cvs has the SHA-256 that the list of document IDs gives for 'cvs/bob.pdf'"
    assert told in " ".join(ran.out.split())


def test_an_id_without_its_content_is_refused_at_its_line(served: Served) -> None:
    """A hash that was cut or cleared, and a number that a comma without quotes has split."""
    _listed(served)
    path = served.door.folder / "documents.csv"
    _fill_in(path, {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE)})
    lines, digest = path.read_text("utf-8-sig").splitlines(), _hash_of(served, "ada")
    path.write_text("\n".join([lines[0], lines[1].replace(digest, digest[:60]), lines[2] + ";01E+11"]), "utf-8")
    refused = " ".join(served(*RUN).err.split())
    assert "documents.csv:2:1: the list of document IDs has the ID 100 beside '" in refused
    assert "documents.csv:3:1: the list of document IDs has more cells in this line than in its first" in refused
    assert _sent(served) == {}


def test_equal_contents_are_one_line_and_a_warning(served: Served) -> None:
    """Of two people: one ID is enough, and a person is asked to look at them."""
    folder = served.door.folder / "cvs"
    shutil.copy(folder / "ada.pdf", folder / "bob.pdf")
    assert next(one["file"] for one in _listed(served)) == "cvs/ada.pdf | cvs/bob.pdf"
    warned = " ".join(served("check", "people.csv", "--mapping", "mapping.yaml", "--verbose", **UPLOADS).out.split())
    assert "1 document has the content of another person's: ada.pdf (row 2) and bob.pdf (row 3)" in warned


def test_a_document_of_a_row_that_is_not_selected_is_not_given_to_another(served: Served) -> None:
    """Although only one of the two rows is imported."""
    path = served.door.folder / "people.csv"
    path.write_text(path.read_text("utf-8").replace("bob.PDF", "ada.PDF"), "utf-8")
    ran = served(*RUN, "--rows", "2", **UPLOADS)
    assert (ran.code, _sent(served)) == (4, {})
    assert "is the document of 2 people (rows 2, 3)" in " ".join(ran.out.split())


def test_a_document_of_a_row_that_is_filtered_is_not_given_to_another(served: Served) -> None:
    """Nor that of a row of another target."""
    path = served.door.folder / "people.csv"
    rows = path.read_text("utf-8").replace("bob.PDF", "ada.PDF").splitlines()
    path.write_text(
        "".join(f"{row},{one}\n" for row, one in zip(rows, ["S", "x", "y", "y", "y"], strict=True)), "utf-8"
    )
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "source: {where: {column: S, is: y}}\n", "utf-8")
    assert served(*RUN, **UPLOADS).code == 4
    assert {*_sent(served)} == {"cem", "dora"}


def test_an_older_document_does_not_replace_one_without_an_id(served: Served) -> None:
    """Of several columns the first file that is there counts; another one only where there is none."""
    folder = served.door.folder
    mapping = (folder / "mapping.yaml").read_text("utf-8")
    (folder / "mapping.yaml").write_text(mapping.replace("{column: CV file,", "{column: [New CV, CV file],"), "utf-8")
    rows = (folder / "people.csv").read_text("utf-8").splitlines()
    new = ["New CV", "new.pdf", "gone.pdf", "", ""]
    (folder / "people.csv").write_text("".join(f"{row},{one}\n" for row, one in zip(rows, new, strict=True)), "utf-8")
    (folder / "cvs" / "new.pdf").write_bytes(b"%PDF-1.7\nnew")
    _listed(served)
    _fill_in(folder / "documents.csv", {f"cvs/{name}.pdf": f"3{number}" for number, name in enumerate(PEOPLE)})
    assert served(*RUN).code == 4
    assert _sent(served) == {"bob": "31", "cem": "32", "dora": "33"}


def test_a_row_that_is_there_stays_so_whatever_its_document(served: Served) -> None:
    """A file that was replaced or removed later makes nobody unsent, also in the next export with a new row."""
    folder = served.door.folder
    assert served(*RUN, **UPLOADS).code == 0
    (folder / "cvs" / "ada.pdf").write_bytes(b"%PDF-1.7\nnew")
    again = served(*RUN, **UPLOADS)
    assert (again.code, len(served.sandbox.uploaded)) == (0, 4)
    assert "4 already imported" in again.out
    (folder / "cvs" / "ada.pdf").unlink()
    (folder / "cvs" / "bob.pdf").write_bytes(b"")
    (folder / "cvs" / "eve.pdf").write_bytes(b"%PDF-1.7\neve")
    with (folder / "people.csv").open("a", encoding="utf-8") as file:
        file.write("eve@example.com,Eve,Example,eve.pdf,+44 20 7946 0101,yes\n")
    checked = served("check", "people.csv", "--mapping", "mapping.yaml", "--json", **UPLOADS)
    assert checked.counts == {"already_imported": 4, "not_sent": 1}
    assert served(*RUN, "--json", **UPLOADS).counts == {"already_imported": 4, "created": 1}


def test_patience_and_time_limits_hold_while_documents_are_uploaded(serve: Serve) -> None:
    """A service that asks for an hour, and the end of the time of a run, are not waited for."""
    served = _with_people(
        serve({"kind": "429", "share": 1, "times": 99, "retry_after": "seconds", "seconds": 3600, "operation": "files"})
    )
    begun = time.monotonic()
    assert served(*RUN, **UPLOADS, IMPORTER_GIVE_UP_MINUTES="0.02").code == 5
    late = served(*RUN, "--max-runtime", "2s", **UPLOADS)
    assert (late.code, time.monotonic() - begun < PATIENCE) == (5, True)
    assert "--max-runtime 2s" in " ".join(late.out.split())


def test_settings_of_uploads_are_the_user_s_own(served: Served) -> None:
    """A folder cannot say where documents go; and without the place of the ID, nothing is sent."""
    (served.door.folder / ".env").write_text("IMPORTER_UPLOAD_PATH=/elsewhere/\n", "utf-8")
    refused = served(*RUN)
    assert (refused.code, "IMPORTER_UPLOAD_PATH" in refused.err) == (3, True)
    (served.door.folder / ".env").unlink()
    refused = served(*RUN, IMPORTER_UPLOAD_PATH="/_sandbox/files/")
    assert (refused.code, _sent(served)) == (3, {})
    assert "IMPORTER_UPLOAD_ID_AT" in refused.err


def test_doctor_tries_an_upload(served: Served) -> None:
    """And shows the answer, in which the ID is found."""
    tried = served("doctor", "--try-upload", "cvs/ada.pdf", **UPLOADS)
    assert "upload: the service answered 201; the document has the ID 70000" in " ".join(tried.out.split())
    wrong = served("doctor", "--try-upload", "cvs/ada.pdf", **{**UPLOADS, "IMPORTER_UPLOAD_ID_AT": "/id"})
    assert wrong.code == 3
    assert 'the service answered 201, without an ID at /id: {"success": "OK", "content": {"id": 70001' in " ".join(
        wrong.out.split()
    )
    unset = served("doctor", "--try-upload", "cvs/ada.pdf", IMPORTER_UPLOAD_PATH=UPLOADS["IMPORTER_UPLOAD_PATH"])
    assert 'which has the ID somewhere: {"success": "OK", "content": {"id": 70002' in " ".join(unset.out.split())


def test_a_corrected_person_has_one_document(served: Served) -> None:
    """With where:, all rows are looked at for shared documents: with the correction, as the run reads them."""
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(f"{MAPPING}source: {{where: {{column: Permit, is: yes}}}}\n".replace(
        "is: yes", "is: 'yes'"), "utf-8")  # fmt: skip
    served("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    _fill_in(folder / "documents.csv", {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE)})
    run = served("run", "people.csv", "--mapping", "mapping.yaml", "--json").summary["run"]
    report = folder / "results" / run / "report.xlsx"
    book = load_workbook(report)
    (cell,) = [cell for row in book["201 created"].iter_rows() for cell in row if cell.value == "bob@example.com"]
    cell.value = "bobby@example.com"
    book.save(report)
    fixed = served("run", f"results/{run}/report.xlsx", "--json")
    assert (fixed.code, len(_sent(served)), fixed.counts) == (0, 4, {"already_imported": 4})
    assert "sent with another e-mail address" in str(fixed.summary["problems"])


def test_a_document_that_is_put_in_place_after_a_fix(served: Served) -> None:
    """The report of the fixed run is imported again as it is: what was fixed in it is only there."""
    folder = served.door.folder
    served("documents", "list", "people.csv", "--mapping", "mapping.yaml")
    _fill_in(folder / "documents.csv", {f"cvs/{name}.pdf": f"10{at}" for at, name in enumerate(PEOPLE)})
    people = (folder / "people.csv").read_text("utf-8").replace("Cem,", ",", 1)
    (folder / "people.csv").write_text(people, "utf-8")
    cv = (folder / "cvs" / "cem.pdf").read_bytes()
    (folder / "cvs" / "cem.pdf").unlink()
    first = served("run", "people.csv", "--mapping", "mapping.yaml", "--json").summary["run"]
    report = folder / "results" / first / "report.xlsx"
    book = load_workbook(report)
    columns = {cell.value: cell.column for cell in book["invalid"][1]}
    book["invalid"].cell(2, columns["First name"]).value = "Cem"
    book.save(report)
    fixed = served("run", f"results/{first}/report.xlsx", "--json")
    assert fixed.counts == {"invalid": 1, "already_imported": 3}
    (folder / "cvs" / "cem.pdf").write_bytes(cv)
    again = f"results/{fixed.summary['run']}/report.xlsx"
    assert f"importer run {again}" in served("show", fixed.summary["run"]).out
    assert served("run", again, "--json").counts == {"created": 1, "already_imported": 3}
