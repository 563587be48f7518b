"""A report of many rows needs no more memory than one of a few."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from importer.models import Outcome, OutcomeKind
from importer.report.write import write_report
from tests.report.building import FACTS, bad_degree, row, rows


def _peak(folder: Path, count: int) -> int:
    """The most bytes in use while so many invalid rows are reported."""
    numbers = range(1, count + 1)
    outcomes = (Outcome(n, OutcomeKind.INVALID, problems=(bad_degree(row(n)),)) for n in numbers)
    tracemalloc.start()
    write_report(folder, FACTS, rows(numbers), outcomes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.net
def test_memory_is_flat_in_the_number_of_rows(tmp_path: Path) -> None:
    """Twice the rows take hardly more memory, once the comments are used up."""
    few = _peak(tmp_path / "few", 2_100)
    many = _peak(tmp_path / "many", 4_200)

    assert many < few + 250_000
