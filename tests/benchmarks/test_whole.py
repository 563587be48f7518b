"""Whole imports, measured."""

from __future__ import annotations

import pytest

from benchmarks.measuring import Failed, Usage
from benchmarks.sink import Figures
from benchmarks.whole import check_complete


@pytest.mark.parametrize("figures", [Figures(accepted=1), Figures(accepted=2, twice=1)], ids=["missing", "twice"])
def test_an_import_counts_only_if_each_row_was_accepted_once(figures: Figures) -> None:
    """A tool that loses a row or sends one twice is not measured."""
    spent = Usage(1.0, 1.0, 50.0, 0, "")
    check_complete(spent, Figures(accepted=2), rows=2)
    with pytest.raises(Failed):
        check_complete(spent, figures, rows=2)
