"""Hostile and oversized files end in a message, within the limits."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import pytest

from importer.models import SourceOptions
from importer.problems import UnusableInput
from importer.sources import USUAL_LIMITS, ReadingLimits, open_sheet
from tests.patience import PATIENCE
from tests.sources.corpus.writers import openpyxl_bytes, raw_xlsx

_HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>Name</t></is></c></row>'


def refusal(path: Path, limits: ReadingLimits = USUAL_LIMITS) -> str:
    """The message with which a file is refused."""
    with pytest.raises(UnusableInput) as caught:
        list(open_sheet(path, SourceOptions(), limits, shown_as=path.name).rows())
    return str(caught.value)


def test_stray_cell_far_away(tmp_path: Path) -> None:
    """A stray cell makes a row as wide as the sheet: it is reported."""
    path = tmp_path / "wide.xlsx"
    path.write_bytes(raw_xlsx(_HEADER + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))
    (row,) = open_sheet(path, SourceOptions(), shown_as="wide.xlsx").rows()
    assert [str(problem) for problem in row.problems] == [
        "wide.xlsx, Sheet!XFD1048576: the row has 16384 cells, but the header has 1; clear the extra cells, or give "
        "them a header; in a CSV, quote cells that contain the delimiter"
    ]


def _wide_rows(numbers: range, stray: int) -> str:
    """Rows with one cell; rows whose number is a multiple of `stray` have another one in the last column."""
    cell = '<c r="{0}{1}"><v>{1}</v></c>'
    return "".join(
        f'<row r="{n}">{cell.format("A", n)}{cell.format("XFD", n) if n % stray == 0 else ""}</row>' for n in numbers
    )


def test_stray_cells_in_a_few_of_many_rows(tmp_path: Path) -> None:
    """Stray cells in a few rows are reported with their rows, and all rows are read."""
    path = tmp_path / "wide.xlsx"
    path.write_bytes(raw_xlsx(_HEADER + _wide_rows(range(2, 1502), 700)))
    rows = list(open_sheet(path, SourceOptions(), shown_as="wide.xlsx").rows())
    assert [row.number for row in rows] == list(range(2, 1502))
    assert {row.number for row in rows if row.problems} == {700, 1400}


def test_stray_cells_in_too_many_rows(tmp_path: Path) -> None:
    """Stray cells in thousands of rows are rejected, with the address of one."""
    path = tmp_path / "wide.xlsx"
    path.write_bytes(raw_xlsx(_HEADER + _wide_rows(range(2, 3002), 2)))
    assert refusal(path) == (
        "wide.xlsx: stray cells make rows up to 16,384 columns wide, such as XFD2442; delete the columns to the right "
        "of the table and save the workbook again, or save the sheet as CSV"
    )


WRONG_ROWS = [
    (4294967295, 2, "row 4294967295 is after the last possible one"),
    (2, 9999999, "row 2 has the cell A9999999"),
]


@pytest.mark.parametrize(("row", "cell", "told"), WRONG_ROWS)
def test_row_number_that_no_sheet_has(tmp_path: Path, row: int, cell: int, told: str) -> None:
    """A row number above the last possible row is damage, found at once, within memory and time limits."""
    path = tmp_path / "a.xlsx"
    path.write_bytes(raw_xlsx(_HEADER + f'<row r="{row}"><c r="A{cell}"><v>1</v></c></row>'))
    started = time.monotonic()
    assert refusal(path) == (
        f"a.xlsx: the workbook is damaged and cannot be read (sheet 'Sheet': {told}); open it in a spreadsheet program "
        "and save it again"
    )
    assert time.monotonic() - started < PATIENCE


def test_bomb_is_rejected_before_it_is_unpacked(tmp_path: Path) -> None:
    """A workbook that declares an unpacked size over the limit is rejected at once."""
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(raw_xlsx(_HEADER, extra={"xl/media/zeros.bin": bytes(40 << 20)}))
    assert path.stat().st_size < 100_000
    assert refusal(path, ReadingLimits(unpacked=20 << 20)) == (
        "bomb.xlsx: the workbook unpacks to 41 MB; the limit is 20 MB; save the sheet as CSV, which has no such limit"
    )


def test_bomb_that_lies_about_its_size(tmp_path: Path) -> None:
    """A part that unpacks to more than its declared size is rejected, within the memory limit."""
    path = tmp_path / "lie.xlsx"
    sheet = b"<worksheet>" + b" " * (8 << 20) + b"</worksheet>"
    path.write_bytes(raw_xlsx(_HEADER, extra={"xl/worksheets/sheet1.xml": sheet}))
    _understate(path, len(sheet))
    started = time.monotonic()
    message = refusal(path)
    assert message.startswith("lie.xlsx: the workbook cannot be read")
    assert time.monotonic() - started < PATIENCE


def _understate(path: Path, size: int) -> None:
    content = path.read_bytes()
    assert content.count(size.to_bytes(4, "little")) == 2
    path.write_bytes(content.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little")))


def test_nothing_is_unpacked_to_disk_and_no_link_followed(tmp_path: Path) -> None:
    """Reading a workbook writes no file, whatever the paths of its parts."""
    path = tmp_path / "a.xlsx"
    path.write_bytes(openpyxl_bytes((("Name",), ("Ada",))))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../evil.txt", "x")
        archive.writestr("/tmp/evil.txt", "x")
    rows = list(open_sheet(path, SourceOptions()).rows())
    assert [row.cells for row in rows] == [("Ada",)]
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.xlsx"]
    assert not (tmp_path.parent / "evil.txt").exists()


def test_files_next_to_a_workbook_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python files in the current folder do not replace those of the library."""
    monkeypatch.chdir(tmp_path)
    for name in ("csv.py", "zipfile.py", "struct.py", "importer.py"):
        (tmp_path / name).write_text("raise SystemExit('run')\n")
    (tmp_path / "a.xlsx").write_bytes(openpyxl_bytes((("Name",), ("Ada",))))
    assert [row.cells for row in open_sheet(Path("a.xlsx"), SourceOptions()).rows()] == [("Ada",)]


