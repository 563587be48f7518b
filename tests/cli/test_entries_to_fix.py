"""Entries in other files or sheets: their problems name a file that a person can fix, and fixing it is enough."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import HEADER, MAPPING, Served, candidate, read_csv
from tests.samples.sample import ROOT

Serve = Callable[..., Served]
JOBS = "CandidateWorkHistory.csv"
WRONG = "12/31/2010"
RUN = ("run", "Candidate.csv", "--mapping", "bullhorn_files.yaml", "--json")


def with_a_wrong_job(served: Served) -> Path:
    """The folder of a run of three candidates, of whom one has a job that ends before it starts."""
    for file in (ROOT / "sample_data" / "bullhorn_files").iterdir():
        shutil.copy(file, served.door.folder)
    shutil.copy(ROOT / "mappings" / "bullhorn_files.yaml", served.door.folder)
    ran = served(*RUN)
    assert ran.counts == {"created": 2, "invalid": 1}, ran.err
    return served.door.folder / "results" / str(ran.summary["run"])


def jobs_of(served: Served) -> list[str]:
    """The jobs of the last candidate that was accepted."""
    answers = list(served.sandbox.memory.accepted())[-1]["answers"]
    return [one["answer"] for one in answers if "company_name" in str(one["answer"])]


def test_entries_are_fixed_beside_their_rows(serve: Serve) -> None:
    """The table lies beside invalid.csv, the rows in question first; what is fixed there is sent."""
    served = serve()
    results = with_a_wrong_job(served)
    beside = results / f"invalid.{JOBS}"
    shown = served("show").out
    assert f'{JOBS}, row 4, column "startDate": the start date\n' in shown
    assert f"  1. fix the rows in invalid.csv (their entries are in\n     {beside.name}), then import it\n" in shown
    rows = read_csv(beside)
    assert [(row["companyName"], row["import_row"], row["import_status"]) for row in rows] == [
        ("Example Garage", "4", "invalid"),
        ("Example Bank", "2", ""),
        ("Example Shop", "3", ""),
    ]
    assert rows[0]["import_problem"] == (
        "row 4, column \"startDate\": the start date 2016-01-01 is after the end date 2010-12-31 in 'endDate'"
    )
    (served.door.folder / JOBS).unlink()
    fed_back = ("run", str(results.relative_to(served.door.folder) / "invalid.csv"), *RUN[2:])
    again = served(*fed_back)
    (problem,) = again.summary["problems"]
    assert problem["places"] == [f'results/{results.name}/{beside.name}, row 2, column "startDate"']
    beside.write_text(beside.read_text("utf-8").replace(WRONG, "12/31/2020"), "utf-8")
    assert served(*fed_back).counts == {"created": 1}
    assert "2020-12-31" in jobs_of(served)[0]
    second = served.door.folder / "results" / str(again.summary["run"])  # its own copy is as good
    assert (second / beside.name).is_file()


def test_the_original_knows_a_row_whose_entries_were_fixed(serve: Serve) -> None:
    """Its own entries are still wrong, but the candidate was entered: the same command is safe, and ends with 0."""
    served = serve()
    results = with_a_wrong_job(served)
    beside = results / f"invalid.{JOBS}"
    beside.write_text(beside.read_text("utf-8").replace(WRONG, "12/31/2020"), "utf-8")
    file = f"results/{results.name}/invalid.csv"
    entered = served("run", file, *RUN[2:])
    assert entered.counts == {"created": 1}
    again = served(*RUN)
    assert (again.code, again.counts) == (0, {"already_imported": 3})
    (known,) = again.summary["problems"]
    assert known["what"] == f"corrected and imported by run {entered.summary['run']} from {file}, row 2"


def test_the_entries_of_other_candidates_are_no_warning(serve: Serve) -> None:
    """A results file has only some rows of its file, also the second time: nothing is wrong with --strict."""
    served = serve()
    folder = with_a_wrong_job(served)
    for fixed in ("12/31/2011", "12/31/2020"):
        beside = folder / f"invalid.{JOBS}"
        beside.write_text(beside.read_text("utf-8").replace(WRONG, fixed).replace("12/31/2011", fixed), "utf-8")
        ran = served("run", f"results/{folder.name}/invalid.csv", *RUN[2:], "--strict")
        assert ran.summary["warnings"] == [], ran.err
        folder = folder.parent / str(ran.summary["run"])
    assert ran.counts == {"created": 1}


def test_fixing_the_original_is_enough(serve: Serve) -> None:
    """The same command again sends only the candidates whose entries were fixed."""
    served = serve()
    with_a_wrong_job(served)
    jobs = served.door.folder / JOBS
    jobs.write_text(jobs.read_text("utf-8").replace(WRONG, "12/31/2020"), "utf-8")
    assert served(*RUN).counts == {"created": 1, "already_imported": 2}
    assert "2020-12-31" in jobs_of(served)[0]


def test_entries_of_another_sheet(serve: Serve) -> None:
    """A sheet lies beside invalid.csv as a CSV file with its dates as dates; `resume` has a copy of what was fixed."""
    served = serve({"kind": "401", "first": 1, "operation": "apply"})
    folder = served.door.folder
    shutil.copy(ROOT / "mappings" / "child_sheets.yaml", folder)
    shutil.copytree(ROOT / "mappings" / "value_tables", folder / "value_tables")
    shutil.copy(ROOT / "sample_data" / "child_sheets.xlsx", folder)
    checked = served("check", "child_sheets.xlsx", "--mapping", "child_sheets.yaml", "--json")
    (problem,) = checked.summary["problems"]
    assert problem["places"] == ["child_sheets.xlsx, Schools!B5"]
    (folder / "child_sheets.xlsx").unlink()
    results = Path("results") / str(checked.summary["run"])
    beside = folder / results / "invalid.Schools.csv"
    assert read_csv(beside)[0]["No"] == "first"
    assert "import_typed" in read_csv(beside)[0]
    beside.write_text(beside.read_text("utf-8-sig").replace("first", "1"), "utf-8")
    stopped = served("run", str(results / "invalid.csv"), "--mapping", "child_sheets.yaml", "--json")
    assert (stopped.code, stopped.counts) == (5, {"failed": 1})
    beside.unlink()
    assert served("resume", "--json").counts == {"created": 1}


_ENTRIES = """\
  experience:
    experience:
      file: {name: jobs.csv, key: ID, equals: ID}
      company_name: Company
      position_title: Title
      start_date: {column: From, dates: ["%d/%m/%Y"]}
      end_date: {column: To, dates: ["%d/%m/%Y"]}
