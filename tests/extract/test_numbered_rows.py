"""Rows of a results file by their numbers, without reading it from its start."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from importer.extract import NumberedRows, ReadingLimits, open_sheet
from importer.models import SourceOptions
from importer.text.results_cells import escape_formula

HEADER = ["E-mail", "Note", "import_row", "import_status", "import_problem", "import_hint"]
NOTES = ("plain", 'a "quote"', "two\nlines", '"\n', "=1+1", "", "İzmir", 'x@example.com,y,900,invalid,,\n"z', "same")


def written(path: Path, numbers: list[int]) -> Path:
    """A results file with rows of these numbers, whose notes have quotes, line breaks and what looks like a row."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.writer(file, delimiter=";", lineterminator="\r\n")
        out.writerow(HEADER)
        for number in numbers:
            note = escape_formula(NOTES[number % len(NOTES)])
            out.writerow([f"p{number}@example.com", note, number, "invalid", "", ""])
    return path


@pytest.mark.parametrize("is_changed", [False, True], ids=["as written", "perhaps changed"])
@pytest.mark.parametrize("order", [1, -1], ids=["ascending", "descending"])
def test_each_row_is_the_one_that_was_asked_for(tmp_path: Path, is_changed: bool, order: int) -> None:
    """A row is the same as in a read of the whole file, wherever it is, and if the numbers do not ascend."""
    path = written(tmp_path / "invalid.csv", [number * 3 for number in range(900)][::order])
    limits = ReadingLimits()
    whole = {row.corrects: row for row in open_sheet(path, SourceOptions(), limits).rows()}
    found = NumberedRows(path, limits, shown_as=str(path), is_changed=is_changed)
    for numbers in ({0}, {3, 2697}, {765, 768, 771, 774}, {900}, {1, 2698}):
        rows = found.rows(numbers)
        assert {row.cells for row in rows.values()} == {whole[each].cells for each in numbers & whole.keys()}
        assert all(row.number == number for number, row in rows.items())


@pytest.mark.parametrize("is_changed", [False, True], ids=["as written", "perhaps changed"])
@pytest.mark.parametrize("text", NOTES)
def test_the_rows_with_a_text_are_found(tmp_path: Path, is_changed: bool, text: str) -> None:
    """All rows with this text in a column, and no row that has it elsewhere."""
    path = written(tmp_path / "invalid.csv", list(range(1, 700)))
    rows = list(open_sheet(path, SourceOptions(), ReadingLimits()).rows())
    found = NumberedRows(path, ReadingLimits(), shown_as=str(path), is_changed=is_changed)
    expected = [row.corrects for row in rows if row.cells[1] == text]
    assert list(found.numbers_with(1, text)) == expected
    assert list(found.numbers_with(0, text)) == []


def test_a_file_that_was_saved_in_utf_16_is_read_from_its_start(tmp_path: Path) -> None:
    """A spreadsheet program's Unicode text has no such places, and its rows are found all the same."""
    path = written(tmp_path / "invalid.csv", [2, 3])
    path.write_text(path.read_text("utf-8-sig"), "utf-16", newline="")
    found = NumberedRows(path, ReadingLimits(), shown_as=str(path), is_changed=False)
    assert found.rows({3})[3].cells[0] == "p3@example.com"
    assert list(found.numbers_with(0, "p2@example.com")) == [2]
