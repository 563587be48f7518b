"""The command that shows that a run finishes by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.faults import HEAD, Ending
from benchmarks.sink_process import ROOT


def test_what_is_broken_is_named() -> None:
    """Each promise that a run did not keep is named, whatever else it kept."""
    whole = Ending("500 after, 30%", 10, 1.0, 0, 7, 3, 0, 0, 13, 0, 0)
    assert whole.judged(None).broken == ()
    assert Ending("500 after, 30%", 10, 1.0, 5, 7, 2, 1, 0, 13, 1, 2).judged("only 80.0% of it were used").broken == (
        "it ended with 5",
        "1 are missing",
        "2 were sent twice",
        "not every row is told as being in place",
        "only 80.0% of it were used",
    )


def test_random_faults_through_the_front_door(tmp_path: Path) -> None:
    """The command imports into a service that refuses by chance, and ends with 0 where everybody is in place."""
    part = ["faults", "--parts", "random", "--kinds", "429", "--shares", "0.3", "--rows", "30"]
    command = [sys.executable, "-m", "benchmarks", *part, "--out", str(tmp_path / "results.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, lines[0]) == (0, "", HEAD)
    assert [line.split("  ")[0] for line in lines[1:3]] == ["429, 0%", "429, 30%"]
    assert all(line.endswith("0     0  kept") for line in lines[1:3])
