"""The workbook of a template: notes, dropdowns, hidden lists, and its mapping."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from importer.mapping import read_mapping, resolve
from importer.models import Operation, Question, Target
from importer.problems import Column, column_letter
from importer.settings import WireFormat
from importer.suggest import write_proposal
from importer.suggest.template import template_columns, template_mapping, write_workbook
from tests.mapping.mapping_files import question

TARGET = Target(Operation.APPLY, "4f2c9a")
MANY = tuple(f"Option number {number} of a long list" for number in range(40))
QUESTIONS = (
    question("few", "single_choice", options=("a", "b"), text="Few?", id=1, required=True),
    question("many", "single_choice", options=MANY, text="Many?", id=2),
    question("comma", "single_choice", options=("a, b", "c"), text="Comma?", id=3),
    question("several", "multiple_choice", options=("x; y", "z"), text="Several?", id=4),
    question("day", "date", text="Day?", id=5),
    question("formula", text="=1+1", id=6),
    question("mail", text="e-mail", id=7),
    question("new", "newest_type", text="An unknown type", id=8),
)


@pytest.fixture
def workbook(tmp_path: Path) -> openpyxl.Workbook:
    path = tmp_path / "t.xlsx"
    write_workbook(path, template_columns(TARGET, QUESTIONS))
    return openpyxl.load_workbook(path)


def test_a_header_with_notes_and_formats(workbook: openpyxl.Workbook) -> None:
    """Each header has a note; texts stay texts, and a question that looks like a formula is a text."""
    sheet = workbook["Candidates"]
    headers = [cell.value for cell in sheet[1]]
    assert headers[:5] == ["E-mail", "First name", "Last name", "CV document ID", "Terms of use accepted"]
    assert headers[5:] == ["Few?", "Many?", "Comma?", "Several?", "Day?", "=1+1", "e-mail"]
    assert sheet["K1"].data_type == "s"
    notes = {str(cell.value): cell.comment.text for cell in sheet[1] if cell.comment}
    assert notes["Few?"] == "Required.\nOne of:\na\nb"
    assert notes["Several?"] == ("Optional.\nOne or more of these, separated by |:\nx; y\nz")
    assert sheet.column_dimensions["D"].number_format == "@"
    assert sheet.freeze_panes == "A2"


def test_dropdowns_and_the_lists_behind_them(workbook: openpyxl.Workbook) -> None:
    """Short lists are in the dropdown; long lists, and lists with commas, are in a hidden sheet."""
    rules = {str(rule.sqref).split("2:")[0]: rule for rule in workbook["Candidates"].data_validations.dataValidation}
    assert (rules["F"].type, rules["F"].formula1) == ("list", '"a,b"')
    assert rules["G"].formula1 == "Lists!$A$1:$A$40"
    assert rules["H"].formula1 == "Lists!$B$1:$B$2"
    assert rules["J"].type == "date"
    assert "I" not in rules  # a dropdown takes one choice only
    lists = workbook["Lists"]
    assert lists.sheet_state == "hidden"
    assert [cell.value for cell in lists["A"]][:40] == list(MANY)
    assert [cell.value for cell in lists["B"]][:2] == ["a, b", "c"]


def test_the_mapping_fits_the_workbook(tmp_path: Path, workbook: openpyxl.Workbook) -> None:
    """Columns with equal normalized names are distinguished, and every supported question is answered."""
    columns = template_columns(TARGET, QUESTIONS)
    path = tmp_path / "t.yaml"
    path.write_text(write_proposal(template_mapping(TARGET, QUESTIONS, columns, "t.xlsx")), "utf-8")
    cells = enumerate(workbook["Candidates"][1])
    header = [Column(index, column_letter(index), str(cell.value)) for index, cell in cells]
    resolved = resolve(read_mapping(path), header, QUESTIONS, WireFormat())
    assert [answer.question.key for answer in resolved.answers] == [one.key for one in QUESTIONS[:-1]]
    assert "please check" not in path.read_text("utf-8")


def test_column_letters() -> None:
    """After Z comes AA, after ZZ comes AAA."""
    assert [column_letter(index) for index in (0, 25, 26, 51, 701, 702)] == ["A", "Z", "AA", "AZ", "ZZ", "AAA"]


def test_all_separators_occur_in_options() -> None:
    """If every separator occurs in an option, choices are separated by line breaks."""
    taken: Question = question("q", "multiple_choice", options=("a;b", "a|b", "a/b"), text="Q?")
    column = template_columns(TARGET, (taken,))[-1]
    assert (column.separator, "a line break" in column.note) == ("\n", True)
