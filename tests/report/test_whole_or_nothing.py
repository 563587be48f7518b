"""A results folder is private, and its files are complete or missing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.models import Outcome, OutcomeKind, Row
from importer.problems import StoppedEarly
from importer.report.write import write_report, write_unfinished_summary
from tests.patience import PATIENCE
from tests.report.building import FACTS, created, files_in, row, rows

posix = pytest.mark.skipif(os.name == "nt", reason="modes and limits of POSIX")


@posix
def test_the_folder_is_private(tmp_path: Path) -> None:
    """Only the owner can read the folder and its files, whatever the umask."""
    folder = tmp_path / "results" / "run"
    before = os.umask(0)
    try:
        write_report(folder, FACTS, rows([4]), created([4]))
    finally:
        os.umask(before)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert modes == {"run": 0o700, **dict.fromkeys(files_in(folder), 0o600)}


class Broken(Exception):
    """An error while reading the source."""


def _breaking_off(count: int) -> Iterator[Row]:
    yield from rows(range(4, 4 + count))
    raise Broken


@pytest.mark.parametrize("count", [0, 1, 500], ids=["before the first row", "after one", "after many"])
def test_a_source_that_breaks_off_leaves_the_earlier_report(tmp_path: Path, count: int) -> None:
    """After an error in the rows, the earlier files are unchanged, and nothing else is left."""
    write_report(tmp_path, FACTS, rows([4]), [Outcome(4, OutcomeKind.UNCONFIRMED)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    with pytest.raises(Broken):
        write_report(tmp_path, FACTS, _breaking_off(count), created(range(4, 1_000)))

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """The next report removes what a killed process left."""
    left = tmp_path / ".writing-abc"
    left.mkdir()
    (left / "201_created.csv").write_text("half a", encoding="utf-8")

    write_unfinished_summary(tmp_path, FACTS)

    assert files_in(tmp_path) == {"summary.json"}


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from importer.problems import StoppedEarly
from importer.report.write import write_report
from tests.report.building import FACTS, created, rows
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    write_report(Path(sys.argv[1]), FACTS, rows(range(4, 3000)), created(range(4, 3000)))
except StoppedEarly as error:
    print(error)
"""


@posix
@pytest.mark.parametrize("room", [0, 4_000, 20_000, 100_000, 200_000])
def test_a_full_disk_leaves_no_half_file(tmp_path: Path, room: int) -> None:
    """If files cannot grow beyond so many bytes, none is left, and the message includes what to do."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL_DISK, str(tmp_path), str(room)],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )

    assert ended.stdout == (
        f"{tmp_path}: the report cannot be written: File too large; what was sent is recorded; fix this (free disk"
        " space, or close files that are open in another program), then run: importer report 20261121-021503-7f3a"
        f" --out {tmp_path.parent}\n"
    )
    assert files_in(tmp_path) == set()


def test_a_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    """A results folder that cannot be written is a message, not a traceback."""
    in_the_way = tmp_path / "run"
    in_the_way.write_text("", encoding="utf-8")

    with pytest.raises(StoppedEarly) as caught:
        write_report(in_the_way, FACTS, [row(4)], created([4]))

    assert str(caught.value).startswith(f"{in_the_way}: the report cannot be written: ")


def test_a_report_can_be_written_again(tmp_path: Path) -> None:
    """Writing the same report twice gives the same folder, byte for byte."""
    write_report(tmp_path, FACTS, [row(4)], created([4]))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    write_report(tmp_path, FACTS, [row(4)], created([4]))

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
