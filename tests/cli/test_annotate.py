"""importer check --annotate: a copy of the operator's own workbook, to fix and to import."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from benchmarks.spreadsheets import PROGRAM, WAYS, save_again
from tests.cli.conftest import HEADER, Ran, Served, candidate, write_csv

Serve = Callable[..., Served]
CHECK = ("check", "people.xlsx", "--mapping", "mapping.yaml", "--annotate", "fixed.xlsx")
RUN = ("run", "fixed.xlsx", "--mapping", "mapping.yaml", "--json")


def _workbook(folder: Path) -> Path:
    """A workbook as a person keeps it: a cover sheet, formats, a dropdown, notes; a wrong salary and a wrong e-mail."""
    book = Workbook()
    cover, sheet = book.worksheets[0], book.create_sheet("People")
    cover.title, cover["A1"] = "Cover", "Made by the team"
    cover.sheet_state = "hidden"
    sheet.append(["People of 2026"])
    sheet.append(HEADER)
    rows = [candidate(1), candidate(2, Salary="a lot"), candidate(3, **{"E-mail": "nobody"})]
    for row in rows:
        sheet.append(row)
    sheet["A2"].font, sheet["G4"].fill = Font(bold=True, color="FF0000"), PatternFill("solid", fgColor="FFFF00")
    sheet["G4"].comment = Comment("first line", "Ada")
    sheet.column_dimensions["B"].width, sheet.freeze_panes = 31, "B3"
    dropdown = DataValidation("list", formula1='"yes,no"')
    dropdown.add("F3:F99")
    sheet.add_data_validation(dropdown)
    book.active = sheet
    book.save(folder / "people.xlsx")
    return folder / "people.xlsx"


def _fix(path: Path, title: str, **values: object) -> None:
    book = load_workbook(path)
    for address, value in values.items():
        book[title][address].value = value
    book.save(path)


def test_the_copy_keeps_the_workbook_and_marks_its_cells(serve: Serve) -> None:
    """Formats, notes, dropdowns, widths and other sheets stay; the wrong cells have a color and a note."""
    served = serve()
    before = _workbook(served.door.folder).read_bytes()
    ran = served(*CHECK)
    assert "\nAnnotated copy: fixed.xlsx (2 cells are colored and noted, listed in its first sheet)\n" in ran.err
    assert (served.door.folder / "people.xlsx").read_bytes() == before
    book = load_workbook(served.door.folder / "fixed.xlsx")
    assert book.sheetnames == ["What to fix", "Cover", "People"]
    sheet = book["People"]
    assert (sheet["A2"].font.color.rgb, sheet["G4"].fill.fgColor.rgb) == ("00FF0000", "00FFFF00")
    assert (sheet.column_dimensions["B"].width, sheet.freeze_panes) == (31, "B3")
    assert [str(each.sqref) for each in sheet.data_validations.dataValidation] == ["F3:F99"]
    assert sheet["G4"].comment.text == (
        "first line\n\n[importer] 'a lot' is not a whole number\n-> write it in digits; to leave it out, add it "
        "under missing: in mapping.yaml:11"
    )
    assert sheet["A5"].comment.text.startswith("[importer] 'nobody' is not a valid e-mail address")
    colored = {str(each.sqref) for each in sheet.conditional_formatting}
    assert colored == {"A5", "G4"}


def test_a_text_that_the_copy_cannot_hold_is_not_sent_cut(serve: Serve) -> None:
    """A cell of a workbook has a limit: what the copy of a CSV cuts there is a problem when the copy is imported."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1, First="A" * 33_000), candidate(2, Salary="a lot")])
    served("check", "people.csv", "--mapping", "mapping.yaml", "--annotate", "fixed.xlsx")
    _fix(served.door.folder / "fixed.xlsx", "Candidates", G3=900)
    ran = served(*RUN)
    assert ran.counts == {"created": 1, "invalid": 1}, ran.err
    assert [(each["code"], each["places"]) for each in ran.summary["problems"]] == [("cell-cut", ["B2"])]