"""


def test_entries_that_a_program_has_changed_are_read_as_they_were(serve: Serve) -> None:
    """A spreadsheet program drops the zeros of keys and turns dates round: the copy of the run has what they were."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + _ENTRIES, "utf-8")
    jobs = [["0001", "Bank", "Analyst", "2001-04-05", "soon"], ["0002", "Shop", "Clerk", "2001-04-15", "2004-07-16"]]
    people = [["0001", *candidate(1)], ["0002", *candidate(2, Salary="a lot")]]
    for name, table in (
        ("jobs.csv", [["ID", "Company", "Title", "From", "To"], *jobs]),
        ("people.csv", [["ID", *HEADER], *people]),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table)
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    results = folder / "results" / str(ran.summary["run"])
    saved = {"\n0001,": "\n1,", "\n0002,": "\n2,", "2001-04-05": "4/5/2001", "2001-04-15": "4/15/2001"}
    fixed = {",soon,": ",2005-08-07,", ",2004-07-16,": ",7/16/2004,", ",a lot,": ",900,"}
    for name in ("invalid.csv", "invalid.jobs.csv"):
        text = (results / name).read_text("utf-8-sig")
        for old, new in (saved | fixed).items():
            text = text.replace(old, new)
        (results / name).write_text(text, "utf-8")
    again = served("run", str(results / "invalid.csv"), "--mapping", "mapping.yaml", "--json")
    assert (again.counts, again.summary["warnings"]) == ({"created": 2}, [])
    found = [
        item["answer"]
        for body in served.sandbox.memory.accepted()
        for item in body["answers"]
        if "company_name" in str(item["answer"])
    ]
    assert [("2001-04-05" in one, "2005-08-07" in one, "2004-07-16" in one) for one in found] == [
        (True, True, False),
        (False, False, True),
    ]


