"""Which encodings are proposed for a CSV that is not UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.extract import ReadingLimits, open_sheet
from importer.models import SourceOptions
from importer.problems import UnusableInput


@pytest.mark.parametrize(
    ("written", "cells"),
    [
        ("cp1252", "£50000\n£42000"),
        ("cp1252", "50000 €\n42000 €"),
        ("cp1252", "Example © Ltd"),
        ("cp1252", "Example®\nSample™"),
        ("cp1252", "§ 5"),
        ("cp1252", "½ day\n±5"),
        ("cp1252", "¥500\n¢20"),
        ("cp1252", "20°C"),
        ("cp1254", "Şule Işık\n£500"),
        ("cp1250", "Łukasz Żak\nŁódź"),
        ("cp857", "Şule Işık\nİzmir"),
    ],
)
def test_the_encoding_of_signs_and_names_is_proposed_first(written: str, cells: str, tmp_path: Path) -> None:
    """The encoding that a file was written in comes first, also where it differs from ASCII only in signs."""
    path = tmp_path / "a.csv"
    rows = "".join(f"Ada,{cell}\n" for cell in cells.split("\n"))
    path.write_bytes(f"Name,Note\n{rows}".encode(written))
    with pytest.raises(UnusableInput) as refused:
        open_sheet(path, SourceOptions(), ReadingLimits())
    assert refused.value.problems[0].encodings[0].names[0] == written
