"""Processes beside this one get our modules, and nothing of the current folder or of our secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from importer.child_process import child_environment, python_command

TOLD = "import importer, json, os, sys; print(json.dumps([sys.argv[1:], sys.path, dict(os.environ)]))"


@pytest.mark.parametrize("path", ["", os.pathsep, "."], ids=["usual", "an empty entry", "a relative entry"])
def test_the_current_folder_is_on_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Whatever PYTHONPATH says, and the package is found all the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    out = subprocess.check_output(python_command(TOLD, "a b"), env=environment)
    arguments, found, _ = json.loads(out)
    assert arguments == ["a b"]
    assert not {"", ".", str(tmp_path)} & set(found)


def test_no_secret_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither our token, in whichever letters, nor that of another tool; the limits of reading are."""
    monkeypatch.setenv("IMPORTER_TOKEN", "s3cret")
    monkeypatch.setenv("importer_token", "s3cret")
    monkeypatch.setenv("IMPORTER_LEDGER", "postgresql://me:s3cret@db.example.com/ledger")
    monkeypatch.setenv("OTHER_TOOL_KEY", "s3cret")
    monkeypatch.setenv("IMPORTER_WORKBOOK_SECONDS", "7")
    _, _, environment = json.loads(subprocess.check_output(python_command(TOLD), env=child_environment()))
    assert "s3cret" not in str(environment)
    assert environment["IMPORTER_WORKBOOK_SECONDS"] == "7"
