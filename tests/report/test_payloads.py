"""Hostile texts in every column: text in each file of the report, and the same text when the file is fed back."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from unicodedata import normalize

import openpyxl
import pytest

from importer.models import Outcome, OutcomeKind, Row, SourceOptions
from importer.problems import Problem
from importer.report.write import write_report
from importer.sources import open_sheet, results_tables
from importer.text.normalize import visible
from importer.text.results_cells import truncated
from tests.report.building import facts_with, read_csv

PAYLOADS: Final = (
    # formulas, and what spreadsheet programs take for one
    *("=1+1", "=cmd|' /C calc'!A0", "=HYPERLINK(\"http://example.com\",\"x\")", "@SUM(1+1)", "+1+1", "-1+1", "={1,2}"),
    *("=DDE(\"cmd\",\"/c calc\",\"x\")", "+cmd|' /C calc'!A0", "-cmd|x", "@cmd|x", "|cmd", "=", "+", "-", "@"),
    *("'", "''", "'=1+1", "''=1+1", "'+90", "'text", "=\"quoted\"", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff201"),
    # numbers, dates and logical values that must stay text
    *("0012", "+90 555 000 00 01", "00905550000001", "12345678901234567890", "1e5", "1,5", "1.0", "1/2", "2026-03-04"),
    *("3-4", "TRUE", "true", "#N/A", "#REF!", "$5", "50%", "0x1F", "1_000", "NaN", "-0"),
    # tabs, line breaks, quotes, separators
    *("\ttab first", "tab\tinside", "\rCR first", "CR\rinside", "LF\ninside", "CRLF\r\ninside", "\nLF first", "end\n"),
    *('say "x"', '"', '""', "a;b,c|d", ",", ";", "back\\slash", " blanks ", "\u00a0no-break\u00a0"),
    # characters that are invisible, control the direction, or are not allowed in XML
    *("\ufeffBOM first", "BOM\ufeffinside", "\u202eRTL", "\u200f\u05d0", "\u2066x\u2069", "\u200bzero width"),
    *("\x01", "a\x07b", "\x0b", "\x0c", "\x1f", "\x7f", "\x85next line", "\u2028", "\ufffe", "\uffff", "\u00adsoft"),
    *("_x0041_", "_x000D_"),
    # markup, beyond the BMP, combined
    *("<b>bold</b>", "<script>alert(1)</script>", "&amp;", "]]>", "<r><t>x</t></r>", "<!--", "{{ 1 }}", "%s{0}"),
    *("\U0001f469\u200d\U0001f4bb", "e\u0301", "\u0130stanbul", "\ufffd"),
    # long
    *("x" * 255, "x" * 256, "x" * 32_767, "x" * 32_768, "\U0001f600" * 16_383),
)  # fmt: skip

_COLUMNS: Final = 3


@dataclass(frozen=True, slots=True)
class Reported:
    """The folder of a report, and the rows of the source: the reader takes invisible characters off their edges."""

    folder: Path
    rows: list[Row]

    def fed_back(self, name: str) -> list[tuple[str, ...]]:
        """The source's cells in a file of the report, as they are read when a person has fixed it."""
        found = []
        for table in results_tables(self.folder / name, name):
            at = table.header.index("Number")
            found += [(*record.cells, *("",) * 9)[at : at + 1 + _COLUMNS] for record in table.records]
        return found


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """A report on a file with every payload in every column, which are also in messages and hints."""
    folder = tmp_path_factory.mktemp("payloads")
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["Number", *(f"Text {n}" for n in range(_COLUMNS))])
        writer.writerows([f"N{n}", *[payload] * _COLUMNS] for n, payload in enumerate(PAYLOADS))
    sheet = open_sheet(folder / "people.csv", SourceOptions(delimiter=",", encoding="utf-8"))
    rows = list(sheet.rows())
    outcomes = []
    for row, text in zip(rows, PAYLOADS, strict=True):
        # Each unknown value is a cause of its own; messages that differ only in what they quote are one.
        problem = Problem("value-unknown", text, text, row.place(sheet.columns[1]))
        outcomes.append(Outcome(row.number, OutcomeKind.REJECTED, 400, 1, (problem,)))
    facts = facts_with(origin=sheet.origin, columns=sheet.columns)
    write_report(folder / "report", facts, rows, outcomes)
    return Reported(folder / "report", rows)


def test_payloads_are_read_from_the_source(reported: Reported) -> None:
    """The table is what it says: the source has each payload in every column, without what the reader takes off."""
    for row, payload in zip(reported.rows, PAYLOADS, strict=True):
        assert row.cells[1:] == (row.cells[1],) * _COLUMNS
        assert row.cells[1] in normalize("NFC", payload.replace("\r\n", "\n").replace("\r", "\n"))


def test_payloads_come_back_from_the_csv_file(reported: Reported) -> None:
    """No cell of the file begins like a formula, and each one is exact when the file is fed back."""
    for cells in read_csv(reported.folder / "400_rejected.csv"):
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]

    assert reported.fed_back("400_rejected.csv") == [row.cells for row in reported.rows]


def test_payloads_come_back_from_the_workbook(reported: Reported) -> None:
    """Every cell of the workbook is text, neither formula nor link, and exact when the workbook is fed back, or cut."""
    book = openpyxl.load_workbook(reported.folder / "report.xlsx")
    cells = [cell for row in book["400 rejected"].iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s"}
    assert not [cell for cell in cells if cell.hyperlink]

    for cells, row in zip(reported.fed_back("report.xlsx"), reported.rows, strict=True):
        for text, was in zip(cells, row.cells, strict=True):
            assert text in (was, truncated(was).strip()), ascii(was)[:80]


def test_payloads_are_text_on_the_page(reported: Reported) -> None:
    """The page has each payload as text, and neither an element nor a link that came with one."""
    page = (reported.folder / "report.html").read_text("utf-8")
    found = _Page()
    found.feed(page)
    assert not found.tags & {"script", "r", "t", "img", "iframe", "form"}
    assert not [link for link in found.links if "example.com" in link]
    for payload in PAYLOADS:
        assert " ".join(visible(payload).split()) in " ".join(found.text.split()), repr(payload)


class _Page(HTMLParser):
    """The elements, addresses and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data
