"""The loop through LibreOffice, in a small form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.spreadsheets import PROGRAM, WAYS, measure_source, sources

SMALL = [way for way in WAYS if way.name in ("CSV to XLSX", "report.xlsx to XLSX")]


@pytest.mark.skipif(PROGRAM is None, reason="LibreOffice (soffice) is not installed")
@pytest.mark.parametrize("way", SMALL, ids=[way.name for way in SMALL])
def test_no_value_changes_silently(way) -> None:
    """Results that a German LibreOffice has opened and saved send what the source sends, or say what is in question."""
    (source,) = sources(["german.csv"])
    of_one_outcome = [row for row in source.rows if row[4] == "invalid"]
    (told,) = measure_source(replace(source, rows=of_one_outcome), ["German"], [way]).values()
    assert told.false == []
    assert (told.true > 70, told.refused < 10) == (True, True)
