"""The scan of a whole CSV before it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.models import SourceOptions
from importer.problems import UnusableInput
from importer.sources import open_sheet

_BLOCK = 1 << 18  # bytes that are scanned at a time
_LINE = b"Ada,London\n"


def _csv(folder: Path, end: bytes, cut: int) -> Path:
    """A CSV whose last line begins at such a distance before the end of its first block."""
    path = folder / "a.csv"
    start = b"Name,City\n" + _LINE * (_BLOCK // len(_LINE) - 2)
    path.write_bytes(start + b"x" * (_BLOCK - cut - 1 - len(start)) + b"\n" + end)
    return path


@pytest.mark.parametrize("cut", range(-1, 6))
def test_characters_across_two_blocks_are_read(tmp_path: Path, cut: int) -> None:
    """A file is scanned in blocks, and a character may be in two of them."""
    path = _csv(tmp_path, "Gül,İzmir\n".encode(), cut)
    assert list(open_sheet(path, SourceOptions()).rows())[-1].cells == ("Gül", "İzmir")


@pytest.mark.parametrize("cut", range(-1, 6))
def test_a_wrong_byte_is_found_at_the_end_of_a_block(tmp_path: Path, cut: int) -> None:
    """An undecodable byte is reported with its line, also if a character is cut off at the end of a block."""
    path = _csv(tmp_path, "Gül,".encode() + b"\xc4\n", cut)
    line = path.read_bytes().count(b"\n")
    with pytest.raises(UnusableInput) as refused:
        open_sheet(path, SourceOptions())
    assert str(refused.value).startswith(f"{path}:{line}:1: the file is not UTF-8: the byte 0xC4 cannot be read; ")
