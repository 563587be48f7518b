"""`importer mapping new`, `importer mapping check` and `importer template`, through the front door."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from importer.app.inspect_file import inspect_file
from importer.mapping.nodes import Reader
from importer.mapping.reader import unreviewed
from importer.models import SourceOptions
from importer.sandbox import SHIPPED_QUESTIONS
from tests.cli.conftest import FrontDoor, Served, candidate, reviewed, write_csv
from tests.cli.test_run import people
from tests.samples.sample import ROOT

Serve = Callable[..., Served]
SAMPLES = Path(__file__).parents[2] / "sample_data"
NEW = ("mapping", "new", "people.csv", "--job-post", "4f2c9a")


# --- new ----------------------------------------------------------------------------------------


def test_a_proposal_needs_no_edit_where_everything_is_found(serve: Serve) -> None:
    """From a spreadsheet to imported rows in three commands: new, mapping check, run; the marks are removed between."""
    served = serve()
    people(served.door.folder, 4)
    new = served(*NEW)
    assert (new.code, new.out) == (0, "")
    assert new.err.splitlines()[1:] == [
        "Wrote people.yaml: 5 matched, 2 to review, 0 required but not found.",
        'Review these lines of it, and remove the mark "please check" of each:',
        "  line 20: last_name: Last  # please check: the values do not look like names",
        "  line 28: work_permit: Permit  # please check: the header is similar (Do you have a work permit?)",
        "Wrote people.test.yaml: rows to test it with, by importer mapping test people.yaml",
        "Next: importer mapping check people.yaml people.csv",
    ]
    reviewed(served.door.folder / "people.yaml")
    checked = served("mapping", "check", "people.yaml", "people.csv")
    assert (checked.code, checked.out) == (0, f"{_FITS % 7}.\n4 of its 4 rows can be sent.\n")
    ran = served("run", "people.csv", "--mapping", "people.yaml", "--json")
    assert (ran.code, ran.counts) == (0, {"created": 4})


_FITS = 'people.yaml fits job post 4f2c9a and people.csv (CSV, UTF-8, delimiter ",", header in row 1, %d columns)'
_MARKED = """\
people.yaml:20:21: 2 lines are marked 'please check': 20, 28 [mapping-unreviewed]
   20 |   last_name: Last   # please check: the values do not look like names
      |                     ^
  -> check each of them, and remove its mark when it is right; the real service gets nothing before that
