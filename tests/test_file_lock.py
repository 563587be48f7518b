"""Locks that are files."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path

import pytest

from importer.app.connection import sandbox_lock
from importer.file_lock import hold_lock
from importer.problems import Busy


def test_the_one_who_comes_second_is_told_who_holds_it(tmp_path: Path) -> None:
    """Process, host and start, and what a person may do but wait."""
    with sandbox_lock(tmp_path):
        with pytest.raises(Busy) as caught, sandbox_lock(tmp_path):
            pytest.fail("the lock was given twice")
        assert re.fullmatch(
            rf"another command works with the sandbox of {re.escape(str(tmp_path))}: process {os.getpid()} on "
            rf"{re.escape(socket.gethostname())}, started \S+; wait until it has ended, or name another folder with "
            r"--out, then run the same command again",
            str(caught.value),
        )


def test_it_is_free_after_use_and_its_files_are_private(tmp_path: Path) -> None:
    """Whoever comes next needs no cleaning up, and is named instead of the one before."""
    place = tmp_path / ".importer" / "target.lock"
    for _ in range(2):
        with hold_lock(place, "somebody works here"):
            modes = {file.suffix: file.stat().st_mode & 0o777 for file in place.parent.iterdir()}
            assert json.loads(place.with_suffix(".holder").read_text())["process"] == os.getpid()
    assert modes == {".lock": 0o600, ".holder": 0o600}
