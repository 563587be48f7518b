"""Which row is the header: in 400 sheets, each labelled by eye, and by the names that a mapping reads.

Those of `labelled_sheets_blind.txt` were written without knowledge of the rules. Where no row is surely the header, as
above columns that are named by years, none is found, and the message asks for `header_row:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from importer.models import SourceOptions
from importer.problems import Origin, UnusableInput
from importer.sources import open_sheet
from importer.sources.header import find_header
from importer.sources.sheet import Record
from tests.sources.corpus.writers import csv_text

_LEAST_RIGHT, _MOST_WRONG = 175, 9  # the others are refused
_PLAIN = ("p", "e", "y", "a-plain", "a-empty", "a-number", "b-pl", "b-ec", "b-yr")  # IDs of sheets without titles
_TYPED = re.compile(r"[nd]:")


@dataclass(frozen=True)
class _Labelled:
    """A sheet: its header as (first row, number of rows), or None; its rows. `n:` and `d:` mark typed cells."""

    id: str
    header: tuple[int, int] | None
    rows: list[list[str]]

    @property
    def texts(self) -> list[list[str]]:
        return [[_TYPED.sub("", cell, count=1) if _TYPED.match(cell) else cell for cell in row] for row in self.rows]


def _labelled(file: str) -> Iterator[_Labelled]:
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    for block in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        title, _, *lines = block.strip("\n").split("\n")
        id, *facts = (part.strip() for part in title.split("|"))
        known = dict(fact.split("=") for fact in facts)
        header = None if known["header"] == "none" else (int(known["header"]), int(known["rows"]))
        rows = [[] if line == "." else [cell.strip() for cell in line.split("|")]
                for line in lines if not line.startswith("merged: ")]  # fmt: skip
        width = max(map(len, rows))
        yield _Labelled(id, header, [row + [""] * (width - len(row)) for row in rows])


_SETS = {file: list(_labelled(file)) for file in ("labelled_sheets.txt", "labelled_sheets_blind.txt")}
_EACH_SET = pytest.mark.parametrize("sheets", _SETS.values(), ids=_SETS.keys())


@_EACH_SET
def test_header_of_a_csv(tmp_path: Path, sheets: list[_Labelled]) -> None:
    """Most labelled sheets have the right header as CSV, in which all cells are text; few have a wrong one. Plain
    sheets and those with blank columns give no warning."""
    path, wrong, refused, warned = tmp_path / "a.csv", [], [], []
    for sheet in sheets:
        path.write_text(csv_text(sheet.texts), encoding="utf-8")
        try:
            found = open_sheet(path, SourceOptions(delimiter=","))
            header = (found.header_row - found.header_rows + 1, found.header_rows)
            warned += [(sheet.id, one.code) for one in found.warnings]
        except UnusableInput:
            header = None
        if header != sheet.header:
            (wrong if header else refused).append(sheet.id)
    assert [each for each in warned if each[0].startswith(_PLAIN)] == []
    assert len(sheets) in (200, 202)
    assert len(sheets) - len(wrong) - len(refused) >= _LEAST_RIGHT, refused
    assert len(wrong) <= _MOST_WRONG, wrong


@_EACH_SET
def test_header_of_typed_cells(sheets: list[_Labelled]) -> None:
    """Like those of a CSV, where numbers and dates are typed, as in a workbook."""
    wrong, refused = [], []
    for sheet in sheets:
        typed = [frozenset(index for index, cell in enumerate(row) if _TYPED.match(cell)) for row in sheet.rows]
        records = [Record(number, tuple(row), typed[number - 1]) for number, row in enumerate(sheet.texts, 1)]
        try:
            found = find_header(Origin("a.xlsx", "Sheet"), records, SourceOptions())
            header = (found.first_row, found.last_row - found.first_row + 1)
        except UnusableInput:
            header = None
        if header != sheet.header:
            (wrong if header else refused).append(sheet.id)
    assert len(sheets) - len(wrong) - len(refused) >= _LEAST_RIGHT, refused
    assert len(wrong) <= _MOST_WRONG, wrong


@pytest.mark.parametrize(
    ("names", "row"),
    [(("Cand-Name", "cand_mail"), 1), (("Name", "E-MAIL", "Not here"), 2), (("Name", "City", "Phone"), 1), ((), 1)],
    ids=["most names", "a name is missing", "few names", "no names"],
)
def test_the_names_of_the_mapping_decide(names: tuple[str, ...], row: int, tmp_path: Path) -> None:
    """The header is the row with most of the names that the mapping reads, if it has more than half of them."""
    path = tmp_path / "a.csv"
    path.write_text("cand_name,cand_mail\nName,E-mail\nAda,ada@example.com\nAlan,alan@example.org\n", encoding="utf-8")
    assert open_sheet(path, SourceOptions(names=names)).header_row == row


@pytest.mark.parametrize(
    ("again", "below", "refused"),
    [
        ("Name,E-mail,City", "Ada,c@example.com,Bonn", {4: "filtered"}),
        ("NAME,e mail,", "Ada,c@example.com,Bonn", {4: "filtered"}),
        ("E-mail,Name,City", "c@example.com,Ada,Bonn", {4: "second-table", 5: "second-table"}),
        ("City,Name,E-mail", "Bonn,Ada,c@example.com", {4: "second-table", 5: "second-table"}),
        ("E-Mail,Nachname,Ort", "c@example.com,Ada,Bonn", {4: "second-table", 5: "second-table"}),
        ("E-posta,Soyadı,Şehir", "c@example.com,Ada,Bonn", {4: "second-table", 5: "second-table"}),
        ("E-mail,Surname,Country", "c@example.com,Ada,Peru", {4: "second-table", 5: "second-table"}),
        ("City,Name,E-mail\nBonn,Ada,c@example.com\nName,E-mail,City", "Ada,d@example.com,Bonn",
         {4: "second-table", 5: "second-table", 6: "filtered"}),
        ("Name,,", "Ada,c@example.com,Bonn", {}),
        ("Name,none,Bonn", "Ada,c@example.com,Bonn", {}),
        ("Noa,,City", "Ada,c@example.com,Bonn", {}),
        ("Total,2,", "Ada,c@example.com,Bonn", {}),
        ("Name,E-mail,555-0103", "Ada,c@example.com,Bonn", {}),
    ],
)  # fmt: skip
def test_the_header_again(again: str, below: str, refused: dict[int, str], tmp_path: Path) -> None:
    """A header among the rows is left out; in another order, or with other names, the rows below it are refused."""
    path = tmp_path / "a.csv"
    path.write_text(f"Name,E-mail,City\nAda,a@example.com,Ulm\nBob,b@example.com,Ulm\n{again}\n{below}\n", "utf-8")
    rows = list(open_sheet(path, SourceOptions(names=("E-mail",))).rows())
    assert len(rows) == len(path.read_text("utf-8").splitlines()) - 1
    assert {row.number: problem.code for row in rows for problem in row.problems} == refused


def test_boxes_that_are_ticked_with_the_name_of_their_column(tmp_path: Path) -> None:
    """They are no sign against the header."""
    path = tmp_path / "a.csv"
    path.write_text("Name,City,Java,SQL,Go\n" + "Ada,Ulm,Java,,Go\nBob,Bonn,,SQL,\n" * 9, encoding="utf-8")
    assert open_sheet(path, SourceOptions()).header_row == 1


def test_letters_as_names_are_no_header_again(tmp_path: Path) -> None:
    """Under the names A, B and C, a row of these letters is data."""
    path = tmp_path / "a.csv"
    path.write_text("A,B,C\n1,2,3\na,b,c\n", encoding="utf-8")
    rows = open_sheet(path, SourceOptions(header_row=1)).rows()
    assert [row.problems for row in rows] == [(), ()]


def test_many_blank_rows(tmp_path: Path) -> None:
    """A blank row after each of 20,000 rows takes no more memory, and no row is lost."""
    path = tmp_path / "a.csv"
    path.write_text("Name,Phone\n" + "Ada,555-0101\n,\n" * 20_000, encoding="utf-8")
    assert sum(1 for _ in open_sheet(path, SourceOptions()).rows()) == 20_000


@pytest.mark.parametrize("rows_above", [1, 3])
def test_the_first_of_equal_headers_is_the_header(tmp_path: Path, rows_above: int) -> None:
    """However few rows are between them, and however empty these are: they are candidates, too."""
    names = ["Email", "First", "City", "Phone"]
    above = [[f"a{number}@example.com", "Ada", "", ""] for number in range(rows_above)]
    below = [[f"b{number}@example.com", "Bob", "Bursa", f"+9055500000{number:02}"] for number in range(8)]
    file = tmp_path / "people.csv"
    file.write_text(csv_text([names, *above, ["", "", "", ""], names, *below]), "utf-8")
    sheet = open_sheet(file, SourceOptions(names=("Email", "First")))
    assert sheet.header_row == 1
    read = [(row.cells[0], [problem.code for problem in row.problems]) for row in sheet.rows()]
    assert [cell for cell, problems in read if not problems] == [each[0] for each in (*above, *below)]
    assert [problems for _, problems in read if problems] == [["filtered"]]
