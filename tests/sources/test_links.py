"""Hyperlinks of a workbook: each row has the addresses behind its cells."""

from __future__ import annotations

from pathlib import Path

import xlsxwriter

from importer.models import SourceOptions
from importer.sources import open_sheet

ADA = "https://linkedin.example.com/in/ada"


def workbook(path: Path) -> Path:
    """A name and a profile in each row: a link, a formula, a link to a part of a page, and no link."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["Name", "Profile"])
        sheet.write_column(1, 0, ["Ada", "Alan", "Grace", "Mary", "Joan"])
        sheet.write_url(1, 1, ADA, string="LinkedIn")
        sheet.write_formula(2, 1, f'=HYPERLINK("{ADA}?a=1&b=""2""","Profile, new")', value="Profile, new")
        sheet.write_url(3, 1, f"{ADA}#jobs", string="Jobs")
        sheet.write(4, 1, "none")
        sheet.write_formula(5, 1, '=HYPERLINK("https://example.com/"&A6,"x")', value="x")
    return path


def test_links_of_xlsx(tmp_path: Path) -> None:
    """The link of a cell and a HYPERLINK formula give the address; a computed address is not known."""
    path = workbook(tmp_path / "a.xlsx")
    rows = list(open_sheet(path, SourceOptions()).rows())
    assert {row.number: dict(row.links) for row in rows} == {
        2: {1: ADA},
        3: {1: f'{ADA}?a=1&b="2"'},
        4: {1: f"{ADA}#jobs"},
        5: {},
        6: {},
    }
    assert [row.cells[1] for row in rows] == ["LinkedIn", "Profile, new", "Jobs", "none", "x"]
