"""A list of corrections: cells are read with another text, and the rows are known as those of the file."""

from __future__ import annotations

import csv
import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

from tests.cli.conftest import HEADER, Ran, Served, candidate, read_csv, write_csv
from tests.cli.test_corrections import BAD, MAIL
from tests.cli.test_run import RUN
from tests.samples.sample import ROOT

Serve = Callable[..., Served]
LISTED = ("--corrections", "fix.csv")
FIX = ("3", MAIL, BAD, "ada@example.com")
ROWS = (candidate(1), candidate(2, **{MAIL: BAD}), candidate(3, Salary="a lot"))


def _write(served: Served, *rows: list[str]) -> Path:
    return write_csv(served.door.folder / "people.csv", list(rows or ROWS))


def _list(served: Served, *corrections: tuple[str, ...], delimiter: str = ",", name: str = "fix.csv") -> None:
    with (served.door.folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([("row", "column", "old", "new"), *corrections])


def _bodies(served: Served) -> list[dict[str, Any]]:
    return list(served.sandbox.memory.accepted())


def _notes(ran: Ran) -> list[tuple[str, list[str]]]:
    return [(group["what"], group["places"]) for group in ran.summary["problems"]]


# --- reading ----------------------------------------------------------------------------------------


def test_a_corrected_cell_is_read_with_its_new_text(serve: Serve) -> None:
    """By the column's name or letter, quoted or not; the file stays as it is, and the plan counts the cells."""
    served = serve()
    before = _write(served).read_bytes()
    _list(served, FIX, ("4", "=G", "a lot", " 900 "), ("2", "E", "+905550000001", "'+905550009999"), delimiter=";")
    ran = served(*RUN, *LISTED, "--json")
    assert (ran.code, ran.counts) == (0, {"created": 3}), ran.err
    assert "header found in row 1, 7 columns, 3 cells corrected\n" in ran.err
    assert ran.summary["source"]["reading"].endswith(", 7 columns, 3 cells corrected")
    assert served.accepted == ["person1@example.com", "ada@example.com", "person3@example.com"]
    answers = [{str(each["answer"]) for each in body["answers"]} for body in _bodies(served)]
    assert ("+905550009999" in answers[0], "900" in answers[2]) == (True, True)
    assert (served.door.folder / "people.csv").read_bytes() == before


def test_every_problem_of_a_list_is_reported_with_its_row(serve: Serve) -> None:
    """Unknown rows and columns, other old texts and two texts for one cell; nothing is sent."""
    served = serve()
    _write(served)
    wrong = ("3", MAIL, "ada", "b@example.com"), ("9", "Salary", "", "1"), ("x", "Salary", "", "1")
    _list(served, FIX, *wrong, ("2", "Email", "", "x"), ("4", "G", "a lot", "1"), ("4", "Salary", "a lot", "2"))
    ran = served(*RUN, *LISTED)
    assert (ran.code, served.accepted) == (3, [])
    assert ran.err == (
        "importer: 6 problems found; nothing was sent.\n\n"
        "fix.csv, row 5, column \"row\": 'x' is not a row number [correction-invalid]\n"
        "  -> use the number that a spreadsheet program shows\n\n"
        "fix.csv, row 6, column \"column\": people.csv has no column 'Email' [correction-invalid]\n"
        "  -> did you mean 'E-mail'?\n\n"
        "fix.csv, row 3: this cell is corrected in row 2 of the list too, to another text [correction-invalid]\n"
        "  -> keep one of the two\n\n"
        "fix.csv, row 8: this cell is corrected in row 7 of the list too, to another text [correction-invalid]\n"
        "  -> keep one of the two\n\n"
        "fix.csv, row 4: people.csv has no row 9 below its header in row 1 [correction-invalid]\n"
        "  -> use the number that a spreadsheet program shows\n"
    ).replace("6 problems", "5 problems")
    _list(served, ("3", MAIL, "ada", "b@example.com"))
    assert served(*RUN, *LISTED).err == (
        "importer: 1 problem found; nothing was sent.\n\n"
        'fix.csv, row 2, column "old": people.csv, row 3, column "E-mail" has the text \'ada(at)example.com\', '
        "not 'ada' [correction-invalid]\n  -> look at the cell, and correct this row of the list\n"
    )


@pytest.mark.parametrize("text", ["row,column,old\n3,E-mail,x\n", "Zeile,Spalte,alt,neu\n3,a,b,c\n"])
def test_a_file_that_is_no_list_is_refused(serve: Serve, text: str) -> None:
    """Its first row does not have the four names."""
    served = serve()
    _write(served)
    (served.door.folder / "fix.csv").write_text(text, "utf-8")
    ran = served(*RUN, *LISTED)
    assert ran.code == 3
    assert "fix.csv: this is not a list of corrections, a CSV with the columns row, column, old and new" in ran.err


def test_columns_of_one_name_are_told_apart_by_their_letters(serve: Serve) -> None:
    """The name alone is refused, with the letters to use."""
    served = serve()
    with _write(served).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*HEADER, "Note", "Note"], [*candidate(1, Salary="?"), "a", "b"]])
    _list(served, ("2", "Note", "b", "c"))
    assert "people.csv has several columns 'Note'" in (ran := served("check", *RUN[1:], *LISTED)).err
    assert "-> write =H or =I\n" in ran.err
    _list(served, ("2", "=I", "b", "c"), ("2", "Salary", "?", "5"))
    assert served(*RUN, *LISTED, "--json").counts == {"created": 1}


