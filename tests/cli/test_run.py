"""What a person gets from `importer run` and `importer check`, through the front door."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from importer.app import import_file, planning
from importer.problems import StoppedEarly
from importer.sources import Sheet
from tests.cli.conftest import HEADER, MAPPING, FrontDoor, Served, candidate, read_csv, write_csv

Serve = Callable[..., Served]
RUN = ("run", "people.csv", "--mapping", "mapping.yaml")
CHECK = ("check", "people.csv", "--mapping", "mapping.yaml")


def people(folder: Path, count: int, *more: list[str]) -> None:
    write_csv(folder / "people.csv", [*(candidate(number) for number in range(count)), *more])


def test_every_row_lands_in_one_outcome_and_a_second_run_sends_nothing(serve: Serve) -> None:
    """Rows are created once; the same command again makes no request for a row that is done."""
    served = serve()
    people(served.door.folder, 5, candidate(3), candidate(6, Salary="a lot"))
    first = served(*RUN, "--json")
    assert (first.code, first.counts) == (4, {"created": 5, "invalid": 2})
    posts = len([request for request in served.sandbox.requests if request.method == "POST"])
    second = served(*RUN, "--json")
    assert (second.code, second.counts) == (4, {"already_imported": 5, "invalid": 2})
    assert second.summary["requests"] == {"sent": 0, "retried": 0}
    assert len([request for request in served.sandbox.requests if request.method == "POST"]) == posts == 5


def test_a_talent_pool_is_filled_likewise(serve: Serve) -> None:
    """The other operation goes the same way, and asks for no questions."""
    served = serve()
    people(served.door.folder, 3, candidate(9, **{"E-mail": "elif.sahin@example.com"}))
    ran = served("run", "people.csv", "--mapping", "pool.yaml", "--json")
    assert (ran.code, ran.counts) == (0, {"created": 3, "already_exists": 1})
    assert {request.method for request in served.sandbox.requests} == {"POST"}
    assert served.sandbox.memory.accepted("add-candidate", "17")[0] == {
        "email": "person0@example.com",
        "first_name": "Ada",
        "last_name": "Nr0",
        "cv": "7001",
        "source_platform": "legacy",
    }


def test_check_sends_nothing_and_reports_the_same(serve: Serve) -> None:
    """Check finds what run would find, and makes no POST: the service's own log shows it."""
    served = serve()
    people(served.door.folder, 3, candidate(6, Salary="a lot"))
    checked = served(*CHECK, "--json")
    assert (checked.code, checked.counts) == (4, {"invalid": 1, "not_sent": 3})
    assert {request.method for request in served.sandbox.requests} == {"GET"}
    folder = served.door.folder / "results" / checked.summary["run"]
    assert not (folder / "not_sent.csv").exists()  # rows that are ready and have no warning are in no file
    book = load_workbook(folder / "report.xlsx")
    linked = {cell.hyperlink.location for row in book["Summary"] for cell in row if cell.hyperlink}
    assert (book.sheetnames, linked) == (["Summary", "invalid"], {"'invalid'!A1"})
    assert "not_sent.csv" not in (folder / "report.html").read_text("utf-8")
    ran = served(*RUN, "--json")
    assert ran.summary["problems"] == checked.summary["problems"]
    assert served(*CHECK, "--json").counts == {"already_imported": 3, "invalid": 1}


def test_a_ledger_that_breaks_in_mid_run_ends_it_with_a_report(serve: Serve) -> None:
    """Every row has an outcome; what was not sent is told so, and is no row to fix."""
    served = serve()
    people(served.door.folder, 300, candidate(300, Salary="a lot"))
    accept = served.sandbox.memory.accept

    def breaks(*submission: Any) -> bool:
        if len(served.accepted) == 20:
            with closing(sqlite3.connect(served.door.folder / "results" / "ledger.sqlite")) as connection:
                connection.execute("ALTER TABLE people RENAME TO others")
        return accept(*submission)

    served.sandbox.memory.accept = breaks  # type: ignore[method-assign]
    ran = served(*RUN, "--json")
    assert (ran.code, ran.summary["stopped"]["code"]) == (5, "not-writable")
    assert (sum(ran.counts.values()), ran.counts.get("invalid", 0)) == (301, 0)
    assert ran.counts["not_sent"] > 250


