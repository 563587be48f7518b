"""E-mail, CV and answers from other files, and entries from several sources, from the file to the service."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from tests.cli.conftest import Served, read_csv
from tests.cli.test_corrections import correct

Serve = Callable[..., Served]
_MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
candidate:
  email: {column: Mail, file: {name: mails.csv, key: Person, equals: ID}}
  first_name: First
  last_name: Last
  cv: {column: Document, file: {name: documents.csv, key: Candidate, equals: ID}}
answers:
  phone: {value: "+905550000001"}
  work_permit: {value: "yes"}
  address: {column: City, file: {name: mails.csv, key: Person, equals: ID}}
  experience:
    order: newest_first
    experience:
      - {company_name: Company, start_date: Since}
      - {repeat: "{n}", company_name: "Earlier {n}"}
      - file: {name: jobs.csv, key: Person, equals: ID}
        company_name: Firm
        start_date: From
"""
_FILES = {
    "people.csv": "ID,First,Last,Company,Since,Earlier 1,Earlier 2\n"
    "7,Ada,Nur,Example Ltd,2019-09-01,Example Inc,\n"
    "8,Bob,Roe,,,,\n"
    "9,Cem,Su,,,,\n"
    "11,Dan,Lee,,,,\n",
    "mails.csv": "Person,Mail,City\n"
    "7,ada@example.com,Van\n8,bob@example.com,\n9,Ada@example.com,\n11,dan@example.com,\n",
    "documents.csv": "Candidate,Document\n7,70001\n8,70002\n9,70003\n8,70004\n11,70005\n",
    "jobs.csv": "Person,Firm,From\n7,Example GmbH,2015-03-01\n7,Example Ltd,2019-09-01\n11,Example AG,2020-01-01\n",
}
_RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--json")


def _write(folder: Path) -> None:
    (folder / "mapping.yaml").write_text(_MAPPING, encoding="utf-8")
    for name, text in _FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


def _experience(served: Served) -> list[list[tuple[str, ...]]]:
    """The entries of each accepted candidate."""
    sent = [
        json.loads(answer["answer"])
        for body in served.sandbox.memory.accepted()
        for answer in body["answers"]
        if answer["job_post_question"]["question_key"] == "experience"
    ]
    return [[tuple(entry.values()) for entry in entries] for entries in sent]


def test_a_fault_in_another_file_is_fixed_there(serve: Serve) -> None:
    """The report has no cell of that file: the screen names it, and the same command goes on."""
    served = serve()
    folder = served.door.folder
    _write(folder)
    jobs = folder / "jobs.csv"
    jobs.write_text(jobs.read_text("utf-8").replace("2020-01-01", "soon"), "utf-8")
    (folder / "documents.csv").write_text(_FILES["documents.csv"].replace("8,70004\n", ""), "utf-8")
    ran = served(*_RUN[:-1], "--rows", "5")
    assert "Fix jobs.csv, then run the same command again" in ran.err + ran.out
    assert "report.xlsx, then import it" not in ran.err + ran.out
    _write(folder)
    assert served(*_RUN, "--rows", "5").counts == {"created": 1}


def test_lookups_and_several_sources(serve: Serve) -> None:
    """Each value is what the other files say; what they contradict is reported at their own cells."""
    served = serve()
    folder = served.door.folder
    _write(folder)
    ran = served(*_RUN)
    assert ran.counts == {"created": 2, "invalid": 2}
    assert [(body["email"], body["cv"]) for body in served.sandbox.memory.accepted()] == [
        ("ada@example.com", "70001"),
        ("dan@example.com", "70005"),
    ]
    assert _experience(served) == [
        [("Example Ltd", "2019-09-01"), ("Example GmbH", "2015-03-01"), ("Example Inc",)],
        [("Example AG", "2020-01-01")],
    ]
    results = folder / "results" / ran.summary["run"]
    assert [row["import_problem"] for row in read_csv(results / "invalid.csv")] == [
        "documents.csv, row 5, column \"Document\": '70004' differs from '70002' in row 3, which has the "
        "same 'Candidate'",
        "the e-mail address is the same as in row 2, which is imported instead",  # of row 4; its cell has an ID
    ]