"""


def test_what_nobody_has_reviewed_is_not_sent(serve: Serve) -> None:
    """The checks count the lines that are marked, a run names them and sends nothing, the sandbox warns and runs."""
    served = serve()
    people(served.door.folder, 2)
    served(*NEW)
    checked = served("mapping", "check", "people.yaml", "people.csv")
    assert (checked.code, checked.out) == (0, f"{_FITS % 7}; what to review:\n{_MARKED}2 of its 2 rows can be sent.\n")
    told = (
        "     people.yaml:20:21: 2 lines are marked 'please check': 20, 28; check each of\n"
        "     them, and remove its mark when it is right; the real service gets nothing …\n"
    )
    checked = served("check", "people.csv", "--mapping", "people.yaml")
    assert (checked.code, told in checked.out) == (0, True)
    refused = served("run", "people.csv", "--mapping", "people.yaml")
    assert (refused.code, refused.err) == (3, f"importer: 1 problem found; nothing was sent.\n\n{_MARKED}")
    assert served.accepted == []
    ran = served("run", "people.csv", "--mapping", "people.yaml", "--sandbox")
    assert (ran.code, told in ran.out) == (0, True)
    reviewed(served.door.folder / "people.yaml")
    ran = served("run", "people.csv", "--mapping", "people.yaml")
    assert (ran.code, "please check" in ran.out + ran.err, len(served.accepted)) == (0, False, 2)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        pytest.param(["level: Level   # Please check"], "1 line is marked 'please check': 2", id="without a reason"),
        pytest.param(["# please check: above", "level: Level"], "1 line is marked 'please check': 2", id="above"),
        pytest.param(["level: {a#b: x, 'c': \"d\"} # please check"], "1 line is marked 'please check': 2", id="signs"),
        pytest.param(["x: y   # please check"] * 7, "7 lines are marked 'please check': 2, 3, 4, 5, 6, ...", id="many"),
        pytest.param(["# Sr: Senior   # please check"], None, id="a comment is not sent"),
        pytest.param(["x: y   # I did, please check too"], None, id="another comment"),
        pytest.param(["x: please check", "y: a#please check"], None, id="no comment"),
    ],
)
def test_marks_are_comments_that_begin_with_please_check(lines: list[str], told: str | None) -> None:
    """At the end of a line or above it; a line that is only another comment is none."""
    reading = Reader((Path(),))
    reading.contents[Path("m.yaml")] = "\n".join(["version: 1", *lines]).encode()
    found = unreviewed(reading)
    assert (found and found.message) == told


def test_a_mark_in_a_shared_file_is_one(front_door: FrontDoor) -> None:
    """It is named with its file."""
    folder = front_door.folder
    write_csv(folder / "people.csv", [candidate(0)])
    text = (folder / "mapping.yaml").read_text("utf-8")
    (folder / "_shared.yaml").write_text(f"{text}# please check: this\n", "utf-8")
    (folder / "own.yaml").write_text("extends: _shared.yaml\n# please check: that\n", "utf-8")
    checked = front_door("mapping", "check", "own.yaml", "--sandbox")
    assert "own.yaml:2:1: 2 lines are marked 'please check': 2, _shared.yaml:" in checked.out


_IDS = ("00300", "3 matched, 1 to review,", "  cv: {0}   # please check: '{0}' is similar, but not identical")
_FILES = ("ada.pdf", "Perhaps it is {0}.", "  # cv: ... (perhaps {0})")


@pytest.mark.parametrize(
    ("header", "cell", "told", "written"),
    [
        *((header, *_IDS) for header in ("Doc ID", "Document ID", "Doc-ID", "File ID", "Attachment ID", "Dokument-ID")),
        ("Doc ID", *_FILES),
    ],
)
def test_a_column_of_documents_is_proposed_for_review(
    front_door: FrontDoor, header: str, cell: str, told: str, written: str
) -> None:
    """A likely column of document IDs is proposed or named, and then never one document for every row."""
    lines = f"Email,First name,Last name,{header}\nada@example.com,Ada,Muster,{cell}\n"
    (front_door.folder / "people.csv").write_text(lines, "utf-8")
    new = front_door(*NEW, "--sandbox")
    mapping = (front_door.folder / "people.yaml").read_text("utf-8")
    assert told.format(header) in new.err
    assert written.format(header) in mapping.splitlines()
    assert "one document" not in new.err + mapping


def test_the_legacy_sample_is_mapped_as_a_person_mapped_it(front_door: FrontDoor) -> None:
    """62 columns with title rows above: every row that the shipped mapping calls sound is sound by the proposal."""
    file = str(SAMPLES / "legacy_ats_export.xlsx")
    new = front_door("mapping", "new", file, "--job-post", "4f2c9a", "--sandbox", "--to", "m.yaml")
    assert "Wrote m.yaml: 30 matched, 6 to review, 0 required but not found." in new.err
    proposed = front_door("check", file, "--mapping", "m.yaml", "--sandbox", "--json")
    shipped = front_door(
        "check", file, "--mapping", str(SAMPLES.parent / "mappings" / "legacy_ats_export.yaml"), "--sandbox", "--json"
    )
    # The proposal has no filter: rows of candidates who are not active are checked too.
    assert proposed.counts["not_sent"] == shipped.counts["not_sent"] + shipped.counts["filtered"] - (
        proposed.counts["invalid"] - shipped.counts["invalid"]
    )
    assert proposed.counts["invalid"] <= 0.1 * proposed.summary["source"]["rows"]


def test_a_mapping_file_is_not_replaced_without_force(serve: Serve) -> None:
    """A second proposal does not overwrite edits."""
    served = serve()
    people(served.door.folder, 1)
    path = served.door.folder / "people.yaml"
    path.write_text("mine", "utf-8")
    refused = served(*NEW)
    assert (refused.code, path.read_text("utf-8")) == (2, "mine")
    assert refused.err == (
        "importer: people.yaml already exists; choose another name with --to, or use --force to overwrite it\n"
    )
    assert served(*NEW, "--force").code == 0
    assert path.read_text("utf-8").startswith("# yaml-language-server: $schema=.importer/mapping.schema.json\n")
    assert json.loads((served.door.folder / ".importer" / "mapping.schema.json").read_text("utf-8"))["title"]


def test_a_pool_needs_no_connection_and_a_proposal_can_be_printed(front_door: FrontDoor) -> None:
    """A talent pool has no questions; --to - writes no file."""
    file = str(SAMPLES / "nightly_candidates.csv")
    shown = front_door("mapping", "new", file, "--talent-pool", "17", "--encoding", "cp1254", "--to", "-")
    assert shown.code == 0
    assert "\n  first_name: Ad\n  last_name: Soyad\n" in shown.out
    assert sorted(path.name for path in front_door.folder.iterdir()) == ["mapping.yaml", "pool.yaml"]


def test_what_a_mapping_would_declare_is_a_flag_here(front_door: FrontDoor) -> None:
    """If a file cannot be read, the hint names the flag to use."""
    file = str(SAMPLES / "nightly_candidates.csv")
    refused = front_door("mapping", "new", file, "--talent-pool", "17", "--to", "-")
    assert refused.code == 3
    assert "`encoding: cp1254`" in refused.err
    assert refused.err.endswith("; for this command use --encoding\n")


USAGE_ERRORS = [
    pytest.param((), "importer: use either --job-post HASH or --talent-pool ID\n", id="none"),
    pytest.param(
        ("--job-post", "a", "--talent-pool", "1"),
        "importer: use either --job-post HASH or --talent-pool ID\n",
        id="both",
    ),
    pytest.param(
        ("--talent-pool", "x"),
        "importer: 'x' is not a valid talent pool ID; it is the last part of the address of the job post or talent "
        "pool\n",
        id="no number",
    ),
    pytest.param(
        ("--job-post", "4f2c9a", "--questions", "q.json"),
        "importer: --questions can only be used with --sandbox\n",
        id="questions without sandbox",
    ),
]


@pytest.mark.parametrize(("flags", "message"), USAGE_ERRORS)
def test_a_target_is_one_and_well_formed(front_door: FrontDoor, flags: tuple[str, ...], message: str) -> None:
    """A wrong target is reported before any file is read or request is sent."""
    refused = front_door("mapping", "new", "people.csv", *flags)
    assert (refused.code, refused.err) == (2, message)


def test_an_unwritable_path_is_reported(front_door: FrontDoor) -> None:
    """Where no file can be, another place is asked for."""
    file = str(SAMPLES / "nightly_candidates.csv")
    refused = front_door(
        "mapping", "new", file, "--talent-pool", "17", "--encoding", "cp1254", "--to", "mapping.yaml/m.yaml"
    )
    assert refused.code == 3
    assert refused.err.endswith(
        "mapping.yaml/m.yaml: the mapping file cannot be written: file exists"
        " [not-writable]\n  -> choose another path with --to\n"
    )


# --- check --------------------------------------------------------------------------------------


def changed_questions(folder: Path) -> str:
    """The shipped questions with another option, a new required question, and one that was removed."""
    company = json.loads(SHIPPED_QUESTIONS.read_text("utf-8"))
    questions = company["job_posts"]["4f2c9a"]["questions"]
    kept = [question for question in questions if question["question_key"] != "dribbble"]
    next(question for question in kept if question["question_key"] == "level")["options"] = '["Junior", "Senior"]'
    new = {"id": 900, "question_text": "Shift?", "is_required": True, "answer_type": "short_text", "options": None}
    kept.append({**new, "question_key": "shift", "question_type": None})
    company["job_posts"]["4f2c9a"]["questions"] = kept
    path = folder / "changed.json"
    path.write_text(json.dumps(company), "utf-8")
    return str(path)


def test_check_holds_a_mapping_against_a_header(serve: Serve) -> None:
    """Missing columns are errors; unused columns are reported, unless the mapping ignores them."""
    served = serve()
    people(served.door.folder, 1)
    served(*NEW)
    reviewed(served.door.folder / "people.yaml")
    other = served.door.folder / "other.csv"
    other.write_text("E-mail,First,Last,CV,Phone,Permit,Shoe size\na@example.com,A,B,7,+905550000000,yes,42\n", "utf-8")
    refused = served("mapping", "check", "people.yaml", "other.csv")
    assert refused.code == 3
    assert "the column 'Salary' does not exist" in refused.err
    write_csv(served.door.folder / "more.csv", [[*candidate(1), "42"]])
    more = served.door.folder / "more.csv"
    more.write_text(more.read_text("utf-8").replace("Salary\n", "Salary,Shoe size\n"), "utf-8")
    ignored = served("mapping", "check", "people.yaml", "more.csv")
    assert (ignored.code, ignored.out) == (
        0,
        f"{_FITS.replace('people.csv', 'more.csv') % 8}.\n1 of its 1 row can be sent.\n",
    )
    mapping = served.door.folder / "people.yaml"
    mapping.write_text(mapping.read_text("utf-8").replace("unused_columns: ignore", "unused_columns: warn"), "utf-8")
    checked = served("mapping", "check", "people.yaml", "more.csv")
    assert (checked.code, checked.out.splitlines()[1]) == (
        0,
        "people.yaml: 1 column is not used: 'Shoe size' (H) [columns-unused]",
    )


def test_check_knows_sheets_that_belong_to_the_main_one(front_door: FrontDoor) -> None:
    """Entries from other sheets are checked against those sheets, and without a file against the questions alone."""
    mapping = str(SAMPLES.parent / "mappings" / "child_sheets.yaml")
    fits = front_door("mapping", "check", mapping, str(SAMPLES / "child_sheets.xlsx"), "--sandbox")
    assert (fits.code, "child_sheets.xlsx (XLSX" in fits.out.splitlines()[0]) == (0, True)
    alone = front_door("mapping", "check", mapping, "--sandbox")
    assert (alone.code, alone.out) == (0, f"{mapping} fits job post 4f2c9a.\n")


# --- template -----------------------------------------------------------------------------------

FILLED = {
    "E-mail": "ada@example.com",
    "First name": "Ada",
    "Last name": "Nur",
    "CV document ID": "0007",
    "Terms of use accepted": "yes",
    "Phone number": "+90 555 000 00 01",
    "Notice period in weeks": 2.5,
    "Available from": "2025-09-01",
    "Do you have a work permit?": "no",
    "Level": "Mid",
    "Skills": "Python; Go",
    "How did you hear about us?": "Fair",
    "School 1": "Deniz",
    "Degree 1": "masters_degree",
    "School from 1": "2014-09-01",
    "Company 2": "Vandelay",
    "Employment type 2": "intern",
    "Still employed 2": "yes",
}


def test_copies_that_a_check_needs_lie_in_the_results_folder(front_door: FrontDoor) -> None:
    """Copies of other files are temporary; after a kill, purge removes them."""
    export = ROOT / "sample_data" / "bullhorn_files" / "Candidate.csv"
    checked = front_door("mapping", "check", str(ROOT / "mappings" / "bullhorn_files.yaml"), str(export), "--sandbox")
    assert checked.code == 0
    assert [path.name for path in (front_door.folder / "results" / ".importer").iterdir() if path.is_dir()] == []


def test_what_is_filled_into_a_template_imports_without_change(serve: Serve) -> None:
    """Every question has a column; a row that was typed in is accepted without changes."""
    served = serve()
    made = served("template", "4f2c9a")
    assert (made.code, made.out) == (0, "")
    assert made.err.splitlines() == [
        "Wrote template-4f2c9a.xlsx with 59 columns, and template-4f2c9a.yaml. Yellow columns are required.",
        "Next: fill in the workbook, then run: importer check template-4f2c9a.xlsx --mapping template-4f2c9a.yaml",
    ]
    path = served.door.folder / "template-4f2c9a.xlsx"
    book = openpyxl.load_workbook(path)
    sheet = book["Candidates"]
    headers = {str(cell.value): cell.column for cell in sheet[1]}
    assert set(FILLED) <= set(headers)
    for header, value in FILLED.items():
        sheet.cell(2, headers[header], value)
    book.save(path)
    ran = served("run", "template-4f2c9a.xlsx", "--mapping", "template-4f2c9a.yaml", "--json")
    assert (ran.code, ran.counts) == (0, {"created": 1})
    body = served.sandbox.memory.accepted()[0]
    assert (body["email"], body["cv"], body["terms_of_use"]) == ("ada@example.com", "0007", True)
    answers = {answer["job_post_question"].get("question_key"): answer["answer"] for answer in body["answers"]}
    assert json.loads(answers["skills"]) == ["Python", "Go"]
    assert json.loads(answers["education"]) == [
        {"school_name": "Deniz", "degree": "masters_degree", "start_date": "2014-09-01"}
    ]
    assert json.loads(answers["experience"]) == [
        {"company_name": "Vandelay", "employment_type": "intern", "currently_employed": True}
    ]


def test_a_template_is_a_workbook_and_replaces_none(serve: Serve) -> None:
    """Another file type, or an existing file, is refused before anything is written."""
    served = serve()
    wrong = served("template", "4f2c9a", "--to", "t.csv")
    assert (wrong.code, wrong.err) == (2, "importer: t.csv is not a workbook name; use one that ends in .xlsx\n")
    (served.door.folder / "t.yaml").write_text("mine", "utf-8")
    kept = served("template", "4f2c9a", "--to", "t.xlsx")
    assert (kept.code, kept.err) == (
        2,
        "importer: t.yaml already exists; choose another name with --to, or use --force to overwrite it\n",
    )
    assert not (served.door.folder / "t.xlsx").exists()
    nowhere = served("template", "4f2c9a", "--to", "none/t.xlsx")
    assert (nowhere.code, nowhere.err.splitlines()[-2:]) == (
        3,
        [
            "none/t.xlsx: the workbook cannot be written: no such file or directory [not-writable]",
            "  -> choose another path with --to",
        ],
    )


# --- what is in a file, and beside it ---------------------------------------------------------------


def _old_export(folder: Path) -> None:
    """A workbook with a cover sheet; the table has a title, a header of two rows, and a total."""
    book = openpyxl.Workbook()
    cover, export = book.active, book.create_sheet("Export")
    cover.title = "Cover"
    cover.append(["Confidential"])
    cover.append(["Exported by Ada"])
    export.append(["Candidates 2026"])
    export.append(["Person", None, None, None, "Referee", None])
    export.append(["First name", "Last name", "Email", "CV ID", "Name", "Email address"])
    for number in range(3):
        export.append(["Ada", "Nur", f"ada{number}@example.com", 7000 + number, "Berk", "berk@example.org"])
    export.append(["Total", None, "#REF!", 3])
    book.save(folder / "old.xlsx")


@pytest.mark.parametrize("sheet", [None, "People"])
def test_a_sheet_beside_the_one_with_candidates_is_joined(tmp_path: Path, sheet: str | None) -> None:
    """Whoever names the sheet with the candidates must not lose the one with their jobs."""
    book = openpyxl.Workbook()
    cover, people, jobs = book.active, book.create_sheet("People"), book.create_sheet("Jobs")
    for row in (("Report", "Version"), ("Candidates", 3)):
        cover.append(row)
    people.append(["Candidate ID", "First name", "Last name", "Email", "CV ID"])
    jobs.append(["Candidate ID", "Company", "Position", "Start date", "End date"])
    for number in range(4):
        people.append([f"C{number}", "Ada", "Nur", f"ada{number}@example.com", 7000 + number])
        jobs.append([f"C{number}", "Example GmbH", "Engineer", "2019-01-01", "2020-01-01"])
    book.save(tmp_path / "old.xlsx")
    found = inspect_file(tmp_path / "old.xlsx", SourceOptions(sheet=sheet))
    assert (found.sheet.origin.sheet, found.instead_of) == ("People", None if sheet else "Sheet")
    assert [other.name for other, _ in found.joins] == ["Jobs"]


def test_inspect_shows_columns_that_are_alike_in_one_line(front_door: FrontDoor) -> None:
    """Numbered columns of one kind are one line of the table, wherever they are; --verbose has each."""
    header = ["E-mail", *(f"customFlag{number}" for number in range(1, 101)), *(f"Note {n}" for n in range(1, 6))]
    rows = [[f"a{row}@example.com", *(["x" if row == 1 else ""] * 100), *"pqrst"] for row in (1, 2)]
    (front_door.folder / "a.csv").write_text("\n".join(map(",".join, [header, *rows])), "utf-8")
    assert front_door("inspect", "a.csv", COLUMNS="80").out == (
        'a.csv: CSV, UTF-8, delimiter ",", header found in row 1, 106 columns, 2 rows,\n'
        "  last row 3\n"
        "\n"
        "       column                    kind    filled  sample\n"
        "A      E-mail                    e-mail  100%    a1@example.com\n"
        "B-CW   customFlag1 to customFl…  yes/no  50%     x\n"
        "CX-DB  Note 1 to Note 5          text    100%    p\n"
        "\n"
    )
    assert len(front_door("inspect", "a.csv", "--verbose").out.splitlines()) == 4 + 106


def test_a_further_sheet_with_candidates_is_told(front_door: FrontDoor) -> None:
    """A mapping reads one sheet: who is in another one would be left out without a word."""
    book, rows = openpyxl.Workbook(), [["E-mail", "Name"], ["ada@example.com", "Ada Öz"], ["can@example.com", "Can Ak"]]
    for title, lines in (("Cover", [["Field", "Value"], ["Export", "May"]]), ("Cand", rows), ("Archive", rows)):
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    del book["Sheet"]
    book.save(front_door.folder / "old.xlsx")
    ran = front_door("mapping", "new", "old.xlsx", "--talent-pool", "17")
    assert "The sheet 'Archive' has candidates too: they need a mapping of their own (--sheet, --to).\n" in ran.err


def test_inspect_and_a_proposal_see_the_same_table(front_door: FrontDoor) -> None:
    """A cover sheet, a title, a header of two rows and a total: both commands find the table, and its rows import."""
    _old_export(front_door.folder)
    seen = front_door("inspect", "old.xlsx")
    assert "sheet 'Export', header found in rows 2 to 3 (row 1 above it left out), 6 columns, 4 rows" in seen.out
    assert "The sheet 'Cover' comes first, but contains no candidates.\n" in seen.out
    assert "Row 7 begins with 'Total' and is most likely a total, not a candidate.\n" in seen.out
    assert "cannot be sent" not in seen.out  # the total is no row to send
    front_door("mapping", "new", "old.xlsx", "--talent-pool", "17", "--to", "old.yaml")
    text = (front_door.folder / "old.yaml").read_text("utf-8")
    assert (
        "\n  sheet: Export\n  header_row: 2   # the first row of the header\n  header_rows: 2\n  stop_at: Total" in text
    )
    ran = front_door("run", "old.xlsx", "--mapping", "old.yaml", "--sandbox", "--json")
    assert (ran.code, ran.counts) == (0, {"created": 3})


def test_the_lower_name_of_two_is_enough(front_door: FrontDoor) -> None:
    """In a header of two rows, `Email` finds `Person / Email`; a lower name that two columns have is ambiguous."""
    _old_export(front_door.folder)
    mapping = front_door.folder / "old.yaml"
    mapping.write_text(
        "version: 1\ntarget: {talent_pool: 17}\nsource: {sheet: Export, stop_at: Total}\n"
        "candidate: {email: Email, first_name: First name, last_name: Last name, cv: CV ID}\n",
        encoding="utf-8",
    )
    ran = front_door("run", "old.xlsx", "--mapping", "old.yaml", "--sandbox", "--json")
    assert (ran.code, ran.counts) == (0, {"created": 3})
    book = openpyxl.load_workbook(front_door.folder / "old.xlsx")
    book["Export"]["F3"] = "Email"
    book.save(front_door.folder / "old.xlsx")
    refused = front_door("check", "old.xlsx", "--mapping", "old.yaml", "--sandbox")
    assert (
        "'Email' matches several columns: 'Person / Email' (column C) and 'Referee / Email' (column F)" in refused.err
    )


def test_flags_say_how_the_header_is_read(front_door: FrontDoor) -> None:
    """--header-row, --header-rows and --skip-rows are flags of both commands, and written into the mapping."""
    lines = [
        "Person,,",
        "First name,Last name,Email,CV",
        "write it,write it,write it,number",
        "Ada,Nur,a@example.com,7",
    ]
    (front_door.folder / "old.csv").write_text("\n".join([lines[0] + ",", *lines[1:]]) + "\n", encoding="utf-8")
    flags = ("--header-row", "1", "--header-rows", "2", "--skip-rows", "3")
    seen = front_door("inspect", "old.csv", *flags)
    assert "header in rows 1 to 2, 1 row excluded by skip_rows, 4 columns, 1 row, last row 4" in seen.out
    assert f"mapping new old.csv --job-post HASH {' '.join(flags)}" in seen.err
    shown = front_door("mapping", "new", "old.csv", *flags, "--talent-pool", "17", "--to", "-")
    assert "\n  header_row: 1   # the first row of the header\n  header_rows: 2\n  skip_rows: [3]\n" in shown.out
    refused = front_door("inspect", "old.csv", "--skip-rows", "7-3")
    assert (refused.code, refused.err) == (
        2,
        "importer: --skip-rows '7-3' is not a list of row numbers; write it like 3,5-7\n",
    )
    assert front_door("inspect", "old.csv", "--header-rows", "2").code == 2


def test_child_files_are_found_by_their_key_column(front_door: FrontDoor) -> None:
    """Files beside the main one whose key column has its IDs are named by inspect, and proposed as entries."""
    folder = front_door.folder
    ids = [f"ZR_{number}" for number in range(1500)]
    people = [f"{one},Ada,Nur,{one}@example.com,+905550000001,7,yes\n" for one in ids]
    (folder / "Candidates_001.csv").write_text(
        "Candidate Id,First Name,Last Name,Email,Phone,CV,Work permit\n" + "".join(people), encoding="utf-8"
    )
    schools = [f"{one},{number},Ege,BSc\n" for number, one in enumerate(reversed(ids))]
    (folder / "Candidates_Educational_Details.csv").write_text(
        "LEADID,TABULARROWID,Institute / School,Degree\n" + "".join(schools), encoding="utf-8"
    )
    (folder / "unrelated.csv").write_text("Code,Label\nA,B\nC,D\n", encoding="utf-8")
    seen = front_door("inspect", "Candidates_001.csv")
    assert [line for line in seen.out.splitlines() if "values of" in line] == [
        "Candidates_Educational_Details.csv: its column 'LEADID' has values of 'Candidate Id' (100% of them are found "
        "here)"
    ]
    front_door("mapping", "new", "Candidates_001.csv", "--job-post", "4f2c9a", "--sandbox", "--to", "m.yaml")
    join = "file: {name: Candidates_Educational_Details.csv, key: LEADID, equals: Candidate Id}"
    assert join in (folder / "m.yaml").read_text("utf-8")
    checked = front_door("check", "Candidates_001.csv", "--mapping", "m.yaml", "--sandbox", "--json", "--limit", "20")
    assert checked.counts == {"not_sent": 20}


def test_lines_fit_80_columns(front_door: FrontDoor) -> None:
    """On a terminal every line but a command fits, also a long error and the line of the mapping that it points at."""
    header = "E-mail;First name;Last name;Document ID of the résumé;Größe der Wohnung in Quadratmetern;Straße"
    text = f"Applicants of the year\n{header}\n" + "ada@example.com;Ada;Nur;7001;x;y\n" * 3
    (front_door.folder / "a.csv").write_bytes(text.encode("cp1252"))
    long = f"candidate: {{email: E-mail, first_name: First name, last_name: Last name, {'cv: CV, ' * 2}photo: none}}"
    (front_door.folder / "m.yaml").write_text(f"version: 1\ntarget: {{talent_pool: 17}}\n{long}\n", "utf-8")
    encoding = ("--encoding", "cp1252")
    commands = (
        ("inspect", "a.csv"),
        ("inspect", "a.csv", *encoding),
        ("mapping", "new", "a.csv", "--talent-pool", "17", *encoding),
        ("check", "a.csv", "--mapping", "a.yaml", "--sandbox"),
        ("runs",),
        ("mapping", "check", "a.csv", "a.csv"),
        ("mapping", "check", "m.yaml", "a.csv"),
    )
    for command in commands:
        ran = front_door(*command, COLUMNS="80")
        lines = [line for line in f"{ran.out}{ran.err}".splitlines() if not line.startswith(("Next", "There are no"))]
        assert lines
        assert [line for line in lines if len(line.rstrip()) > 80 and not line.startswith("     importer ")] == []
    assert any(line.endswith("^") for line in lines)


def test_dates_that_may_be_swapped_are_refused_until_a_person_has_decided(front_door: FrontDoor) -> None:
    """Where no cell shows whether the day or the month comes first, both formats are proposed, and no row is sent."""
    header = "E-mail,First name,Last name,CV,Employer,From"
    rows = [header, *(f"a{number}@example.com,Ada,Nur,7001,Ltd,{number}/3/2020" for number in range(1, 5))]
    (front_door.folder / "a.csv").write_text("\n".join(rows), "utf-8")
    question = {"id": 1, "question_text": "Work", "is_required": False, "answer_type": "long_text", "options": None,
                "question_key": "work", "question_type": "experience"}  # fmt: skip
    asked = {"job_post": "4f2c9a", "questions": [question]}
    (front_door.folder / "q.json").write_text(json.dumps(asked), "utf-8")
    sandbox = ("--sandbox", "--questions", "q.json")
    assert front_door("mapping", "new", "a.csv", "--job-post", "4f2c9a", *sandbox).code == 0
    assert '["%d/%m/%Y", "%m/%d/%Y"]' in (front_door.folder / "a.yaml").read_text("utf-8")
    checked = front_door("check", "a.csv", "--mapping", "a.yaml", *sandbox, "--json")
    assert checked.counts == {"invalid": 3, "not_sent": 1}  # 3/3/2020 is the same day in both
    assert [group["code"] for group in checked.summary["problems"]] == ["date-ambiguous"]
