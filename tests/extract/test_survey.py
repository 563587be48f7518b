"""The look through a whole CSV before it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.extract.csv_survey import survey

_BLOCK = 1 << 18


@pytest.mark.parametrize("cut", range(-1, 5))
def test_a_shortened_number_is_seen_where_two_blocks_meet(tmp_path: Path, cut: int) -> None:
    """A file of any size is read in blocks, and a cell may lie in two."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * (_BLOCK - cut) + b"1.2E+11\n")
    assert not survey(path, "utf-8").plain
    assert not survey(path, "cp1254").plain
