"""The small form of the power cuts: `make crash` runs the large one."""

from __future__ import annotations

import random
from pathlib import Path

from tests.crash.power_cuts import Cut, Delete, Disk, Sync, Write, cut_power


def test_no_intent_is_lost_that_was_promised(tmp_path: Path) -> None:
    """After any cut the ledger opens, is sound, and knows every row whose request may have gone."""
    figures = cut_power(tmp_path, cuts=60, rows=60)
    assert figures.promised > 0
    assert (figures.lost, figures.unsound) == (0, [])


def test_the_simulated_disk_loses_what_was_not_synced() -> None:
    """The simulation can lose: what was synced is always found, what was not sometimes is not."""
    disk = Disk()
    for happening in (Write("a", 0, b"safe"), Sync("a"), Write("a", 4, b"new"), Cut("a", 6)):
        disk.take(happening)
    found = {disk.after_a_cut(random.Random(seed))["a"] for seed in range(40)}
    assert found >= {b"safe", b"safene", b"safenew"}
    assert all(content.startswith(b"safe") for content in found)
    disk.take(Delete("a", is_synced=False))
    assert {len(disk.after_a_cut(random.Random(seed))) for seed in range(10)} == {0, 1}