def test_an_entry_that_is_perhaps_changed_is_fixed_in_the_own_file(serve: Serve) -> None:
    """report.xlsx has no entries: the hint says where such a value can be corrected, and that is enough."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + _ENTRIES, "utf-8")
    header, people = ["ID", "Company", "Title", "From", "To"], [["0001", *candidate(1)], ["0002", *candidate(2)]]
    jobs = [["0001", "Bank", "Analyst", "05/04/2001", "?"], ["0002", "Shop", "Clerk", "15/04/2001", "13/07/2004"]]
    own = ("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    for name, table in (("jobs.csv", [header, *jobs]), ("people.csv", [["ID", *HEADER], *people])):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table)
    results = folder / "results" / str(served(*own).summary["run"])
    text = (results / "invalid.jobs.csv").read_text("utf-8-sig")
    (results / "invalid.jobs.csv").write_text(text.replace("0001,", "1,").replace(",?,", ",2/3/2004,"), "utf-8")
    again = served("run", str(results / "invalid.csv"), "--mapping", "mapping.yaml", "--json")
    (problem,) = (each for each in again.summary["problems"] if each["code"] == "value-perhaps-changed")
    assert (problem["what"], problem["hint"]) == (
        "this cell was '?' and is now '2/3/2004'; a spreadsheet program may have changed it",
        "the new results files have the old value again: correct it in your own file and import that again",
    )
    (folder / "jobs.csv").write_text((folder / "jobs.csv").read_text("utf-8").replace("?", "02/03/2004"), "utf-8")
    assert served(*own).counts == {"created": 1, "already_imported": 1}
    assert "2004-03-02" in jobs_of(served)[0]


def test_what_a_program_changed_and_nobody_touched_stays_as_it_was_in_every_round(serve: Serve) -> None:
    """Values of a table of entries that a program changes again and again are still what the first file says."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + _ENTRIES, "utf-8")
    jobs = [["0001", "Bank", "45.000", "2001-04-05", "soon"], ["0001", "Shop", "1-2", "2001-04-15", "2004-07-16"]]
    for name, table in (
        ("jobs.csv", [["ID", "Company", "Title", "From", "To"], *jobs]),
        ("people.csv", [["ID", *HEADER], ["0001", *candidate(1)]]),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table)
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    programs = {"0001": "1", "45.000": "45", "1-2": "2-Jan", "2001-04-05": "4/5/2001", "2001-04-15": "4/15/2001"}
    for fixed in ("later", "2005-08-07"):
        assert ran.counts == {"invalid": 1}, ran.err
        results = folder / "results" / str(ran.summary["run"])
        for name in ("invalid.csv", "invalid.jobs.csv"):
            rows = read_csv(results / name)
            with (results / name).open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                changes = programs | {"soon": fixed, "later": fixed, "2004-07-16": "7/16/2004"}
                writer.writerows([list(rows[0]), *([changes.get(cell, cell) for cell in row.values()] for row in rows)])
        ran = served("run", str(results / "invalid.csv"), "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"created": 1}, ran.err
    for text in ("45.000", "1-2", "2001-04-05", "2001-04-15", "2005-08-07", "2004-07-16"):
        assert sum(text in one for one in jobs_of(served)) == 1, text


def test_a_row_that_an_open_quote_hides_is_a_warning(serve: Serve) -> None:
    """In a table without e-mail addresses nothing proves it, but a line that begins with a candidate's key shows it."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + _ENTRIES, "utf-8")
    lines = [
        "ID,Company,Title,From,To",
        '0001,Bank,"Analyst,05/04/2001,06/05/2002',
        '0002,Shop,Clerk",07/04/2003,08/05/2004',
        '0002,"Two\nlines",Clerk,07/04/2005,08/05/2006',
    ]
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n", "utf-8")
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["ID", *HEADER], ["0001", *candidate(1)], ["0002", *candidate(2)]])
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    (warning,) = ran.summary["warnings"]
    assert warning == (
        "jobs.csv, row 2, column \"=C\": the cell contains a line that looks like a row of its own, '0002,Shop,Clerk'; "
        'if it is one, close the quote (") before it'
    )
