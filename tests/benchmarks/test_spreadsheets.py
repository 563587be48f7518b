"""The loop through LibreOffice, in a small form."""

from __future__ import annotations

import pytest

from benchmarks.spreadsheets import PROGRAM, WAYS, Way, measure_source, sources

SMALL = [way for way in WAYS if way.name in ("CSV to CSV, numbers recognized", "report.xlsx")]


@pytest.mark.skipif(PROGRAM is None, reason="LibreOffice (soffice) is not installed")
@pytest.mark.parametrize("way", SMALL, ids=[way.name for way in SMALL])
def test_no_value_changes_silently(way: Way) -> None:
    """Rows that are fixed in a German LibreOffice send what the source sends; a CSV that it changed is refused."""
    (source,) = sources(["german.csv"])
    (told,) = measure_source(source, ["German"], [way]).values()
    assert told.false == []
    assert (told.true > 150, told.refused) == (True, 0) if way.opens == ".xlsx" else told.true == 0
