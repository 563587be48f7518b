"""Sheets of workbooks that are kept once they were read."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from importer.extract import ReadingLimits, Sheet, open_sheet
from importer.models import SourceOptions
from importer.problems import UnusableInput
from tests.samples.sample import ROOT

EXPORT = ROOT / "sample_data" / "legacy_ats_export.xlsx"
QUICK = 0.000_001  # seconds: nothing can be read in that time


def opened(path: Path, kept: Path | None, *, seconds: float = 60, sheet: str | None = None) -> Sheet:
    limits = ReadingLimits(kept=str(kept) if kept else None, seconds=seconds)
    return open_sheet(path, SourceOptions(sheet=sheet), limits, shown_as="export.xlsx")


def test_a_kept_sheet_is_what_was_read_and_is_not_read_again(tmp_path: Path) -> None:
    """Its rows, columns, warnings and sheets are the same, also of a copy of the workbook; another sheet is read."""
    kept, copy = tmp_path / "kept", tmp_path / "source.xlsx"
    shutil.copy(EXPORT, copy)
    read = opened(EXPORT, None)
    for path, seconds in ((EXPORT, 60), (EXPORT, QUICK), (copy, QUICK)):
        found = opened(path, kept, seconds=seconds)
        assert replace(found, _read=read._read) == read
        assert list(found.rows()) == list(read.rows())
    with pytest.raises(UnusableInput, match="took more than"):
        opened(EXPORT, kept, seconds=QUICK, sheet="Notes")
    assert {path.stat().st_mode & 0o777 for path in (kept, *kept.iterdir())} == {0o700, 0o600}


@pytest.mark.parametrize("damage", ["removed", "cut"])
def test_a_kept_sheet_that_is_gone_is_read_again(tmp_path: Path, damage: str) -> None:
    """A run goes on with all its rows when its import was removed; a file that was cut counts as not kept."""
    kept = tmp_path / "kept"
    found = opened(EXPORT, kept)
    for file in kept.iterdir():
        file.unlink() if damage == "removed" else file.write_bytes(file.read_bytes()[:3])
    assert list(found.rows()) == list(opened(EXPORT, None).rows())
    assert list(opened(EXPORT, kept).rows()) == list(found.rows())


def test_only_the_last_sheets_are_kept(tmp_path: Path) -> None:
    """However often a person tries another workbook, four sheets are kept."""
    for number in range(6):
        path = tmp_path / f"{number}.xlsx"
        shutil.copy(EXPORT, path)
        with path.open("ab") as file:  # a comment of the archive: another content with the same cells
            file.write(bytes([number]))
        opened(path, tmp_path / "kept", sheet="Notes")
    assert len(list((tmp_path / "kept").iterdir())) == 4
