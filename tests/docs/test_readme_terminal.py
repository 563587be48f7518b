"""The pages show what the demo and a first import print."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.docs.terminal import FIRST_IMPORT, demo_command, first_import, run_demo, shown
from tests.samples.sample import ROOT


def test_the_terminal_shows_what_the_page_shows(tmp_path: Path) -> None:
    """Each line of the screen in docs/results.md is printed by the demo, in the same order."""
    printed = iter(run_demo(tmp_path))
    missing = [line for line in shown() if line not in printed]
    assert missing == []


def test_make_demo_runs_the_same_command() -> None:
    """The README's command for those without make is that of the Makefile."""
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    [line] = [line for line in makefile.splitlines() if "bin/importer run" in line.replace("$(BIN)", "bin")]
    command = line.partition("importer run")[2].partition("||")[0]
    assert shlex.split(command) == demo_command()[2:]


def test_the_first_import_prints_what_its_page_shows(tmp_path: Path) -> None:
    """Each command of docs/first-import.md prints what stands below it, to the letter."""
    assert first_import(tmp_path) == FIRST_IMPORT.read_text("utf-8")
