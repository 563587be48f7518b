"""Files that are on disk, whole and private, before anybody counts on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from importer.atomic_files import write_json


@pytest.mark.parametrize("text", ["İstanbul", "half a letter: \ud83d", "a file's name: c\udcff.csv"])
def test_any_text_is_kept_and_read_back(tmp_path: Path, text: str) -> None:
    """What a service said, or how a file is called, is never a reason to lose how a run ended."""
    write_json(tmp_path / "run.json", {"said": text})
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == {"said": text}
