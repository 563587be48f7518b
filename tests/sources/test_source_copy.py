"""The private copy of a file: the same bytes, readable by its owner only."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from importer.models import SourceOptions
from importer.problems import UnusableInput
from importer.sources import copy_source, open_sheet

_CONTENT = "Name,City\nGül,İzmir\n".encode()


def test_copy_is_the_same_and_private(tmp_path: Path) -> None:
    """The copy holds the bytes of the file, keeps its extension, is hashed, and readable by its owner only."""
    source = tmp_path / "Candidates.CSV"
    source.write_bytes(_CONTENT)
    copy = copy_source(source, tmp_path)
    assert copy.path == tmp_path / "source.csv"
    assert copy.path.read_bytes() == _CONTENT
    assert copy.path.stat().st_mode & 0o777 == 0o600
    assert copy.sha256 == hashlib.sha256(_CONTENT).hexdigest()


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is reported with the path that the person typed."""
    with pytest.raises(UnusableInput) as caught:
        copy_source(Path("nowhere.csv"), tmp_path)
    assert str(caught.value) == "nowhere.csv: the file does not exist; check the path"


def test_folder(tmp_path: Path) -> None:
    """A folder is reported as a folder."""
    with pytest.raises(UnusableInput) as caught:
        copy_source(tmp_path, tmp_path)
    assert str(caught.value) == f"{tmp_path}: this is a folder, not a file; give the path of the file in it"


def test_pipe(tmp_path: Path) -> None:
    """A pipe, which may never end, is rejected without waiting, with what to do."""
    pipe = tmp_path / "candidates.csv"
    os.mkfifo(pipe)
    with pytest.raises(UnusableInput) as caught:
        copy_source(pipe, tmp_path)
    assert str(caught.value) == (f"{pipe}: this is a pipe or a device, not a regular file; save its output to a file")


def test_endless_device(tmp_path: Path) -> None:
    """A device that never ends is not read."""
    with pytest.raises(UnusableInput) as caught:
        copy_source(Path("/dev/zero"), tmp_path)
    assert str(caught.value).startswith("/dev/zero: this is a pipe or a device, not a regular file; ")
    assert list(tmp_path.iterdir()) == []


def test_sparse_file(tmp_path: Path) -> None:
    """A sparse file of 8 GB is rejected by its size, before it is read or copied."""
    path = tmp_path / "sparse.csv"
    with path.open("wb") as file:
        file.write(_CONTENT)
        file.truncate(8 << 30)
    message = (
        f"{path}: the file has 8,192 MB; the limit is 4,096 MB; check that it is the right file; split one that is"
    )
    for read in (lambda: copy_source(path, tmp_path), lambda: open_sheet(path, SourceOptions())):
        with pytest.raises(UnusableInput) as caught:
            read()
        assert str(caught.value) == message
    assert not (tmp_path / "source.csv").exists()


def test_name_with_a_nul(tmp_path: Path) -> None:
    """A name with a NUL is reported as a missing file."""
    with pytest.raises(UnusableInput, match="the file does not exist; check the path"):
        copy_source(tmp_path / "a\0b.csv", tmp_path)


def test_path_that_leads_through_a_file(tmp_path: Path) -> None:
    """A path through a file is reported as a missing file."""
    (tmp_path / "a.csv").write_bytes(_CONTENT)
    with pytest.raises(UnusableInput) as caught:
        copy_source(tmp_path / "a.csv" / "b.csv", tmp_path)
    assert str(caught.value) == f"{tmp_path}/a.csv/b.csv: the file does not exist; check the path"


def test_name_that_is_too_long(tmp_path: Path) -> None:
    """A name that the disk rejects is reported with the error of the system."""
    with pytest.raises(UnusableInput) as caught:
        copy_source(tmp_path / ("x" * 300 + ".csv"), Path("unused"))
    assert str(caught.value).endswith(".csv: the file cannot be read: File name too long; check the path and the disk")


def test_file_that_grows_is_rejected(tmp_path: Path) -> None:
    """A file that grows while it is copied is rejected, and no partial copy remains."""
    fifo_of_changes = tmp_path / "growing.csv"
    fifo_of_changes.write_bytes(b"Name\n" * 2_000_000)
    grow = f"import time\nwith open({str(fifo_of_changes)!r}, 'ab') as f:\n while 1: f.write(b'x\\n'); f.flush()"
    with subprocess.Popen([sys.executable, "-c", grow]) as writer:
        try:
            while fifo_of_changes.stat().st_size == 10_000_000:
                os.sched_yield()
            with pytest.raises(UnusableInput) as caught:
                _copy_often(fifo_of_changes, tmp_path)
        finally:
            writer.kill()
    assert str(caught.value) == (
        f"{fifo_of_changes}: the file changed while it was being read; close the program that writes to it, then run "
        "the same command again"
    )
    assert not (tmp_path / "source.csv").exists()


def _copy_often(path: Path, folder: Path) -> None:
    """Copy repeatedly: on a busy machine the writer may pause during one copy."""
    for _ in range(100):
        copy_source(path, folder)