def test_a_fixed_results_file_can_be_imported(serve: Serve) -> None:
    """invalid.csv, with its cell corrected and its import_ columns left in, imports with the same mapping."""
    served = serve()
    people(served.door.folder, 2, candidate(6, Salary="a lot"), candidate(7, Last="=SUM(A1)", Salary="x"))
    ran = served(*RUN, "--json")
    bad = served.door.folder / "results" / ran.summary["run"] / "invalid.csv"
    assert [row["import_row"] for row in read_csv(bad)] == ["4", "5"]
    bad.write_text(bad.read_text("utf-8-sig").replace("a lot", "900").replace(",x,", ",901,"), "utf-8-sig")
    fixed = served("run", str(bad), "--mapping", "mapping.yaml", "--json")
    assert (fixed.code, fixed.counts) == (0, {"created": 2, "already_imported": 2})
    assert served.sandbox.memory.accepted()[-1]["last_name"] == "=SUM(A1)"


def test_an_invalid_row_holds_its_email_address(serve: Serve) -> None:
    """Of two rows with one e-mail, the second waits until the first, invalid one is fixed or removed."""
    served = serve()
    people(served.door.folder, 1, candidate(6, Salary="a lot"), candidate(6, Last="Second"))
    ran = served(*RUN, "--json")
    assert ran.counts == {"created": 1, "invalid": 2}
    first, second = read_csv(served.door.folder / "results" / ran.summary["run"] / "invalid.csv")
    assert first["import_problem"] == "row 3, column \"Salary\": 'a lot' is not a whole number"
    assert second["import_problem"] == (
        'row 4, column "E-mail": the e-mail address is the same as in row 3, which has problems of its own'
    )
    assert (
        second["import_hint"]
        == "fix row 3, or remove one of the two rows in your own file, or correct the address if they are two people"
    )
    assert served(*CHECK, "--json").summary["problems"] == ran.summary["problems"]
    assert served(*RUN, "--json").counts == {"already_imported": 1, "invalid": 2}
    assert served(*RUN, "--json", "--resend-rejected").counts == {"already_imported": 1, "invalid": 2}
    bad = served.door.folder / "results" / ran.summary["run"] / "invalid.csv"
    bad.write_text(bad.read_text("utf-8-sig").replace("a lot", "900"), "utf-8-sig")
    assert served("run", str(bad), "--mapping", "mapping.yaml", "--json").counts == {
        "created": 1,
        "invalid": 1,
        "already_imported": 1,
    }
    assert served.sandbox.memory.accepted()[-1]["last_name"] == "Nr6"


