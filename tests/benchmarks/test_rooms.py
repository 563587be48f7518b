"""Each part of importer can still be measured: its interfaces match the benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.candidates import write_mapping, write_source
from benchmarks.rooms import bare_check, bare_report, ledger, read, transform


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """A small file, its mapping and a folder, as on the command line."""
    found = write_source(tmp_path / "a.csv", 40), write_mapping(tmp_path / "mapping.yaml"), tmp_path
    monkeypatch.setattr("sys.argv", ["room", *(str(path) for path in found)])
    return found


@pytest.mark.usefixtures("paths")
@pytest.mark.parametrize("room", [read, transform, ledger], ids=["read", "transform", "ledger"])
def test_a_part_and_its_baseline(room: object, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the seconds of ours and of the baseline, as one line of JSON."""
    room.main()  # type: ignore[attr-defined]
    result = json.loads(capsys.readouterr().out)
    assert result["ours"] > 0
    assert result["baseline"] > 0


def test_the_baselines_of_check_and_report(paths: tuple[Path, Path, Path]) -> None:
    """They do the same work."""
    bare_check.main()
    bare_report.main()
    assert (paths[2] / "bare.xlsx").stat().st_size > 5000
