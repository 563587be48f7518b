"""Untrusted texts have no effect on a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from importer.text.normalize import visible
from importer.text.terminal import command_line

SHOWN = [
    pytest.param(
        "Ünal Straße 北京 e\u0301 a\u00a0b\tc\nd 🎓", "Ünal Straße 北京 e\u0301 a\u00a0b\tc\nd 🎓", id="a text"
    ),
    pytest.param("1,00\u202e0", r"1,00\u202e0", id="reversed"),
    pytest.param("a\u2066b\u2069\u061cc", r"a\u2066b\u2069\u061cc", id="other direction marks"),
    pytest.param("\x1b[31m\x07\x9b\x7f\r", r"\u001b[31m\u0007\u009b\u007f\u000d", id="controls"),
    pytest.param("a\u200bb\ufeff\u00ad", r"a\u200bb\ufeff\u00ad", id="invisible characters"),
    pytest.param("a\U000e0041\ud83d\u2028b", r"a\udb40\udc41\ud83d\u2028b", id="tags, surrogates, line separators"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_a_text_is_shown_and_controls_are_escaped(text: str, shown: str) -> None:
    """Letters of every language stay; control characters become escapes, which mean the same character in JSON."""
    assert visible(text) == shown
    assert visible(shown) == shown
    assert json.loads(f'"{visible(text)}"', strict=False) == text


def test_every_control_character_is_escaped() -> None:
    """All control and format characters of Unicode are escaped, except tab and line feed."""
    characters = map(chr, range(sys.maxunicode + 1))
    controls = [one for one in characters if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert [one for one in controls if visible(one) == one] == ["\t", "\n"]


@pytest.mark.parametrize("name", ["a\nFinished: all.csv", "it's\ta.csv", "back\\slash\n.csv", "my list.csv"])
def test_a_command_is_one_line_and_names_its_file_in_bash(name: str) -> None:
    """A line break in a name forges no line of what is printed, and the command still works as it stands."""
    command = command_line("run", Path(name))
    assert command.isprintable()
    said = subprocess.run(["bash", "-c", f"printf %s {command.partition('run ')[2]}"], check=True, capture_output=True)
    assert said.stdout.decode() == name
