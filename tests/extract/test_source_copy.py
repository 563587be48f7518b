"""The private copy of the input: the same bytes, for its owner only, of a file or of standard input."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from importer.errors import UnusableInput
from importer.extract import copy_source, open_sheet
from importer.models import SourceOptions

_CONTENT = "Name,City\nGül,İzmir\n".encode()


def test_copy_is_the_same_and_private(tmp_path: Path) -> None:
    """The copy holds the bytes of the file, is named by its ending, hashed, and readable by its owner only."""
    source = tmp_path / "Candidates.CSV"
    source.write_bytes(_CONTENT)
    copy = copy_source(source, tmp_path)
    assert copy.path == tmp_path / "source.csv"
    assert copy.path.read_bytes() == _CONTENT
    assert copy.path.stat().st_mode & 0o777 == 0o600
    assert copy.sha256 == hashlib.sha256(_CONTENT).hexdigest()


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is told by the name that the person gave."""
    with pytest.raises(UnusableInput) as caught:
        copy_source(Path("nowhere.csv"), tmp_path)
    assert str(caught.value) == "nowhere.csv: there is no such file; check the path"


def test_folder(tmp_path: Path) -> None:
    """A folder is told as one."""
    with pytest.raises(UnusableInput) as caught:
        copy_source(tmp_path, tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a folder; name the file in it"


def test_file_that_grows_is_refused(tmp_path: Path) -> None:
    """A file that another program writes to while it is copied is refused, and no half copy stays."""
    fifo_of_changes = tmp_path / "growing.csv"
    fifo_of_changes.write_bytes(b"Name\n" * 2_000_000)
    grow = f"import time\nwith open({str(fifo_of_changes)!r}, 'ab') as f:\n while 1: f.write(b'x\\n'); f.flush()"
    with subprocess.Popen([sys.executable, "-c", grow]) as writer:
        try:
            while fifo_of_changes.stat().st_size == 10_000_000:
                os.sched_yield()
            with pytest.raises(UnusableInput) as caught:
                copy_source(fifo_of_changes, tmp_path)
        finally:
            writer.kill()
    assert str(caught.value) == (
        f"{fifo_of_changes}: the file changed while it was being read; wait until it is written, or close the program "
        "that has it open, and run again"
    )
    assert not (tmp_path / "source.csv").exists()


def test_standard_input(tmp_path: Path) -> None:
    """`-` copies standard input as a CSV."""
    code = "import sys; from pathlib import Path; from importer.extract import copy_source;"
    code += f"copy_source(Path('-'), Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], input=_CONTENT, check=True)
    assert (tmp_path / "source.csv").read_bytes() == _CONTENT


def test_standard_input_has_a_name(tmp_path: Path) -> None:
    """Messages about `-` say standard input."""
    path = tmp_path / "source.csv"
    path.write_bytes(_CONTENT)
    row = next(open_sheet(path, SourceOptions(), shown_as="-").rows())
    assert str(row.place()) == "standard input, row 2"


def test_csv_that_changes_after_it_was_opened(tmp_path: Path) -> None:
    """A CSV that is written to between opening and reading is refused, because its rows would not be those checked."""
    path = tmp_path / "a.csv"
    path.write_bytes(_CONTENT)
    sheet = open_sheet(path, SourceOptions(), shown_as="a.csv")
    path.write_bytes(_CONTENT + b"x,y\n")
    with pytest.raises(UnusableInput) as caught:
        list(sheet.rows())
    assert (
        str(caught.value)
        == "a.csv: the file changed after it was opened; close the program that writes it and run again"
    )
