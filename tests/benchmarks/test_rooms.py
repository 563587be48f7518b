"""The baselines that the parts of importer are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.candidates import write_mapping, write_source
from benchmarks.rooms import bare_check, bare_report


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """A small file, its mapping and a folder, as on the command line."""
    found = write_source(tmp_path / "a.csv", 40), write_mapping(tmp_path / "mapping.yaml"), tmp_path
    monkeypatch.setattr("sys.argv", ["room", *(str(path) for path in found)])
    return found


def test_the_baselines_of_check_and_report(paths: tuple[Path, Path, Path]) -> None:
    """They do the same work."""
    bare_check.main()
    bare_report.main()
    assert (paths[2] / "bare.xlsx").stat().st_size > 5000
