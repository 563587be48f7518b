"""File locks."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.problems import Busy
from importer.store.lock import hold_lock


def test_the_second_process_learns_that_another_one_holds_the_lock(tmp_path: Path) -> None:
    """The message says what to do."""
    path = tmp_path / ".importer" / "target.lock"
    with hold_lock(path, "another process is running"):
        with pytest.raises(Busy) as caught, hold_lock(path, "another process is running"):
            pytest.fail("the lock was taken twice")
        assert str(caught.value) == (
            "another process is running; wait until it has ended, then run the same command again"
        )


def test_a_lock_is_free_after_use_and_its_files_are_private(tmp_path: Path) -> None:
    """The next process can take the lock without a cleanup."""
    path = tmp_path / ".importer" / "target.lock"
    for _ in range(2):
        with hold_lock(path, "another process is running"):
            modes = {file.suffix: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {".lock": 0o600}