def test_the_first_sheet_lists_the_causes_with_links(serve: Serve) -> None:
    """Each cause has its count, an example, what to do, and links to its first cells."""
    served = serve()
    _workbook(served.door.folder)
    served(*CHECK)
    page = load_workbook(served.door.folder / "fixed.xlsx")["What to fix"]
    assert [page.cell(row, 1).value for row in (1, 4)] == [
        "What to fix (importer does not read this sheet)",
        "importer run fixed.xlsx --mapping mapping.yaml",
    ]
    rows = [[page.cell(row, column).value for column in (1, 2, 5, 10)] for row in (7, 8)]
    assert rows == [[1, "Salary", "G4", "integer-invalid"], [1, "E-mail", "A5", "email-invalid"]]
    assert [page.cell(row, 5).hyperlink.location for row in (7, 8)] == ["'People'!G4", "'People'!A5"]


@pytest.mark.parametrize("source", ["", "source: {sheet: 1, header_row: 2}\n", "source: {sheet: People}\n"])
def test_the_fixed_copy_is_imported(serve: Serve, source: str) -> None:
    """Whatever the mapping says of the sheet, the copy is read like the file, with the same row numbers."""
    served = serve()
    _workbook(served.door.folder)
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(source + mapping.read_text("utf-8"), "utf-8")
    served(*CHECK)
    assert _places(served(*RUN)) == ["fixed.xlsx, People!G4", "fixed.xlsx, People!A5"]
    _fix(served.door.folder / "fixed.xlsx", "People", G4=900, A5="three@example.com")
    ran = served(*RUN)
    assert ran.counts == {"created": 2, "already_imported": 1}, ran.err


def _places(ran: Ran) -> list[str]:
    return [str(each["message"]).partition(": ")[0] for each in ran.summary["problems"] if each["outcome"] == "invalid"]


def test_annotated_again_only_what_is_wrong_now_is_marked(serve: Serve) -> None:
    """The marks of the first check are removed, and the person's own note stays."""
    served = serve()
    _workbook(served.door.folder)
    served(*CHECK)
    _fix(served.door.folder / "fixed.xlsx", "People", G4=900)
    served("check", "fixed.xlsx", "--mapping", "mapping.yaml", "--annotate", "again.xlsx")
    book = load_workbook(served.door.folder / "again.xlsx")
    sheet = book["People"]
    assert book.sheetnames == ["What to fix", "Cover", "People"]
    assert sheet["G4"].comment.text == "first line"
    assert sheet["A5"].comment.text.count("[importer]") == 1
    assert [str(each.sqref).partition(":")[0] for each in sheet.conditional_formatting] == ["A5"]


def test_a_csv_becomes_a_workbook_of_texts(serve: Serve) -> None:
    """Leading zeros, long numbers and formulas of a CSV are texts, in the rows that they had."""
    served = serve()
    rows = [candidate(1, Phone="00905550000001"), candidate(2, CV="12345678901234567890", Salary="a lot")]
    path = write_csv(served.door.folder / "people.csv", rows)
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\r\n\r\n", 1))
    served("check", "people.csv", "--mapping", "mapping.yaml", "--annotate", "fixed.xlsx")
    sheet = load_workbook(served.door.folder / "fixed.xlsx")["Candidates"]
    cells = [[(cell.value, cell.data_type, cell.number_format) for cell in row] for row in sheet.iter_rows(min_row=3)]
    assert cells == [[(text, "s", "@") for text in row] for row in rows]
    assert sheet["G4"].comment.text.startswith("[importer] 'a lot' is not a whole number")
    _fix(served.door.folder / "fixed.xlsx", "Candidates", G4="900")
    ran = served(*RUN)
    assert ran.counts == {"created": 2}, ran.out
    assert [body["cv"] for body in served.sandbox.memory.accepted()] == ["7001", "12345678901234567890"]


REFUSED = [
    pytest.param(
        ("people.xlsx", "people.xlsx"),
        "people.xlsx: this is the file itself, which is never overwritten [annotation-failed]\n"
        "  -> choose another name\n",
        id="the file itself",
    ),
    pytest.param(
        ("people.xlsx", "fixed.csv"),
        "fixed.csv: the annotated copy is an .xlsx workbook, not .csv [annotation-failed]\n"
        "  -> give a name that ends in .xlsx\n",
        id="another format",
    ),
    pytest.param(
        ("people.xlsm", "fixed.xlsx"),
        "people.xlsm: a workbook with macros cannot be annotated: the copy would lose them [annotation-failed]\n"
        "  -> save it as .xlsx in a spreadsheet program, and check that file\n",
        id="macros",
    ),
]