def _workbook(folder: Path) -> Path:
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.append(HEADER)
    sheet.append([*candidate(1)[:6], 1200.5])
    sheet.append([*candidate(2)[:6], "=1/0"])
    sheet["G2"].font = Font(bold=True)
    book.save(folder / "people.xlsx")
    return folder / "people.xlsx"


def test_a_value_of_a_workbook_stays_a_value_in_its_own_format(serve: Serve, tmp_path: Path) -> None:
    """1300.5 over a number is that number whatever the decimal sign of the mapping; 1.300 is refused, as it is two."""
    served = serve()
    _workbook(tmp_path)
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8").replace("salary: Salary", 'salary: {column: Salary, decimal: ","}'))
    run = ("check", "people.xlsx", "--mapping", "mapping.yaml", *LISTED, "--json", "--rows", "2")
    _list(served, ("2", "Salary", "1200.5", "1300"))
    assert served(*run).counts == {"not_sent": 1}
    _list(served, ("2", "Salary", "1200.5", "1.300"))
    ran = served(*run)
    assert "fix.csv, row 2, column \"new\": '1.300' can be two numbers [correction-ambiguous]" in ran.err
    assert "-> write 1300 or 1.3000\n" in ran.err
    _list(served, ("2", "Salary", "1200.5", "1.300,5"))
    assert "'1.300,5' is not a whole number" in served(*run).out  # a text, as the mapping reads it


# --- known again ------------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [(), LISTED, ("--corrections", "other.csv")])
def test_a_row_sent_with_a_correction_is_known_as_that_row(serve: Serve, later: tuple[str, ...]) -> None:
    """Run again without the list, with it, or with one that has another e-mail for the row, it is not sent."""
    served = serve()
    _write(served)
    salary = ("4", "Salary", "a lot", "900")
    _list(served, FIX, salary)
    _list(served, (*FIX[:3], "other@example.com"), salary, name="other.csv")
    first = served(*RUN, *LISTED, "--json")
    assert first.counts == {"created": 3}
    run = first.summary["run"]
    for command in ("check", "run", "run"):
        again = served(command, *RUN[1:], *later, "--json")
        assert (again.code, again.counts) == (0, {"already_imported": 3}), again.out
    if not later:
        assert _notes(again) == [
            (f"corrected and imported by run {run} from people.csv, row 3", ["row 3", "row 4"]),
        ]
    elif later != LISTED:
        ((what, places),) = _notes(again)
        assert what == f"sent with another e-mail address by run {run} from people.csv, row 3; this row was not sent"
        assert places == ["row 3"]
    assert len(served.accepted) == 3


def test_a_correction_of_a_row_that_was_imported_is_not_sent_as_a_second_person(serve: Serve) -> None:
    """Not even if the list changes every cell of the row: a correction is of the row, and never another person."""
    served = serve()
    _write(served, candidate(1))
    assert served(*RUN, "--json").counts == {"created": 1}
    other = dict(zip(HEADER, candidate(77, First="Zoe"), strict=True))
    before = dict(zip(HEADER, candidate(1), strict=True))
    _list(served, *(("2", name, before[name], other[name]) for name in HEADER if before[name] != other[name]))
    ran = served(*RUN, *LISTED, "--json")
    assert ran.counts == {"already_imported": 1}
    assert [group["code"] for group in ran.summary["problems"]] == ["already-imported-different"]
    assert served.accepted == ["person1@example.com"]