def test_a_date_in_the_future_is_read_again_by_a_later_run(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command again sends a row whose date has come, and again nothing twice."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    answer = '  available_from: {column: Salary, dates: "%Y-%m-%d", future: error}'
    mapping.write_text(mapping.read_text().replace("  salary: Salary", answer))
    people(served.door.folder, 0, candidate(1, Salary="2024-05-31"), candidate(2, Salary="2091-05-31"))

    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Then:
            return cls(2091, 6, 1, tzinfo=tz)

    ran = served(*RUN, "--json")
    assert ran.counts == {"created": 1, "invalid": 1}
    assert [problem["code"] for problem in ran.summary["problems"]] == ["date-in-future"]
    monkeypatch.setattr(planning, "datetime", Then)
    assert served(*RUN, "--json").counts == {"already_imported": 1, "created": 1}


def test_an_invalid_row_also_reports_that_its_email_address_is_taken(serve: Serve) -> None:
    """All problems of a row are reported at once: its own, and the earlier row with its e-mail address."""
    served = serve()
    people(served.door.folder, 0, candidate(6), candidate(6, Salary="a lot"))
    ran = served(*RUN, "--json")
    assert ran.counts == {"created": 1, "invalid": 1}
    assert {problem["code"] for problem in ran.summary["problems"]} == {"number-invalid", "email-duplicate"}


def test_only_the_selected_rows_are_read(serve: Serve) -> None:
    """--rows takes the numbers that the spreadsheet shows, --limit the first of those."""
    served = serve()
    people(served.door.folder, 9)
    assert served(*RUN, "--json", "--rows", "4-6").counts == {"created": 3}
    assert served.accepted == ["person2@example.com", "person3@example.com", "person4@example.com"]
    assert served(*RUN, "--json", "--rows", "7-", "--limit", "1").counts == {"created": 1}
    assert served.accepted[-1] == "person5@example.com"


# Faults that a run recovers from, each in the place of another row's first response.
SURVIVED: list[dict[str, Any]] = [
    {"kind": "delay", "ms": 20, "jitter_ms": 20},
    {"kind": "429"},
    {"kind": "429", "retry_after": "seconds", "seconds": 1},
    {"kind": "429", "retry_after": "date", "seconds": 1},
    *({"kind": kind, "when": when} for kind in ("500", "502", "503", "504", "reset") for when in ("before", "after")),
    {"kind": "hang_after", "seconds": 1},
    {"kind": "cut_body"},
    {"kind": "html", "status": 502},
    {"kind": "not_json_201"},
    {"kind": "empty_201"},
]


@pytest.mark.net
@pytest.mark.parametrize("mapping", ["mapping.yaml", "pool.yaml"])
def test_a_fault_costs_no_row_and_doubles_none(serve: Serve, mapping: str) -> None:
    """With faults of every kind, every candidate is accepted once, and every row has an outcome."""
    hit = {f"person{3 * at + 2}@example.com": fault for at, fault in enumerate(SURVIVED)}
    served = serve(*({**fault, "emails": [email]} for email, fault in hit.items()))
    people(served.door.folder, 60)
    ran = served("run", "people.csv", "--mapping", mapping, "--json")
    assert Counter(served.accepted) == Counter(f"person{number}@example.com" for number in range(60))
    assert set(ran.counts) <= {"created", "already_exists"}
    assert (ran.code, sum(ran.counts.values())) == (0, 60)
    assert sum(request.fault is not None for request in served.sandbox.requests) == len(SURVIVED)


STOPPING = [
    pytest.param({"kind": "401"}, "the service refuses the token (401)", id="401"),
    pytest.param({"kind": "403"}, "the service does not allow adding candidates to job post 4f2c9a (403)", id="403"),
    pytest.param({"kind": "410"}, "the service no longer has job post 4f2c9a (410)", id="410"),
    pytest.param({"kind": "423"}, "the service has locked job post 4f2c9a (423)", id="423"),
    pytest.param(
        {"kind": "redirect", "status": 307, "location": "https://elsewhere.example.com/"},
        "the service redirects to another address (307); redirects are not followed",
        id="redirect",
    ),
]


@pytest.mark.parametrize(("fault", "reason"), STOPPING)
def test_a_refusal_of_all_requests_stops_the_run(serve: Serve, fault: dict[str, Any], reason: str) -> None:
    """Before any row was accepted: the rest is not sent, the exit code is 5, and the same command continues later."""
    served = serve({**fault, "operation": "apply", "emails": ["person0@example.com"], "times": 1})
    people(served.door.folder, 30)
    ran = served(*RUN, "--json", "--concurrency", "1")
    assert (ran.code, ran.counts) == (5, {"failed": 1, "not_sent": 29})
    assert ran.summary["stopped"]["reason"] == reason
    assert ran.summary["finished"] is False
    again = served(*RUN, "--json")
    assert (again.code, again.counts) == (0, {"created": 30})
    assert len(served.accepted) == 30


def test_the_same_rejection_of_every_row_stops_the_run(serve: Serve) -> None:
    """If the first ten rows are rejected for the same reason, the mapping is wrong, not the rows."""
    emails = [f"person{number}@example.com" for number in range(40)]
    served = serve({"kind": "refuse", "emails": emails, "times": 9, "message": "no such document"})
    people(served.door.folder, 40)
    ran = served(*RUN, "--json", "--concurrency", "1")
    assert (ran.code, ran.counts) == (5, {"rejected": 10, "not_sent": 30})
    assert served.accepted == []


def test_max_errors_stops_the_run(serve: Serve) -> None:
    """--max-errors 1 stops at the second rejected row."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com", "person3@example.com"], "message": "no"})
    people(served.door.folder, 20)
    ran = served(*RUN, "--json", "--max-errors", "1", "--concurrency", "1")
    assert (ran.code, ran.counts) == (5, {"created": 2, "rejected": 2, "not_sent": 16})


def test_a_rejected_row_is_sent_again_only_if_changed_or_with_resend_rejected(serve: Serve) -> None:
    """An unchanged rejected row is reported with its earlier reason, without a request."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no such document"})
    people(served.door.folder, 3)
    first = served(*RUN, "--json")
    assert first.counts == {"created": 2, "rejected": 1}
    second = served(*RUN, "--json")
    assert second.counts == {"already_imported": 2, "rejected": 1}
    assert second.summary["requests"]["sent"] == 0
    row = read_csv(served.door.folder / "results" / second.summary["run"] / "400_rejected.csv")[0]
    assert row["import_problem"] == (
        f"the service rejected this row (400: no such document) in run {first.summary['run']}, "
        "and the row has not changed since"
    )
    third = served(*RUN, "--json", "--resend-rejected")
    assert third.counts == {"created": 1, "already_imported": 2}


