"""Rows with one planted fault each: what the check finds, and what the service accepts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.planted import FAULTS
from benchmarks.sink_process import ROOT
from tests.patience import PATIENCE


def test_every_planted_fault_is_found_and_every_other_row_is_accepted(tmp_path: Path) -> None:
    """Each kind of fault is found at its cell; no good row is held back; what passes the check is accepted."""
    rows = 5 * len(FAULTS)
    command = [sys.executable, "-m", "benchmarks", "planted", "--rows", str(rows), "--out", str(tmp_path / "r.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    for fault in FAULTS:
        assert any(line.split() == [*fault.name.split(), "5", "5", "0"] for line in lines), (fault.name, lines)
    assert f"{rows // 4} good rows, 0 held back; {rows // 4} mutated rows" in lines
    assert any(line.endswith(" rows sent to the sandbox, 0 not accepted") for line in lines)
