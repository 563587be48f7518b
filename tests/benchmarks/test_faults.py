"""The command that checks that a run finishes by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.faults import HEAD, Ending
from benchmarks.sink_process import ROOT
from tests.patience import PATIENCE


def test_failed_guarantees_are_listed() -> None:
    """Each failed guarantee of a run is listed."""
    whole = Ending("500 after, 30%", 10, 1.0, 0, 7, 3, 0, 0, 13, 0, 0)
    assert whole.with_checks(None).broken == ()
    assert Ending("500 after, 30%", 10, 1.0, 5, 7, 2, 1, 0, 13, 1, 2).with_checks(
        "only 80.0% of the limit was used"
    ).broken == (
        "it ended with 5",
        "1 rows are missing",
        "2 rows were sent twice",
        "not every row is reported as created or already exists",
        "only 80.0% of the limit was used",
    )


def test_random_faults_with_the_real_command(tmp_path: Path) -> None:
    """The command imports into a service with random faults, and ends with 0 if every row is imported."""
    part = ["faults", "--parts", "random", "--kinds", "invalid 201", "--shares", "0.3", "--rows", "10"]
    command = [sys.executable, "-m", "benchmarks", *part, "--out", str(tmp_path / "results.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, lines[0]) == (0, "", HEAD)
    assert sorted(line.split("  ")[0] for line in lines[1:3]) == ["429, 0%", "invalid 201, 30%"]
    assert all(line.endswith("0     0  ok") for line in lines[1:3])
