"""File locks."""

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


def test_the_second_process_learns_which_one_holds_the_lock(tmp_path: Path) -> None:
    """The message gives its process, host and start, and an alternative to waiting."""
    with sandbox_lock(tmp_path):
        with pytest.raises(Busy) as caught, sandbox_lock(tmp_path):
            pytest.fail("the lock was taken twice")
        assert re.fullmatch(
            rf"another command is using the sandbox of {re.escape(str(tmp_path))}: process {os.getpid()} on "
            rf"{re.escape(socket.gethostname())}, started \S+; wait until it has ended, or name another folder with "
            r"--out, then run the same command again",
            str(caught.value),
        )


def test_a_lock_is_free_after_use_and_its_files_are_private(tmp_path: Path) -> None:
    """The next process can take the lock without a cleanup, and replaces the name of the holder."""
    path = tmp_path / ".importer" / "target.lock"
    for _ in range(2):
        with hold_lock(path, "another process is running"):
            modes = {file.suffix: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
            assert json.loads(path.with_suffix(".holder").read_text())["process"] == os.getpid()
    assert modes == {".lock": 0o600, ".holder": 0o600}
