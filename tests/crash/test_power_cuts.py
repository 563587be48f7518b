"""The small form of the power cuts: `make crash` runs the large one."""

from __future__ import annotations

import random
from pathlib import Path

from tests.crash.power_cuts import Cut, Delete, Disk, Sync, Write, cut_power


def test_no_confirmed_intent_is_lost(tmp_path: Path) -> None:
    """After any cut the ledger opens, is consistent, and knows every row whose request may have been sent."""
    figures = cut_power(tmp_path, cuts=60, rows=60)
    assert figures.confirmed > 0
    assert (figures.lost, figures.inconsistent) == (0, [])


def test_the_simulated_disk_loses_what_was_not_synced() -> None:
    """Synced writes are always kept; unsynced ones sometimes are not."""
    disk = Disk()
    for event in (Write("a", 0, b"safe"), Sync("a"), Write("a", 4, b"new"), Cut("a", 6)):
        disk.apply(event)
    found = {disk.after_a_cut(random.Random(seed))["a"] for seed in range(40)}
    assert found >= {b"safe", b"safene", b"safenew"}
    assert all(content.startswith(b"safe") for content in found)
    disk.apply(Delete("a", is_synced=False))
    assert {len(disk.after_a_cut(random.Random(seed))) for seed in range(10)} == {0, 1}