def test_cell_over_the_limit(tmp_path: Path) -> None:
    """A cell over the length limit is reported with its row, and the rows below are read."""
    path = tmp_path / "long.csv"
    path.write_text("Name,City\nAda," + "x" * 5000 + "\nAlan,London\n")
    sheet = open_sheet(path, SourceOptions(), ReadingLimits(cell_characters=4000), shown_as="long.csv")
    long, after = sheet.rows()
    assert (after.cells, after.problems) == (("Alan", "London"), ())
    (problem,) = long.problems
    assert str(problem) == (
        'long.csv, row 2: a cell is longer than 4,000 characters (line 2); most likely a quote (") is not closed: '
        "close it; shorten a text that is really that long"
    )


def test_row_of_many_lines(tmp_path: Path) -> None:
    """A row of many short quoted lines is reported before it fills the memory."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"Name,City\nAda,London\n" + b'"a\n",' * 600_000 + b"\n")
    assert refusal(path, ReadingLimits(row=1 << 20)) == (
        "a.csv, row 3: a row is longer than 1 MB, which is the limit; check that the file is a table and that no "
        "line break is missing"
    )


@pytest.mark.parametrize("line", [b"\n", b"\r\n", b" \n", b'""\n', b"\r"], ids=repr)
def test_blank_lines(tmp_path: Path, line: bytes) -> None:
    """Blank lines of any form count as rows, and are read as fast as filled rows."""

    def seconds(lines: bytes) -> float:
        path = tmp_path / "a.csv"
        path.write_bytes(b"Name\n" + lines + b"Ada\n")
        started = time.process_time()
        *_, last = open_sheet(path, SourceOptions()).rows()
        assert last.number == 10_002
        return time.process_time() - started

    # The CPU time of the fastest of three: others have the processor in between
    filled, blank = (min(seconds(each * 10_000) for _ in range(3)) for each in (b"Ada\n", line))
    assert blank < 1.5 * filled


def test_a_long_row_that_is_looked_at_for_a_broken_one_is_refused(tmp_path: Path) -> None:
    """Rows after a broken one prove where it ends; a longer one among them is not read in pieces."""
    path, good, long = tmp_path / "a.csv", "Ada,London,1\n", "D," + "x,y" * 900 + "\n"
    broken = 'B"x",Rome,2\n"C"x,Oslo,3\n'
    path.write_text(f"Name,City,No\n{good * 9}{broken}{good * 6}{long}{good}")
    assert "row 19: a row is longer than" in refusal(path, ReadingLimits(row=1_000))


_XML_2003 = b'<?xml version="1.0"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">'
_SAVE = "open it in a spreadsheet program and save it as .xlsx"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("old.xls", _XML_2003, f"this is an Excel 2003 XML file, which is not supported; {_SAVE}"),
        (
            "half.csv",
            "Name,City\nA,B\n".encode("utf-16-le"),
            "the file looks like UTF-16 without a byte-order mark; set its encoding under source: in the mapping: "
            "`encoding: utf-16-le` (reads 'Name', 'City', 'A')",
        ),
    ],
)
def test_file_of_another_kind(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """A file that is not what its name says is refused with what it is, and the way out."""
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal(path) == f"{name}: {message}"


def test_csv_row_of_too_many_cells(tmp_path: Path) -> None:
    """A row of a CSV with more cells than a sheet can have ends the reading, with what may be wrong."""
    path = tmp_path / "wide.csv"
    path.write_text(f"Name,City\n{','.join('x' * 20_000)}\n")
    assert refusal(path) == (
        'wide.csv, row 2: the row has 20,000 cells; the limit is 16,384; check that "," is the right delimiter and '
        "that no line break is missing"
    )


def test_file_that_changes_after_the_scan(tmp_path: Path) -> None:
    """A CSV that is written between the scan and the reading is refused: the scan proved another file."""
    path = tmp_path / "a.csv"
    path.write_text("Name,City\nA,B\n")
    sheet = open_sheet(path, SourceOptions(), shown_as="a.csv")
    path.write_text("Name,City\nA,C\nD,E\n")
    with pytest.raises(UnusableInput) as caught:
        list(sheet.rows())
    assert str(caught.value) == (
        "a.csv: the file changed after it was opened; close the program that writes to it, then run the same command "
        "again"
    )


def test_end_of_the_table_that_is_not_met(tmp_path: Path) -> None:
    """A text under stop_at that no row begins with is a warning: nobody notices else that a footer was renamed."""
    path = tmp_path / "a.csv"
    path.write_text("Name,City\nA,B\nSum,2\n")
    sheet = open_sheet(path, SourceOptions(stop_at="Total"), shown_as="a.csv")
    assert len(list(sheet.rows())) == 2
    assert [str(problem) for problem in sheet.warnings] == [
        "a.csv: no row begins with 'Total', so the table is read to the end of the file; correct stop_at: under "
        "source: in the mapping (it is the whole text of the first filled cell)"
    ]


def test_blank_line_behind_an_open_quote(tmp_path: Path) -> None:
    """Blank lines between the rows that follow an open quote do not make its row a text of several lines."""
    path = tmp_path / "a.csv"
    path.write_text('Name,City,Zip\nA,"B,1\n\nC,D,2\nE,F,3\n')
    rows = list(open_sheet(path, SourceOptions(), shown_as="a.csv").rows())
    assert [(row.number, bool(row.problems)) for row in rows] == [(2, True), (4, False), (5, False)]
