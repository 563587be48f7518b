"""The sheet Summary of report.xlsx: the whole run at a glance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl

from importer.models import Outcome, OutcomeKind
from importer.problems import Problem
from importer.report.write import write_report
from tests.report.building import FACTS, bad_degree, created, facts_with, refused, row, rows


def _texts(sheet: Any) -> list[str]:
    return [str(cell.value) for cells in sheet.iter_rows() for cell in cells if cell.value is not None]


def test_the_summary_sheet_shows_the_whole_run(tmp_path: Path) -> None:
    """The sheet Summary shows what happened, the meaning of each outcome, what to fix and what to do."""
    bad = row(7, "1", "a@example.com", "", "bachelor")
    outcomes = [
        *(Outcome(n, OutcomeKind.FILTERED, problems=(Problem("left-out", "Status is Hired"),)) for n in (4, 5)),
        *created([6]),
        Outcome(7, OutcomeKind.INVALID, problems=(bad_degree(bad),)),
        Outcome(8, OutcomeKind.REJECTED, 400, attempts=2, problems=(refused("salary is required", "fill it in"),)),
    ]
    facts = facts_with(warnings=('candidates.xlsx: column "Notes" is not used; map it',), blank_rows=2)

    write_report(tmp_path, facts, [row(4), row(5), row(6), bad, row(8)], outcomes)

    sheet = openpyxl.load_workbook(tmp_path / "report.xlsx")["Summary"]
    assert _texts(sheet) == [
        "Import of candidates.xlsx into job post 4f2c9a",
        "Finished: 1 of 5 rows imported, 2 to fix, 2 filtered",
        "What to do next",
        "1. Fix the rows in report.xlsx, then import it",
        f"     importer run {tmp_path}/report.xlsx",
        "2. Or fix them in candidates.xlsx and run the same command again",
        f"     importer run candidates.xlsx --mapping mappings/zoho.yaml --out {tmp_path.parent}",
        "What to fix",
        *("Outcome", "Rows", "Column", "Problem (example)", "What to do", "Where", "Code"),
        *("invalid", "1", "Degree 1", "'bachelor' is not a degree that the service accepts"),
        *("add it under values: in mappings/zoho.yaml:41", "D7", "value-unknown"),
        *("rejected", "1", "salary is required", "fill it in", "row 8", "refused"),
        "Outcomes",
        *("Outcome", "Rows", "Meaning", "What to do"),
        *("created", "1", "the service accepted it (201)", "no action needed"),
        *("already exists", "0", "the service already had this person (409)"),
        *("rejected", "1", "the service refused it (400)", "fix the row, run it again"),
        *(
            "invalid",
            "1",
            "our own checks refused it; nothing was sent",
            "fix the highlighted cells, run the row again",
        ),
        *("failed", "0", "it was not accepted when the run ended"),
        *("unconfirmed", "0", "sent, but no response confirms that it arrived"),
        *("not sent", "0", "the run stopped before its turn"),
        *("already imported", "0", "an earlier run imported it; nothing was sent"),
        *("filtered", "2", "excluded by where: or route:, or a repeated header", "no action needed"),
        *("total", "5"),
        "Warnings",
        'candidates.xlsx: column "Notes" is not used; map it',
        "Notes",
        *("Outcome", "Rows", "Column", "Problem (example)", "What to do", "Where", "Code"),
        *("filtered", "2", "Status is Hired", "row 4, row 5", "left-out"),
        "Run details",
        *("Run", "20261121-021503-7f3a"),
        *("Target", "job post 4f2c9a"),
        *("File", "candidates.xlsx"),
        *("Sheet", "Candidates"),
        *("Read as", "XLSX, sheet Candidates, header in row 3, 4 columns"),
        *("Blank rows", "2 skipped"),
        *("SHA-256", "ab" * 32),
        *("Mapping", "mappings/zoho.yaml"),
        *("Requests", "3 sent, 1 of them retries"),
        *("Started", "2026-11-21 02:15:03 UTC+03:00"),
        *("Ended", "2026-11-21 02:19:40 UTC+03:00"),
        *("Duration", "4 minutes 37 seconds"),
    ]
    created_cell = next(cells[0] for cells in sheet.iter_rows() if cells[0].value == "created")
    assert created_cell.hyperlink.location == "'201 created'!A1"


def test_each_problem_links_to_the_sheet_of_its_outcome(tmp_path: Path) -> None:
    """The link of a group leads to the sheet with its rows."""
    bad = row(9, "1", "a@example.com", "", "bachelor")
    left_out = (Problem("left-out", "Status is Hired"),)
    outcomes = [
        *(Outcome(n, OutcomeKind.INVALID) for n in (4, 5)),
        *created([6]),
        Outcome(7, OutcomeKind.REJECTED, 400, problems=(refused("no salary"),)),
        Outcome(8, OutcomeKind.REJECTED, 400, problems=(refused("no degree"),)),
        Outcome(9, OutcomeKind.INVALID, problems=(bad_degree(bad),)),
        Outcome(10, OutcomeKind.FILTERED, problems=left_out),
        Outcome(11, OutcomeKind.FILTERED, problems=left_out),
    ]

    write_report(tmp_path, FACTS, [*rows(range(4, 9)), bad, row(10), row(11)], outcomes)

    book = openpyxl.load_workbook(tmp_path / "report.xlsx")
    linked = {}
    for cells in book["Summary"].iter_rows():
        if cells[0].hyperlink:
            title, _, address = cells[0].hyperlink.location.replace("'", "").partition("!")
            linked[cells[3].value] = title, book[title][address].value
    linked.pop(None)  # the outcomes themselves
    assert linked == {
        "'bachelor' is not a degree that the service accepts": ("invalid", "import_row"),
        "no salary": ("400 rejected", "import_row"),
        "no degree": ("400 rejected", "import_row"),
        "Status is Hired": ("filtered", "import_row"),
    }
