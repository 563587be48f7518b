"""What the pages show of a terminal: the demo in docs/results.md, and docs/first-import.md."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.docs.markdown import README, code
from tests.patience import PATIENCE
from tests.samples.sample import ROOT

_BLOCK = re.compile(r"(The demo ends with this screen:\n\n```\n)(.*?)(```\n)", re.DOTALL)
RESULTS = ROOT / "docs" / "results.md"
_RUN = re.compile(r"\d{8}-\d{6}-[0-9a-f]{5}")


def demo_command() -> list[str]:
    """The words of the demo's command, as the README gives it for those without make."""
    [line] = [line for line in code(README) if line.startswith("importer run") and "--faults" in line]
    return shlex.split(line)


def shown() -> list[str]:
    """The lines of docs/results.md, with the same name for every run."""
    found = _BLOCK.search(RESULTS.read_text("utf-8"))
    assert found is not None
    return _RUN.sub("RUN", found[2]).splitlines()


def run_demo(folder: Path) -> list[str]:
    """The lines that the demo prints when it is run in this folder; the run's name is RUN."""
    return _RUN.sub("RUN", _output(folder)).splitlines()


def _printed(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "importer", *words],
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE,
    )


def _output(folder: Path) -> str:
    _, *words = demo_command()
    for name in (word for word in words if (ROOT / word).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    ran = _printed(words, folder)
    assert ran.returncode == 4, ran.stdout
    return ran.stdout


def fill(folder: Path) -> None:
    """Write the last screen of the demo into docs/results.md."""
    screen = _output(folder).partition("Finished")[2].partition("\nimporter: ")[0]  # the last line is for a log
    RESULTS.write_text(
        _BLOCK.sub(lambda match: match[1] + "Finished" + screen + match[3], RESULTS.read_text("utf-8")), "utf-8"
    )


# --- docs/first-import.md: each command with what it prints ---

FIRST_IMPORT = ROOT / "docs" / "first-import.md"
_COMMAND = re.compile(r"```console\n\$ (importer [^\n]*)\n(.*?)```\n", re.DOTALL)


def first_import(folder: Path) -> str:
    """The page with what its commands print when they are given in this folder, as a person reviews the mapping."""
    text = FIRST_IMPORT.read_text("utf-8")
    file, content = re.findall(r"```csv (\S+)\n(.*?)```", text, re.DOTALL)[0]
    (folder / file).write_text(content, "utf-8")

    def with_output(found: re.Match[str]) -> str:
        if "mapping check" in found[1]:
            mapping = folder / "candidates.yaml"
            mapping.write_text(re.sub(r" *# please check[^\n]*", "", mapping.read_text("utf-8")), "utf-8")
        printed = _RUN.sub("RUN", _printed(shlex.split(found[1])[1:], folder).stdout).partition("\nimporter: ")[0]
        return f"```console\n$ {found[1]}\n{printed}```\n"

    return _COMMAND.sub(with_output, text)
