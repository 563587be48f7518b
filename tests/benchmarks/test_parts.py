"""Each part of the benchmarks can be measured: a change of importer that breaks one is seen at once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.sink_process import ROOT
from tests.patience import PATIENCE

PARTS = {  # the smallest form, and a heading or the beginning of a row of its table
    "whole --rows 20 --delays 0 --tls-delays , --only importer": "| importer | ",
    "growth --sizes 20": "### Files of growing size",
    "scaling --rows 20": "### A check on one core and on all",
}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.split()[0])
def test_a_part_is_measured(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints its table; `faults`, `planted`, `spreadsheets` and `truth` have tests of their own."""
    monkeypatch.setattr("sys.argv", ["benchmarks", *part.split(), "--out", str(tmp_path / "results.json")])
    main()
    assert PARTS[part] in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("curl") is None, reason="compares with curl")
def test_documents_are_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From a folder and from a .zip, beside curl; those that are faulty are left out."""
    monkeypatch.setattr("sys.argv", ["benchmarks", "documents", "--people", "60", "--largest", "9000", "--delay", "0"])
    main()
    head, _, *lines = capsys.readouterr().out.splitlines()
    assert 40 < int(head.split()[0]) < 60
    assert [line.split()[0] for line in lines] == ["curl", "cvs", "cvs.zip"]


def test_reading_is_measured() -> None:
    """In a process for each reader and file."""
    command = [sys.executable, "benchmarks/read.py", "--rows", "20", "--times", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "openpyxl" in done.stdout