def test_lookups_use_the_copies_of_their_run(serve: Serve) -> None:
    """`resume`, and a results file that is run again, read the files as they were, also if they are gone."""
    served = serve({"kind": "reset", "when": "before", "emails": ["dan@example.com"], "operation": "apply"})
    folder = served.door.folder
    _write(folder)
    first = served(*_RUN, "--resend-unconfirmed", "never")
    assert first.counts == {"created": 1, "unconfirmed": 1, "invalid": 2}
    for name in _FILES:
        (folder / name).unlink()
    run = first.summary["run"]
    assert served("resume", run, "--json").counts["created"] == 1
    assert _experience(served)[-1] == [("Example AG", "2020-01-01")]
    assert correct(served, run, {"Last": "Rowe"}).counts["invalid"] == 2


def test_another_value_there_is_another_run(serve: Serve) -> None:
    """Run again with a changed file of lookups, rows are checked again, and a fixed one is sent."""
    served = serve()
    folder = served.door.folder
    _write(folder)
    assert served(*_RUN).counts == {"created": 2, "invalid": 2}
    documents = folder / "documents.csv"
    documents.write_text(documents.read_text(encoding="utf-8").replace("8,70004\n", ""), encoding="utf-8")
    assert served(*_RUN).counts == {"created": 1, "already_imported": 2, "invalid": 1}


