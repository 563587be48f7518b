"""Child processes get our modules, and neither modules of the current folder nor our secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from importer.processes import child_environment, python_command

TOLD = "import importer, json, os, sys; print(json.dumps([sys.argv[1:], sys.path, dict(os.environ)]))"


@pytest.mark.parametrize("path", ["", os.pathsep, "."], ids=["usual", "an empty entry", "a relative entry"])
def test_the_current_folder_is_not_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Whatever PYTHONPATH is, the current folder is not on the child's path, and the package can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    out = subprocess.check_output(python_command(TOLD, "a b"), env=environment)
    arguments, found, _ = json.loads(out)
    assert arguments == ["a b"]
    assert not {"", ".", str(tmp_path)} & set(found)


def test_no_secret_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child's environment has no token, ours (in any case) or another tool's, but it has the other settings."""
    monkeypatch.setenv("IMPORTER_TOKEN", "s3cret")
    monkeypatch.setenv("importer_token", "s3cret")
    monkeypatch.setenv("IMPORTER_LEDGER", "postgresql://me:s3cret@db.example.com/ledger")
    monkeypatch.setenv("OTHER_TOOL_KEY", "s3cret")
    monkeypatch.setenv("IMPORTER_OUT", "7")
    _, _, environment = json.loads(subprocess.check_output(python_command(TOLD), env=child_environment()))
    assert "s3cret" not in str(environment)
    assert environment["IMPORTER_OUT"] == "7"
