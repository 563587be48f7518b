"""The start of the child that reads a workbook, which a person waits for with every one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from importer import extract


def test_child_loads_only_what_it_reads_with() -> None:
    """The child does not load what opens sources, reads CSVs and starts children."""
    program = "import sys, importer.extract.workbook_child; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert "importer.extract.sheet_content" in loaded
    assert not {"importer.extract.opening", "importer.extract.csv_file", "subprocess", "hashlib"}.intersection(loaded)


def test_all_that_is_offered_can_be_imported() -> None:
    """Each name that the room offers is there, and no other."""
    for name in extract.__all__:
        assert getattr(extract, name) is not None
    with pytest.raises(AttributeError, match=r"^module 'importer\.extract' has no attribute 'read_sheet'$"):
        getattr(extract, "read_sheet")  # noqa: B009  # a name that mypy would refuse
