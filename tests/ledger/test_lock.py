"""One run at a time for a ledger and a target."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from importer.errors import Busy
from importer.ledger import is_abandoned, rehearsal_lock, runs_at_work, target_lock
from tests.ledger.given import JOB_POST, POOL

_HOLDS = """
import sys
from pathlib import Path
from importer.ledger import target_lock
from tests.ledger.given import JOB_POST
with target_lock(Path(sys.argv[1]), JOB_POST):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(ledger_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(ledger_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_run_is_told_who_is_at_work(tmp_path: Path) -> None:
    """The message names the process, the host and the start of the run that holds the lock."""
    path = tmp_path / "ledger.sqlite"
    with holder(path) as process, pytest.raises(Busy) as caught, target_lock(path, JOB_POST):
        pytest.fail("the lock was given twice")
    assert re.fullmatch(
        r"another run works on job post 4f2c9a at https://recruiting\.example\.com: "
        rf"process {process.pid} on {re.escape(socket.gethostname())}, "
        r"started \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00; "
        r"wait until it has ended, then run the same command again",
        str(caught.value),
    )


def test_a_second_rehearsal_is_told_who_is_at_work(tmp_path: Path) -> None:
    """What the sandbox of a results folder has accepted has one owner at a time."""
    with rehearsal_lock(tmp_path):
        with pytest.raises(Busy) as caught, rehearsal_lock(tmp_path):
            pytest.fail("the lock was given twice")
        assert re.fullmatch(
            rf"another command works with the sandbox of {re.escape(str(tmp_path))}: process {os.getpid()} on "
            rf"{re.escape(socket.gethostname())}, started \S+; wait until it has ended, or name another folder with "
            r"--out, then run the same command again",
            str(caught.value),
        )


def test_a_process_that_was_killed_is_no_longer_present(tmp_path: Path) -> None:
    """While a process lives its run is not abandoned; after a kill it is; where there is no word of it, it is not."""
    lives = "import sys; from pathlib import Path; from importer.ledger import Presence\n"
    lives += "here = Presence(Path(sys.argv[1]), 'a-run'); print('here', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", lives, str(tmp_path)]
    assert not is_abandoned(tmp_path, "a-run")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        assert (runs_at_work(tmp_path), is_abandoned(tmp_path, "a-run")) == (["a-run"], False)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert is_abandoned(tmp_path, "a-run")


def test_another_target_is_not_held_up(tmp_path: Path) -> None:
    """Two targets of one ledger can be loaded at the same time."""
    path = tmp_path / "ledger.sqlite"
    with holder(path), target_lock(path, POOL):
        assert len(list(tmp_path.glob(".importer/*.lock"))) == 2


def test_a_kill_frees_the_lock(tmp_path: Path) -> None:
    """After kill -9 the next run goes on."""
    path = tmp_path / "ledger.sqlite"
    with holder(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with target_lock(path, JOB_POST):
            (named,) = tmp_path.glob(".importer/*.holder")
            assert json.loads(named.read_text())["process"] == os.getpid()


def test_the_lock_is_free_after_use(tmp_path: Path) -> None:
    """The same run twice in a row needs no cleaning up, and the files are private."""
    path = tmp_path / "ledger.sqlite"
    for _ in range(2):
        with target_lock(path, JOB_POST):
            modes = {file.suffix: file.stat().st_mode & 0o777 for file in (tmp_path / ".importer").iterdir()}
    assert modes == {".lock": 0o600, ".holder": 0o600}