def test_a_rehearsal_marks_nothing_as_done_for_the_real_service(serve: Serve) -> None:
    """The ledger knows the sandbox by a name of its own."""
    served = serve()
    people(served.door.folder, 3)
    assert served(*RUN, "--sandbox", "--json").counts == {"created": 3}
    assert served(*RUN, "--sandbox", "--json").counts == {"already_imported": 3}
    assert served.accepted == []
    assert served(*RUN, "--json").counts == {"created": 3}


def test_json_is_all_that_stdout_holds(serve: Serve) -> None:
    """With --json stdout is one object that equals summary.json; progress and messages are on stderr."""
    served = serve()
    people(served.door.folder, 2)
    ran = served(*RUN, "--json")
    kept = served.door.folder / "results" / ran.summary["run"] / "summary.json"
    assert ran.summary == json.loads(kept.read_text("utf-8"))
    assert ran.err == (
        'CSV, UTF-8, delimiter ",", header found in row 1, 7 columns\n'
        "Plan: 2 of 2 rows will be sent to job post 4f2c9a.\n"
    )


def test_quiet_prints_nothing_without_problems(serve: Serve) -> None:
    """--quiet is for schedulers that mail all output."""
    served = serve()
    people(served.door.folder, 2)
    write_csv(served.door.folder / "none.csv", [])
    assert served("run", "none.csv", *RUN[2:], "--quiet").err == "importer: none.csv has no rows\n"
    ran = served(*RUN, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


NOT_USABLE = [
    pytest.param((), 2, "Usage: importer COMMAND", id="no command"),
    pytest.param(("run", "people.csv"), 2, "--mapping is missing: name the mapping file", id="no mapping"),
    pytest.param((*RUN, "--rows", "9-2"), 2, "--rows '9-2' ends before it starts", id="rows backwards"),
    pytest.param((*RUN, "--max-errors", "many"), 2, "'many' is not a valid limit for errors", id="no limit"),
    pytest.param((*RUN, "--faults", "x.json"), 2, "--faults can only be used with --sandbox", id="faults alone"),
    pytest.param(("run", "no.csv", "-m", "mapping.yaml"), 3, "no.csv: the file does not exist", id="no file"),
    pytest.param(("run", "people.csv", "-m", "no.yaml"), 3, "no.yaml: ", id="no mapping file"),
    pytest.param(
        ("show", "2099"),
        2,
        "there are no runs in results yet; the first is made by importer check or importer run",
        id="no run",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "message"), NOT_USABLE)
def test_what_cannot_be_used_is_reported(serve: Serve, arguments: tuple[str, ...], code: int, message: str) -> None:
    """Usage errors are 2, unusable files 3; nothing is sent, no run is left behind, no traceback is shown."""
    served = serve()
    people(served.door.folder, 2)
    ran = served(*arguments)
    assert ran.code == code, ran.err
    assert message in ran.err + ran.out
    assert "Traceback" not in ran.err
    assert served.accepted == []
    assert not list((served.door.folder / "results").glob("2*"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system takes no such name")
def test_names_that_are_not_utf_8_are_accepted(serve: Serve) -> None:
    """A file, a mapping and a folder named by an old program."""
    served = serve()
    people(served.door.folder, 2)
    names = [os.fsdecode(name) for name in (b"people\xff.csv", b"mapping\xff.yaml", b"out\xff")]
    for plain, name in zip(("people.csv", "mapping.yaml"), names, strict=False):
        (served.door.folder / plain).rename(served.door.folder / name)
    command = ("run", names[0], "--mapping", names[1], "--out", names[2])
    assert (served(*command).code, served(*command, "--json").counts) == (0, {"already_imported": 2})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("header_row: 2", "the header row that the mapping gives has 'person0@example.com'", id="declared"),
        pytest.param("header_row: 1", "", id="right"),
    ],
)
def test_a_wrong_header_row_is_one_problem(serve: Serve, source: str, expected: str) -> None:
    """One problem, instead of one for each missing column."""
    served = serve()
    people(served.door.folder, 3)
    path = served.door.folder / "mapping.yaml"
    path.write_text(path.read_text("utf-8").replace("version: 1\n", f"version: 1\nsource: {{{source}}}\n"), "utf-8")
    ran = served(*RUN)
    assert (ran.code, expected in ran.err) == (3 if expected else 0, True)
    assert ran.err.count("there is no column") == 0
    assert ("correct header_row: under source:" in ran.err) == bool(expected)


def test_quiet_reports_changed_data_that_was_not_sent(serve: Serve) -> None:
    """An imported row whose data has changed since needs a correction in the service; that is told once."""
    served = serve()
    people(served.door.folder, 3)
    served(*RUN)
    for salaries, told in ((("1", "77"), "1 row was"), (("1", "77"), ""), (("99", "77"), "2 rows were")):
        changed = [candidate(number, Salary=salary) for number, salary in enumerate(salaries) if salary != "1"]
        kept = [candidate(number) for number, salary in enumerate(salaries) if salary == "1"]
        write_csv(served.door.folder / "people.csv", [*kept, *changed, candidate(2)])
        for command in (("check", *RUN[1:]), RUN):
            ran = served(*command, "--quiet")
            wanted = f"importer: {told} already imported with different data; see: importer show " if told else ""
            assert (ran.code, ran.out, ran.err[: len(wanted) or None]) == (0, "", wanted)
    assert "change them in the service" in served("show", "last").out


def test_a_run_that_cannot_start_leaves_no_files(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk, each attempt must not leave another copy of the file."""
    served = serve()
    people(served.door.folder, 2)

    def full(execution: object, *_: object) -> None:
        raise StoppedEarly("no room")

    with monkeypatch.context() as patched:
        patched.setattr(import_file._Execution, "_end_killed", full)
        assert served(*RUN).code == 5
    assert not list((served.door.folder / "results").glob("*2*-*"))
    assert served(*RUN, "--json").counts == {"created": 2}


SETTINGS = [
    pytest.param({}, ["the address of the recruiting service is not set"], id="no address"),
    pytest.param({"IMPORTER_BASE_URL": "http://127.0.0.1:1"}, ["the access token is not set"], id="no token"),
    pytest.param(
        {"IMPORTER_BASE_URL": "http://recruiting.example.com", "IMPORTER_CONCURRENCY": "many"},
        ["the address is not encrypted; use https", "IMPORTER_CONCURRENCY: the value is not valid"],
        id="two bad settings at once",
    ),
]


@pytest.mark.parametrize(("settings", "messages"), SETTINGS)
def test_unusable_settings_are_reported(front_door: FrontDoor, settings: dict[str, str], messages: list[str]) -> None:
    """Each setting is named with what to do; nothing is left behind."""
    people(front_door.folder, 1)
    ran = front_door(*RUN, **settings)
    assert ran.code == 3
    for message in messages:
        assert message in ran.err
    assert not list((front_door.folder / "results").glob("2*"))


def test_all_mapping_problems_are_reported_at_once_with_their_lines(serve: Serve) -> None:
    """A missing column and an unknown key are both reported, with line, caret and suggestion."""
    served = serve()
    people(served.door.folder, 1)
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8").replace("CV", "CVs").replace("salary:", "salery:"), "utf-8")
    ran = served(*CHECK)
    assert ran.code == 3
    assert "importer: 2 problems found; nothing was sent." in ran.err
    assert "mapping.yaml:7:7: the column 'CVs' does not exist" in ran.err
    assert "mapping.yaml:11:3: " in ran.err
    assert "    7 |   cv: CVs\n      |       ^" in ran.err


def test_a_run_says_what_to_do_next_and_keeps_the_folder_in_the_command(serve: Serve) -> None:
    """The commands that the summary proposes work as they are, also with another results folder."""
    served = serve()
    people(served.door.folder, 1, candidate(6, Salary="a lot"))
    ran = served(*RUN, "--out", "elsewhere")
    proposed = next(line.strip() for line in ran.out.splitlines() if "report.xlsx" in line and "importer run" in line)
    assert proposed.startswith("importer run elsewhere/")
    assert "no cell of this file was changed" in served(*proposed.split()[1:]).err


def test_what_a_workbook_knows_of_its_cells_survives_the_way_back(serve: Serve) -> None:
    """invalid.csv is read as the workbook was: its numbers are numbers, whatever sign the mapping declares for text."""
    served = serve()
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append([*HEADER, "Weeks", "From"])
    for number, salary in ((1, "a lot"), (2, "much")):
        sheet.append([*candidate(number, Salary=salary), 2.5, date(2026, 3, 4)])
    book.save(served.door.folder / "people.xlsx")
    mapping = served.door.folder / "mapping.yaml"
    text = mapping.read_text("utf-8").replace(
        "candidate:", "defaults: {decimal: ',', dates: ['%d/%m/%Y']}\ncandidate:", 1
    )
    mapping.write_text(text + "  notice_weeks: Weeks\n  available_from: From\n", "utf-8")
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"invalid": 2}
    bad = served.door.folder / "results" / ran.summary["run"] / "invalid.csv"
    bad.write_text(bad.read_text("utf-8-sig").replace("a lot", "900").replace("much", "901"), "utf-8-sig")
    again = served("run", str(bad), "--mapping", "mapping.yaml", "--json")
    assert (again.code, again.counts) == (0, {"created": 2})
    answers = [
        {item["job_post_question"]["question_key"]: item["answer"] for item in body["answers"]}
        for body in served.sandbox.memory.accepted()
    ]
    assert [(each["notice_weeks"], each["available_from"]) for each in answers] == [
        ("2.5", "2026-03-04"),
        ("2.5", "2026-03-04"),
    ]


def test_a_workbook_is_read_once_for_check_and_run(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of the last run with the same content are taken over, with all that is known of their cells."""
    served, opened = serve(), list[Path]()
    book = Workbook()
    for row in ([*HEADER, "From"], [*candidate(1), date(2026, 3, 4)], [*candidate(2, Salary="#N/A"), "soon"]):
        book.worksheets[0].append(row)
    book.save(served.door.folder / "people.xlsx")
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "  available_from: From\n", "utf-8")
    read = planning.open_sheet

    def open_sheet(path: Path, *rest: Any, **named: Any) -> Sheet:
        opened.append(path)
        return read(path, *rest, **named)

    monkeypatch.setattr(planning, "open_sheet", open_sheet)
    checked = served("check", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert (checked.counts, ran.counts) == ({"not_sent": 1, "invalid": 1}, {"created": 1, "invalid": 1})
    assert ran.summary["problems"] == checked.summary["problems"]
    assert ran.summary["source"] == checked.summary["source"]
    assert len(opened) == 1
    book.worksheets[0].append([*candidate(3), ""])
    book.save(served.door.folder / "people.xlsx")
    assert served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json").counts["created"] == 1
    assert len(opened) == 2


def test_an_error_value_matters_only_in_a_mapped_column(serve: Serve) -> None:
    """#N/A in a column that the mapping does not use is ignored; in a mapped column it is reported with its cell."""
    served = serve()
    rows = [[*candidate(0), "#N/A"], [*candidate(1, Salary="#N/A"), "fine"]]
    with (served.door.folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*HEADER, "Remarks"], *rows])
    ran = served(*RUN, "--json")
    assert ran.counts == {"created": 1, "invalid": 1}
    assert [(problem["column"], problem["example_row"]) for problem in ran.summary["problems"]] == [("Salary", 3)]


def test_otherwise_keeps_yes_and_no(serve: Serve) -> None:
    """A cell with yes or no is sent as such, also if a value table with `otherwise` does not list it."""
    served = serve()
    mapping = MAPPING.replace("Permit", '{column: Permit, values: {ok: "yes"}, otherwise: {value: "no"}}')
    (served.door.folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    cells = ("ok", "Yes", "No", "maybe")
    write_csv(served.door.folder / "people.csv", [candidate(n, Permit=cell) for n, cell in enumerate(cells, 1)])
    assert served("run", "people.csv", "--mapping", "mapping.yaml", "--json").counts == {"created": 4}
    answers = [body["answers"] for body in served.sandbox.memory.accepted()]
    permits = [each["answer"] for all in answers for each in all if each["job_post_question"]["id"] == 113]
    assert permits == ["yes", "yes", "no", "no"]
