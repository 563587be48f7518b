"""The start of the child process that reads a workbook: it delays every workbook."""

from __future__ import annotations

import subprocess
import sys

import pytest

from importer import extract


def test_child_imports_only_what_it_needs() -> None:
    """The child does not import the modules that open sources, read CSVs and start child processes."""
    program = "import sys, importer.extract.workbook_child; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert "importer.extract.sheet_content" in loaded
    assert not {"importer.extract.opening", "importer.extract.csv_file", "subprocess", "hashlib"}.intersection(loaded)


def test_public_names_can_be_imported() -> None:
    """Each public name of the room can be imported, and no other."""
    for name in extract.__all__:
        assert getattr(extract, name) is not None
    with pytest.raises(AttributeError, match=r"^module 'importer\.extract' has no attribute 'read_sheet'$"):
        getattr(extract, "read_sheet")  # noqa: B009  # a name that mypy would refuse
