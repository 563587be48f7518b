"""Which runs of a results folder have a live process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from importer.runs.presences import Presences

_IS_PRESENT = """
import sys
from pathlib import Path
from importer.runs.presences import Presences
here = Presences(Path(sys.argv[1])).announce("a-run")
print("here", flush=True)
sys.stdin.read()
"""


def test_the_run_of_a_killed_process_is_abandoned(tmp_path: Path) -> None:
    """A run is abandoned after a kill, but not while its process is alive or if it was never announced."""
    presences = Presences(tmp_path)
    assert not presences.is_abandoned("a-run")
    command = [sys.executable, "-c", _IS_PRESENT, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        assert (presences.runs(), presences.is_abandoned("a-run")) == (["a-run"], False)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (presences.runs(), presences.is_abandoned("a-run")) == (["a-run"], True)
    presences.forget("a-run")
    assert (presences.runs(), presences.is_abandoned("a-run")) == ([], False)


def test_a_run_that_ended_is_not_present(tmp_path: Path) -> None:
    """`end` may be called again."""
    presences = Presences(tmp_path)
    presence = presences.announce("a-run")
    assert presences.runs() == ["a-run"]
    for _ in range(2):
        presence.end()
        assert presences.runs() == []
