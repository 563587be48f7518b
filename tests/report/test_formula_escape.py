"""Formulas in results CSVs are escaped."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.models import Outcome, OutcomeKind
from importer.problems import Column
from importer.report.write import write_report
from importer.sources import results_tables
from importer.text.results_cells import escape_formula
from tests.report.building import COLUMNS, FACTS, facts_with, read_csv, refused, row

FORMULA_LIKE = {
    "equals": "=1+1",
    "plus, as a phone": "+44 20 7946 0123",
    "minus": "-5",
    "at": "@SUM(A1)",
    "full-width equals": "＝1+1",
    "full-width plus": "＋90 555",
    "full-width minus": "－5",
    "full-width at": "＠SUM(A1)",
    "quoted full-width equals": "'＝1+1",
    "quoted equals": "'=1+1",
    "twice quoted equals": "''=1+1",
}
HARMLESS = {"text": "Lisans", "quote alone": "'", "quoted word": "'n Sync", "sign inside": "a=b", "empty": ""}


@pytest.mark.parametrize("text", FORMULA_LIKE.values(), ids=FORMULA_LIKE.keys())
def test_formula_like_text_gets_one_quote(text: str) -> None:
    """A cell that looks like a formula, or is already quoted, gets one more quote."""
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_text_stays(text: str) -> None:
    """Any other cell is unchanged."""
    assert escape_formula(text) == text


@given(st.text(st.sampled_from("'=+-@＝＋－＠\t\ra")), st.text(st.sampled_from("'=+-@＝＋－＠\t\ra")))
def test_two_texts_never_look_alike(one: str, other: str) -> None:
    """Two different cells are different in the file too, and none begins like a formula."""
    assert (escape_formula(one) == escape_formula(other)) == (one == other)
    assert not escape_formula(one).startswith(tuple("=+-@＝＋－＠\t\r"))


def test_results_file_fed_back_has_the_cells_of_the_source(tmp_path: Path) -> None:
    """A results CSV that is read again has the columns and cells of the source."""
    cells = [*FORMULA_LIKE.values(), *HARMLESS.values(), 'say "hi", then\nleave; go', "İstanbul"]
    source = [row(number, "1", "a@example.com", text) for number, text in enumerate(cells, start=4)]
    outcomes = [Outcome(each.number, OutcomeKind.INVALID) for each in source]

    write_report(tmp_path, FACTS, source, outcomes)

    (table,) = results_tables(tmp_path / "invalid.csv", "invalid.csv")
    assert table.header[:4] == ("ID", "E-mail", "Mobile", "Degree 1")
    assert [each.cells[:4] for each in table.records] == [each.cells for each in source]


def test_headers_and_messages_are_escaped_too(tmp_path: Path) -> None:
    """No cell of a results CSV begins like a formula, including headers and service messages."""
    columns = (*COLUMNS[:3], Column(3, "D", "+1"))
    rejected = Outcome(4, OutcomeKind.REJECTED, 400, problems=(refused("=HYPERLINK()", "@me"),))

    write_report(tmp_path, facts_with(columns=columns), [row(4)], [rejected])

    header, cells = read_csv(tmp_path / "400_rejected.csv")
    assert header[3] == "'+1"
    assert cells[4:] == ["4", "400 rejected", "'=HYPERLINK()", "'@me"]
