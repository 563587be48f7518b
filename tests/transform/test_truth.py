"""Cells whose meaning is known, in the forms of 25 locales."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.truth import measure_truth

_CELLS = 1_200  # `python -m benchmarks truth` takes 50,000
_READERS = 21


@pytest.mark.net
def test_nothing_false_is_sent_and_well_formed_cells_are_read(own_folder: Path) -> None:
    """Each cell is sent as the person meant it, or refused; of the well-formed ones, at most 1 % are refused."""
    truth = measure_truth(own_folder, _CELLS, seed=7)
    assert truth.broken == [], "\n".join(truth.lines(show=2))
    assert truth.counts["total"]["true"] > _CELLS * 0.7
    assert len(truth.counts) == _READERS + 1