def test_the_default_of_a_lookup(serve: Serve) -> None:
    """It is sent only if no row there has a value, and a blank row does not contradict the others."""
    served = serve()
    folder = served.door.folder
    _write(folder)
    mapping = _MAPPING.replace("{column: Document, ", '{column: Document, default: "1", ')
    (folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    (folder / "documents.csv").write_text("Candidate,Document\n7,\n7,70001\n7,\n11,\n", encoding="utf-8")
    ran = served(*_RUN)
    assert ran.counts == {"created": 3, "invalid": 1}
    assert [body["cv"] for body in served.sandbox.memory.accepted()] == ["70001", "1", "1"]
    assert json.loads(served("show", "last", "--row", "2", "--json").out)["body"]["cv"] == "70001"


def test_a_looked_up_value_of_an_entry_is_fixed_in_its_table(serve: Serve) -> None:
    """A problem in a table that entries look up is reported at its cell; once it is fixed there, the same command sends
    the row."""
    served = serve()
    folder = served.door.folder
    _write(folder)
    fields = 'company_name: Company, employment_type: {column: Type, file: {name: types.csv, key: "No", equals: Kind}}'
    (folder / "mapping.yaml").write_text(
        "version: 1\ntarget: {job_post: 4f2c9a}\n"
        "candidate: {email: Mail, first_name: First, last_name: Last, cv: {value: 7}}\n"
        "answers:\n  phone: {value: '+905550000001'}\n  work_permit: {value: 'yes'}\n"
        f"  experience:\n    experience: {{{fields}}}\n",
        encoding="utf-8",
    )
    (folder / "people.csv").write_text(
        "Mail,First,Last,Company,Kind\nada@example.com,Ada,Nur,Example Ltd,1\nbob@example.com,Bob,Roe,Example AG,2\n"
        "cem@example.com,Cem,Su,Example Inc,3\n",
        encoding="utf-8",
    )
    (folder / "types.csv").write_text("No,Type\n1,full_time\n2,half\n", encoding="utf-8")
    ran = served(*_RUN)
    assert ran.counts == {"created": 2, "invalid": 1}
    assert _experience(served) == [[("Example Ltd", "full_time")], [("Example Inc",)]]
    results = folder / "results" / ran.summary["run"]
    (problem,) = (row["import_problem"] for row in read_csv(results / "invalid.csv"))
    assert problem.startswith("types.csv, row 3, column \"Type\": 'half' is not an employment type")
    table = folder / "types.csv"
    table.write_bytes(table.read_bytes().replace(b"half", b"part_time"))
    assert served(*_RUN).counts == {"already_imported": 2, "created": 1}
    assert _experience(served)[-1] == [("Example AG", "part_time")]


_SPELLED = """\
version: 1
target: {job_post: 4f2c9a}
candidate:
  email: E-mail
  first_name: First
  last_name: Last
  cv: {column: Document, file: {name: documents.csv, key: Person, equals: E-mail%s}}
answers:
  phone: {value: "+905550000001"}
  work_permit: {value: "yes"}
  experience:
    experience:
      file: {name: jobs.csv, key: Person, equals: E-mail}
      company_name: Firm
"""


def test_keys_that_are_addresses_are_compared_without_case(serve: Serve) -> None:
    """The two tables of an export spell an e-mail differently; other keys are compared exactly."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(_SPELLED % "", encoding="utf-8")
    (folder / "people.csv").write_text("E-mail,First,Last\nAda@Example.com,Ada,Nur\nbob@example.com,Bob,Roe\n")
    (folder / "documents.csv").write_text("Person,Document\nada@example.COM,7001\nBOB@example.com ,7002\n")
    (folder / "jobs.csv").write_text("Person,Firm\nADA@example.com,Example Ltd\nBob@Example.com,Example AG\n")
    ran = served(*_RUN)
    assert (ran.counts, ran.summary["warnings"]) == ({"created": 2}, [])
    assert [body["cv"] for body in served.sandbox.memory.accepted()] == ["7001", "7002"]
    assert _experience(served) == [[("Example Ltd",)], [("Example AG",)]]


def test_the_encoding_of_another_file_is_set_where_the_hint_says(serve: Serve) -> None:
    """Beside its name, not under source:, which is for the file of the candidates."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(_SPELLED % "", encoding="utf-8")
    (folder / "people.csv").write_text("E-mail,First,Last\nada@example.com,Ada,Nur\n")
    (folder / "documents.csv").write_bytes("Person,Document,City\nada@example.com,7001,İzmir\n".encode("cp1254"))
    (folder / "jobs.csv").write_text("Person,Firm\nada@example.com,Example Ltd\n")
    refused = served("check", *_RUN[1:])
    assert refused.code == 3
    assert re.search(
        r"set its encoding under file: in m\w*\.yaml:\d+: `encoding: cp1254` \(reads 'İzmir'\)", refused.err
    )
    (folder / "mapping.yaml").write_text(_SPELLED % ", encoding: cp1254", encoding="utf-8")
    assert served(*_RUN).counts == {"created": 1}


_ERRORS = """\
version: 1
target: {job_post: 4f2c9a}
source: {missing: ["#N/A", "-"]}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}
answers:
  phone: {value: "+905550000001"}
  work_permit: Permit
  salary: Salary
  address: {column: City, missing: ["-"]}
  experience:
    experience: {repeat: "{n}", company_name: "Firm {n}"}
"""
_ERROR_CELLS = [
    ("E-mail", "First", "Last", "CV", "Permit", "Salary", "City", "Firm 1", "Firm 2"),
    ("ada@example.com", "Ada", "Nur", "7001", "yes", "#N/A", "Van", "#N/A", "Example Ltd"),
    ("bob@example.com", "Bob", "Roe", "7002", "yes", "1000", "#N/A", "", ""),
    ("cem@example.com", "Cem", "Su", "#N/A", "yes", "#REF!", "Van", "", ""),
]


@pytest.mark.parametrize("name", ["people.csv", "people.xlsx"])
def test_an_error_value_can_be_declared_as_an_empty_cell(serve: Serve, name: str) -> None:
    """Where every value that reads it says so; any other error still holds its row back."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(_ERRORS, encoding="utf-8")
    if name.endswith(".csv"):
        (folder / name).write_text("".join(",".join(cells) + "\n" for cells in _ERROR_CELLS))
    else:
        book = openpyxl.Workbook()
        for cells in _ERROR_CELLS:
            book.active.append(cells)
        book.save(folder / name)
    ran = served("run", name, "--mapping", "mapping.yaml", "--json")
    (body,) = served.sandbox.memory.accepted()
    sent = {each["job_post_question"]["question_key"]: each["answer"] for each in body["answers"]}
    assert (body["email"], sent.get("salary"), sent["address"]) == ("ada@example.com", None, "Van")
    assert json.loads(sent["experience"]) == [{"company_name": "Example Ltd"}]
    (file,) = (folder / "results" / ran.summary["run"]).glob("invalid.csv")
    place = 'row {}, column "{}": ' if name.endswith(".csv") else 'Sheet!{2}{0}, column "{1}": '
    assert [row["import_problem"] for row in read_csv(file)] == [
        f"{place.format(3, 'City', 'G')}the cell contains the error #N/A",
        f"{place.format(4, 'Salary', 'F')}the cell contains the error #REF!"
        f" | {place.format(4, 'CV', 'D')}the CV's document ID is missing: '#N/A' is read as an empty cell",
    ]


def test_a_merged_cell_belongs_to_no_row_by_guess(serve: Serve, tmp_path: Path) -> None:
    """Below a value that is merged over several rows, a row is held back where it is read; of a key, its candidate."""
    served = serve()
    people = [
        ["ID", "E-mail", "First", "Last", "CV", "Phone", "Source"],
        *(
            [number, f"p{number}@example.com", "Ada", "Nur", 7000 + number, f"+90555000{number:04d}", "Referral"]
            for number in range(1, 6)
        ),
    ]
    jobs = [["Person", "Firm", "Note"], [1, "A", "x"], [2, "B", "x"], [None, "C", "x"], [4, "D", "x"], [5, "E", None]]
    book = openpyxl.Workbook()
    for row in people:
        book.active.append(row)
    book.active["G4"] = None
    book.active.merge_cells("G3:G4")  # of no answer
    book.active["F5"] = None
    book.active.merge_cells("F4:F5")
    for row in jobs:
        (book["Jobs"] if "Jobs" in book.sheetnames else book.create_sheet("Jobs")).append(row)
    book["Jobs"].merge_cells("A3:A4")
    book["Jobs"].merge_cells("C5:C6")  # of no field
    book.save(tmp_path / "people.xlsx")
    (tmp_path / "mapping.yaml").write_text(
        "version: 1\ntarget: {job_post: 4f2c9a}\ndefaults: {unused_columns: ignore}\n"
        "candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}\n"
        "answers:\n  phone: Phone\n  work_permit: {value: 'yes'}\n"
        "  experience:\n    experience: {sheet: {name: Jobs, key: Person, equals: ID}, company_name: Firm}\n",
        encoding="utf-8",
    )
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"created": 3, "invalid": 2}
    problems = str(ran.summary["problems"])
    assert "the cell is merged with A3" in problems
    assert "the cell is merged with F4" in problems


def test_a_workbook_of_1904_that_was_read_before_is_refused_for_days_since_1900(serve: Serve, tmp_path: Path) -> None:
    """The rows of the earlier check are not taken over: they do not say from when days are counted."""
    served = serve()
    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    book.active.append(["E-mail", "First", "Last", "CV", "Firm", "Since"])
    book.active.append(["ada@example.com", "Ada", "Nur", 70001, "A", 42247])
    book.save(tmp_path / "people.xlsx")
    mapping = (
        "version: 1\ntarget: {job_post: 4f2c9a}\n"
        "candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}\n"
        "answers:\n  phone: {value: '+905550000001'}\n  work_permit: {value: 'yes'}\n"
        "  experience:\n    experience: {company_name: Firm, start_date: {column: Since, dates: FORM}}\n"
    )
    for form, found in (("'%d.%m.%Y'", "'42247' is not a date"), ("excel", "1904")):
        (tmp_path / "mapping.yaml").write_text(mapping.replace("FORM", form), encoding="utf-8")
        ran = served("run", "people.xlsx", "--mapping", "mapping.yaml")
        assert (found in ran.out + ran.err, served.accepted) == (True, [])
