"""Each room of importer can still be measured: its parts have the form that the benchmark takes them in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.candidates import write_mapping, write_source
from benchmarks.rooms import bare_check, bare_report, ledger, read, transform


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """A small file, its mapping and a folder, as the command line of a room names them."""
    found = write_source(tmp_path / "a.csv", 40), write_mapping(tmp_path / "mapping.yaml"), tmp_path
    monkeypatch.setattr("sys.argv", ["room", *(str(path) for path in found)])
    return found


@pytest.mark.usefixtures("paths")
@pytest.mark.parametrize("room", [read, transform, ledger], ids=["read", "transform", "ledger"])
def test_a_room_beside_its_floor(room: object, capsys: pytest.CaptureFixture[str]) -> None:
    """It tells what we and the floor took, as one line of JSON."""
    room.main()  # type: ignore[attr-defined]
    told = json.loads(capsys.readouterr().out)
    assert told["ours"] > 0
    assert told["floor"] > 0


def test_the_floors_of_check_and_report(paths: tuple[Path, Path, Path]) -> None:
    """They do the work that they stand for."""
    bare_check.main()
    bare_report.main()
    assert (paths[2] / "bare.csv").read_text(encoding="utf-8").count("\n") == 41
    assert (paths[2] / "bare.xlsx").stat().st_size > 5000