def test_a_results_file_of_a_corrected_run_has_the_corrected_cells(serve: Serve) -> None:
    """Its rows are fixed and imported without the list, and the original knows them."""
    served = serve()
    _write(served)
    _list(served, ("4", "First", "Ada", "Ada Maria"), ("2", "First", "Ada", "Aда"))
    first = served(*RUN, *LISTED, "--json")
    assert first.counts == {"created": 1, "invalid": 2}
    file = Path("results") / first.summary["run"] / "invalid.csv"
    shown = served("show", first.summary["run"])
    assert f"importer run {file.with_name('report.xlsx')}\n" in shown.out
    rows = read_csv(served.door.folder / file)
    assert [row["First"] for row in rows] == ["Ada", "Ada Maria"]
    text = (served.door.folder / file).read_text("utf-8-sig").replace("a lot", "900").replace(BAD, "ada@example.com")
    (served.door.folder / file).write_text(text, "utf-8-sig")
    assert served("run", str(file), "--mapping", "mapping.yaml", "--json").counts == {"created": 2}
    assert served(*RUN, "--json").counts == {"already_imported": 3}
    assert served(*RUN, *LISTED, "--json").counts == {"already_imported": 3}
    assert served("status", "people.csv", "--json").code == 0
    assert len(served.accepted) == 3


def test_a_killed_run_is_resumed_with_its_own_list(serve: Serve) -> None:
    """Also if the list was changed or removed since; and the status of the file has every row."""
    served = serve()
    _write(served, *(candidate(number, First="?") for number in range(1, 41)))
    _list(served, *((str(number), "First", "?", f"First{number}") for number in range(2, 42)))
    served.killed_after(10, *RUN, *LISTED)
    (served.door.folder / "fix.csv").unlink()
    ran = served("resume", "--json")
    assert ran.code == 0, ran.err
    assert sorted(body["first_name"] for body in _bodies(served)) == sorted(f"First{n}" for n in range(2, 42))
    assert served("status", "people.csv").code == 0


def test_a_batch_reads_the_list_too(serve: Serve, tmp_path: Path) -> None:
    """Also the cell that says to which target a row goes; and each of its runs keeps the list."""
    shutil.copytree(ROOT / "mappings" / "all_job_posts", tmp_path / "all")
    export = tmp_path / "export.csv"
    shutil.copy(ROOT / "sample_data" / "all_job_posts" / "export.csv", export)
    served = serve()
    batch = ("run", "export.csv", "--mapping", "all", "--json")
    _list(served, ("7", "Job", "Data Analist", "Talent pool"), ("3", "Phone", "+90 555 000 11 02", "none"))
    ran = served(*batch, *LISTED)
    assert served(*batch, *LISTED).counts == {"already_imported": 5, "invalid": 1}, ran.err
    for folder in (tmp_path / "results").glob(f"{ran.summary['run']}*"):
        assert (folder / "corrections.csv").is_file()
    assert served(*batch).counts == {"already_imported": 5, "created": 1}
    assert len(served.accepted) == 6


# --- the report -------------------------------------------------------------------------------------


def test_the_report_shows_what_was_corrected(serve: Serve) -> None:
    """A row says which of its cells was corrected; the private list is removed by purge."""
    served = serve()
    _write(served)
    _list(served, FIX)
    folder = served.door.folder / "results" / served(*RUN, *LISTED, "--json").summary["run"]
    shown = json.loads(served("show", "last", "--row", "3", "--json").out)
    assert [one["note"] for one in shown["answers"] if one["question"] == "email"] == [
        "corrected, the file has another text"
    ]
    assert stat.S_IMODE((folder / "corrections.csv").stat().st_mode) == 0o600
    assert served("purge", "--older-than", "0d", "--yes").code == 0
    assert not folder.exists()


def test_a_list_that_was_changed_in_the_run_folder_is_damage(serve: Serve) -> None:
    """The report is not written again with other texts."""
    served = serve()
    _write(served)
    _list(served, FIX)
    run = served(*RUN, *LISTED, "--json").summary["run"]
    path = served.door.folder / "results" / run / "corrections.csv"
    path.write_bytes(path.read_bytes().replace(b"ada@example", b"eve@example"))
    ran = served("report", run)
    assert ran.code == 3
    assert "the run's list of corrections was changed" in ran.err
