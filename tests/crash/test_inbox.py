"""A worker of an inbox that is killed: the small form; `python -m tests.crash inbox` is the large one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.fork_server import ForkServer
from tests.crash.inbox_kills import STEPS, kill_inbox_at_random, kill_inbox_at_steps

pytestmark = pytest.mark.timeout(300)  # many processes, which wait if the machine is busy


def test_a_kill_at_each_step_of_a_file_loses_nothing(tmp_path: Path, fork_server: ForkServer) -> None:
    """The next worker finishes it: it is done once, and reported."""
    figures = kill_inbox_at_steps(tmp_path, fork_server)
    assert figures.wrong == []
    assert figures.kills == len(STEPS)


def test_kills_at_random_moments_lose_nothing(tmp_path: Path, fork_server: ForkServer) -> None:
    """No file is lost, imported twice, or in two folders."""
    figures = kill_inbox_at_random(tmp_path, fork_server, kills=4, files=3)
    assert figures.wrong == []
    assert figures.kills == 4