@pytest.mark.parametrize(("files", "message"), REFUSED)
def test_what_cannot_be_annotated_is_refused_first(serve: Serve, files: tuple[str, str], message: str) -> None:
    """Nothing is checked or written if the copy would be wrong."""
    served = serve()
    path = _workbook(served.door.folder)
    shutil.copy(path, served.door.folder / "people.xlsm")
    ran = served("check", files[0], "--mapping", "mapping.yaml", "--annotate", files[1], "--force")
    assert (ran.code, ran.err) == (3, f"importer: 1 problem found; nothing was sent.\n\n{message}")
    assert not (served.door.folder / "results").exists()


def test_an_existing_copy_is_replaced_only_with_force(serve: Serve) -> None:
    """It may contain what a person has fixed since."""
    served = serve()
    _workbook(served.door.folder)
    (served.door.folder / "fixed.xlsx").write_text("mine", "utf-8")
    ran = served(*CHECK)
    assert (ran.code, ran.err) == (
        2,
        "importer: fixed.xlsx already exists; choose another name with --annotate, or use --force to overwrite it\n",
    )
    assert served(*CHECK, "--force").code == 4
    assert load_workbook(served.door.folder / "fixed.xlsx").sheetnames[0] == "What to fix"


def test_what_the_copy_does_not_have_is_said(serve: Serve) -> None:
    """openpyxl keeps no pictures unless another library is installed: the message names what is missing."""
    served = serve()
    path = _workbook(served.door.folder)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/media/image1.png", b"picture")
    ran = served(*CHECK)
    assert ran.err.endswith(
        "\nNot in the copy, but in your file: pictures\n"
        "Fix the cells in the copy, then import it: importer run fixed.xlsx --mapping mapping.yaml\n"
    )


@pytest.mark.skipif(PROGRAM is None, reason="LibreOffice (soffice) is not installed")
def test_a_copy_that_a_spreadsheet_program_saved_is_imported(serve: Serve, tmp_path: Path) -> None:
    """LibreOffice keeps our sheet and the marks, which are then found again."""
    served = serve()
    _workbook(served.door.folder)
    served(*CHECK)
    way = next(way for way in WAYS if way.opens == ".xlsx" and way.to == "xlsx")
    (saved,) = save_again([served.door.folder / "fixed.xlsx"], way, "German", tmp_path)
    shutil.copy(saved, served.door.folder / "fixed.xlsx")
    assert _places(served(*RUN)) == ["fixed.xlsx, People!G4", "fixed.xlsx, People!A5"]
    served("check", "fixed.xlsx", "--mapping", "mapping.yaml", "--annotate", "again.xlsx")
    book = load_workbook(served.door.folder / "again.xlsx")
    assert book.sheetnames == ["What to fix", "Cover", "People"]
    assert book["People"]["G4"].comment.text.count("[importer]") == 1
    assert len({str(each.sqref) for each in book["People"].conditional_formatting}) == 2


TWINS = [candidate(n, First="Eva", Last="Kim", Salary=str(900 + n), **{"E-mail": f"none {n}"}) for n in (1, 2, 3)]


