"""The workbook report.xlsx, read back with another library."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from importer.models import Outcome, OutcomeKind
from importer.problems import Problem
from importer.report.outcomes import NO_ACTION_SHEET_LIMIT, OUTCOMES, SHEET_LIMIT, outcome_text
from importer.report.workbook import MOST_COMMENTS
from importer.report.write import write_report
from importer.text.results_cells import CUT_NOTE, MAX_CELL_LENGTH, truncated
from tests.report.building import FACTS, bad_degree, bad_mobile, created, read_csv, row, rows


def _open(folder: Path) -> Any:
    return openpyxl.load_workbook(folder / "report.xlsx", rich_text=False)


def _cells(sheet: Any) -> list[list[Any]]:
    return [[cell.value for cell in cells] for cells in sheet.iter_rows()]


def test_sheets_stand_in_the_order_of_the_outcomes(tmp_path: Path) -> None:
    """Summary comes first, then a sheet for each outcome that has rows, in one order whatever the order of the rows."""
    kinds = list(reversed([kind for kind in OutcomeKind if kind is not OutcomeKind.FAILED]))
    outcomes = [Outcome(number, kind) for number, kind in enumerate(kinds, start=4)]

    write_report(tmp_path, FACTS, rows(range(4, 4 + len(kinds))), outcomes)

    book = _open(tmp_path)
    assert book.sheetnames == [
        "Summary",
        "201 created",
        "409 already exists",
        "400 rejected",
        "invalid",
        "unconfirmed",
        "not sent",
        "already imported",
        "filtered",
    ]
    for sheet in book.worksheets[1:]:
        assert sheet.auto_filter.ref == "A1:I2", sheet.title
        assert sheet.freeze_panes == "C2", sheet.title
        assert sheet.print_title_rows == "$1:$1", sheet.title


def test_what_is_typed_into_a_blank_cell_stays_text(tmp_path: Path) -> None:
    """A spreadsheet program would make 12 of 0012."""
    write_report(tmp_path, FACTS, rows([4]), [Outcome(4, OutcomeKind.INVALID)])
    columns = _open(tmp_path)["invalid"].column_dimensions.values()
    for index, number_format in ((2, "General"), (9, "@")):
        assert [one.number_format for one in columns if one.min <= index <= one.max] == [number_format]


def test_filters_and_print_titles_belong_to_their_sheet(tmp_path: Path) -> None:
    """Each filter and print title belongs to its sheet, whatever the order of the sheets."""
    outcomes = [Outcome(4, OutcomeKind.FILTERED), Outcome(5, OutcomeKind.INVALID), *created([6])]

    write_report(tmp_path, FACTS, rows([4, 5, 6]), outcomes)

    with zipfile.ZipFile(tmp_path / "report.xlsx") as package:
        workbook = package.read("xl/workbook.xml").decode()
    titles = re.findall(r'<sheet name="([^"]+)"', workbook)
    filed = re.findall(r'<definedName name="_xlnm[^"]+" localSheetId="(\d+)"[^>]*>\'?([^\'!]+)', workbook)
    assert titles == ["Summary", "201 created", "invalid", "filtered"]
    assert sorted((titles[int(index)], named) for index, named in filed) == [
        *[("201 created", "201 created")] * 2,
        *[("filtered", "filtered")] * 2,
        *[("invalid", "invalid")] * 2,
    ]


def test_a_sheet_has_the_rows_of_its_outcome(tmp_path: Path) -> None:
    """A sheet has the problem of each row first, and whose row it is; then the source's own columns as text."""
    bad = row(7, "0012", "a@example.com", "+44 20 7946 0123", "bachelor")
    outcomes = [Outcome(7, OutcomeKind.INVALID, problems=(bad_degree(bad),)), *created([8])]

    write_report(tmp_path, FACTS, [bad, row(8)], outcomes)

    assert _cells(_open(tmp_path)["invalid"]) == [
        [
            *("import_row", "import_candidate", "import_status", "import_problem", "import_hint"),
            *("ID", "E-mail", "Mobile", "Degree 1"),
        ],
        [
            *("7", "0012, a@example.com", "invalid"),
            """Candidates!D7, column "Degree 1": 'bachelor' is not a degree that the service accepts""",
            "add it under values: in mappings/zoho.yaml:41",
            *("0012", "a@example.com", "+44 20 7946 0123", "bachelor"),
        ],
    ]


def test_cells_with_problems_are_highlighted_with_their_message(tmp_path: Path) -> None:
    """A cell with a problem, even an empty one, has a color and a comment; the others do not."""
    bad = row(7, "1", "a@example.com", "", "bachelor")
    problems = (bad_degree(bad), bad_mobile(bad))

    write_report(tmp_path, FACTS, [bad], [Outcome(7, OutcomeKind.INVALID, problems=problems)])

    _, cells = _open(tmp_path)["invalid"].iter_rows()
    assert [cell.comment.text if cell.comment else None for cell in cells] == [
        *(None, None, None, None, None, None, None, "'' is not a valid phone number\nwrite it with its country"),
        "'bachelor' is not a degree that the service accepts\nadd it under values: in mappings/zoho.yaml:41",
    ]
    marked = cells[8].fill.fgColor.rgb
    assert [cell.fill.fgColor.rgb == marked for cell in cells[5:9]] == [False, False, True, True]


