"""Atomic private files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from importer.files import write_json


@pytest.mark.parametrize("text", ["İstanbul", "a lone surrogate: \ud83d", "a file name: c\udcff.csv"])
def test_any_text_is_written_and_read_back(tmp_path: Path, text: str) -> None:
    """Any text of a response or a file name can be written."""
    write_json(tmp_path / "run.json", {"text": text})
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == {"text": text}
