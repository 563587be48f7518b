"""`importer sandbox`: the service as a command of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.sandbox.wire import QUESTIONS
from tests.sandbox_process import sandbox_process


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another system")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_exit_code_0(number: signal.Signals) -> None:
    """SIGINT and SIGTERM end it with exit code 0, also while clients are connected."""
    with sandbox_process() as sandbox:
        connection = HTTPConnection(sandbox.base_url.removeprefix("http://"), timeout=PATIENCE)
        connection.request("GET", QUESTIONS, headers={"Authorization": f"Bearer {sandbox.token}"})
        assert connection.getresponse().read().startswith(b'{"success": "OK"')
        sandbox.process.send_signal(number)
        _, complaints = sandbox.process.communicate(timeout=PATIENCE)
        connection.close()
        assert (sandbox.process.returncode, complaints) == (0, "")


def test_it_reports_every_file_that_it_cannot_use(tmp_path: Path) -> None:
    """It ends with exit code 3, and a line for each problem."""
    one, other = tmp_path / "questions.json", tmp_path / "faults.json"
    command = [sys.executable, "-m", "importer", "sandbox", "--token", "t", "--questions", one, "--faults", other]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.splitlines()) == (
        3,
        [
            f"{one}: the file cannot be read: No such file or directory; check the path",
            f"{other}: the file cannot be read: No such file or directory; check the path",
        ],
    )