HOSTILE = {
    "formula": "=1+1",
    "array formula": "{=1+1}",
    "link": "https://example.com/",
    "number": "0012",
    "long number": "12345678901234567890",
    "plus": "+44 20 7946 0123",
    "markup": "<b>&amp;</b>",
    "rich text of XlsxWriter": "<r><t>somebody else</t></r>",
    "rich text that is broken": "<r>&</t></r>",
    "line break": "one\ntwo",
    "blanks": "  a  ",
    "emoji": "👩‍💻",
    "lone surrogate": "\udcfd",
    "no character": "\ufffe",
    "long": "x" * MAX_CELL_LENGTH,
}
AS_SHOWN = {"lone surrogate": "\\udcfd", "no character": "\ufffd"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_cells_are_text(tmp_path: Path, name: str) -> None:
    """Every cell is text in the workbook, never a formula, a link, a number or markup."""
    write_report(tmp_path, FACTS, [row(4, HOSTILE[name])], created([4]))

    cell = _open(tmp_path)["201 created"]["F2"]
    assert (cell.value, cell.data_type) == (AS_SHOWN.get(name, HOSTILE[name]), "s")
    assert cell.hyperlink is None


@pytest.mark.parametrize("character", ["x", "👩"], ids=["one unit", "two units"])
def test_text_that_is_too_long_for_a_cell_is_cut_with_a_note(character: str) -> None:
    """Text longer than Excel's 32,767 units is cut between two characters, with a note."""
    text = truncated(character * 40_000)

    assert text.endswith(CUT_NOTE)
    assert MAX_CELL_LENGTH - 1 <= len(text.encode("utf-16-le")) // 2 <= MAX_CELL_LENGTH
    assert set(text.removesuffix(CUT_NOTE)) == {character}


@pytest.mark.net
def test_a_sheet_on_which_nobody_acts_ends_at_10000_rows(tmp_path: Path) -> None:
    """The rest is only in the CSV file: a note below the filter shows that, and the summary counts all rows."""
    count, kind, file = NO_ACTION_SHEET_LIMIT + 1, OutcomeKind.CREATED, "201_created.csv"
    problem = (Problem("left-out", "Status is Hired"),)  # written in another way than a row without
    outcomes = (Outcome(n, kind, problems=problem if n == 2 else ()) for n in range(1, count + 1))

    summary = write_report(tmp_path, FACTS, rows(range(1, count + 1)), outcomes)

    book = _open(tmp_path)
    sheet = book.worksheets[1]
    first = [cells[0] for cells in _cells(sheet)]
    assert first == [
        "import_row",
        *map(str, range(1, 10_001)),
        f"Only the first 10,000 rows are shown here; {file} has all rows.",
    ]
    assert sheet.auto_filter.ref == "A1:I10001"
    assert len(read_csv(tmp_path / file)) == 1 + count
    assert summary.outcomes[kind] == count
    assert count in [cells[1] for cells in _cells(book["Summary"])]


def test_sheets_end_where_nobody_acts_on_them() -> None:
    """Of rows that a person fixes or that are sent again there are up to 100,000; a check sends nothing."""
    limits = {kind: words.sheet_limit for kind, words in OUTCOMES.items()}
    acted_on = {OutcomeKind.REJECTED, OutcomeKind.INVALID, OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED}
    assert {kind for kind, limit in limits.items() if limit == SHEET_LIMIT} == acted_on | {OutcomeKind.NOT_SENT}
    assert set(limits.values()) == {SHEET_LIMIT, NO_ACTION_SHEET_LIMIT}
    assert outcome_text(OutcomeKind.NOT_SENT, dry_run=True).sheet_limit == NO_ACTION_SHEET_LIMIT


def test_the_number_of_comments_is_limited(tmp_path: Path) -> None:
    """Beyond the first 2,000 comments highlighted cells still have their color."""
    count = MOST_COMMENTS + 1
    bad = [row(number, "1", "a@example.com", "", "x") for number in range(1, count + 1)]
    outcomes = [Outcome(each.number, OutcomeKind.INVALID, problems=(bad_degree(each),)) for each in bad]

    write_report(tmp_path, FACTS, bad, outcomes)

    degrees = [cells[8] for cells in _open(tmp_path)["invalid"].iter_rows(min_row=2)]
    assert [cell.comment is not None for cell in degrees] == [True] * MOST_COMMENTS + [False]
    assert len({cell.fill.fgColor.rgb for cell in degrees}) == 1