def _annotated_twins(serve: Serve, first: str) -> tuple[Served, Callable[[str], Ran]]:
    """A CSV of three persons with the same name and wrong e-mails, and one who is right; it was checked or run."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [*TWINS, candidate(4)])
    again = lambda command: served(command, "people.csv", "--mapping", "mapping.yaml", "--json")  # noqa: E731
    again(first)
    served("check", "people.csv", "--mapping", "mapping.yaml", "--annotate", "fixed.xlsx")
    return served, again


@pytest.mark.parametrize("first", ["run", "check"])
def test_the_original_knows_what_was_imported_from_its_copy(serve: Serve, first: str) -> None:
    """Also if e-mails of persons with one name were fixed, and a row of the copy was fixed in its results file."""
    served, again = _annotated_twins(serve, first)
    _fix(served.door.folder / "fixed.xlsx", "Candidates", A2="a@example.com", A3="b@example.com", A4="c@", D4="7009")
    ran = served(*RUN)
    assert ran.counts["created"] + ran.counts.get("already_imported", 0) == 3
    known = again("run")
    assert known.counts == {"already_imported": 3, "invalid": 1}
    note = f"corrected and imported by run {ran.summary['run']} from fixed.xlsx, row 2"
    assert (note, ["row 2", "row 3"]) in [(each["what"], each["places"]) for each in known.summary["problems"]]
    results = served.door.folder / "results" / ran.summary["run"] / "invalid.csv"
    results.write_text(results.read_text("utf-8-sig").replace("c@,", "c@example.com,"), "utf-8-sig")
    assert served("run", str(results), *RUN[2:]).counts == {"created": 1}
    (target,) = json.loads(served("status", "people.csv", "--json").out)["targets"]
    assert target["rows"] == []
    assert {kind: count for kind, count in target["outcomes"].items() if count}.keys() <= {"created", "already_exists"}
    assert again("run").counts == {"already_imported": 4}
    assert served("status", "fixed.xlsx").code == 0
    assert len(served.accepted) == 4


@pytest.mark.parametrize("change", ["moved", "added", "both", "sheet"])
def test_a_row_of_the_copy_that_may_be_another_one_is_not_told(serve: Serve, change: str) -> None:
    """Rows were swapped or added, name and e-mail were both changed, or the first sheet was deleted."""
    served, again = _annotated_twins(serve, "run")
    path = served.door.folder / "fixed.xlsx"
    _fix(path, "Candidates", A2="a@example.com")
    match change:
        case "moved":
            _fix(path, "Candidates", E2=TWINS[1][4], G2=TWINS[1][6], E3=TWINS[0][4], G3=TWINS[0][6])
        case "added":
            _fix(path, "Candidates", A6="d@example.com", B6="Eva", C6="Kim", D6="7001", E6="+905550000007", F6="yes")
        case "both":
            _fix(path, "Candidates", B2="Eve")
        case "sheet":
            book = load_workbook(path)
            book.remove(book["What to fix"])
            book.save(path)
    assert served(*RUN).counts["created"] >= 1
    assert again("run").counts == {"already_imported": 1, "invalid": 3}


def test_status_and_report_name_the_command_for_the_file_of_the_cells(serve: Serve) -> None:
    """A cell of the copy is named with the command that imports the copy; one of the report with that of the report."""
    served = serve()
    folder = served.door.folder
    _workbook(folder)
    served(*CHECK)
    assert served(*RUN).counts == {"created": 1, "invalid": 2}
    shown = served("status", "people.xlsx").out
    assert "fixed.xlsx, People!G4" in shown
    assert "\n     importer run fixed.xlsx --mapping mapping.yaml\n" in shown
    _fix(folder / "fixed.xlsx", "People", G4="1000", A5="eve@example.com")
    assert served(*RUN).counts == {"created": 2, "already_imported": 1}
    assert served("status", "people.xlsx").code == 0


def test_the_command_for_the_copy_names_its_sheet(serve: Serve) -> None:
    """A sheet that was named for the file is named for its copy too."""
    served = serve()
    _workbook(served.door.folder)
    ran = served(*CHECK, "--sheet", "People")
    command = "importer run fixed.xlsx --mapping mapping.yaml --sheet People"
    assert ran.err.endswith(f"\nFix the cells in the copy, then import it: {command}\n")
    assert served(*command.split()[1:], "--json").counts == {"created": 1, "invalid": 2}


def test_a_report_is_imported_with_its_hidden_columns(serve: Serve) -> None:
    """The columns that only the importer reads are hidden, and read when the fixed report is imported."""
    served = serve()
    folder = served.door.folder
    _workbook(folder)
    run = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json").summary["run"]
    path = folder / "results" / str(run) / "report.xlsx"
    sheet = load_workbook(path)["invalid"]
    last = sheet.cell(1, sheet.max_column)
    assert (last.value, sheet.column_dimensions[last.column_letter].hidden) == ("import_typed", True)
    assert f"     importer run results/{run}/report.xlsx --mapping mapping.yaml" in [
        row[0] for row in load_workbook(path)["Summary"].iter_rows(values_only=True)
    ]
    where = {cell.value: cell.coordinate for row in sheet.iter_rows() for cell in row}
    _fix(path, "invalid", **{where["a lot"]: "1000", where["nobody"]: "eve@example.com"})
    again = served("run", f"results/{run}/report.xlsx", "--mapping", "mapping.yaml", "--json")
    assert again.counts == {"created": 2}
