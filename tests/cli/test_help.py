"""The help of all commands."""

from __future__ import annotations

import re
from typing import Any

import pytest
from typer.testing import CliRunner

from importer.cli.app import COMMANDS, app, load_command


def test_the_commands_are_on_one_screen_in_four_groups() -> None:
    """24 lines of 80 columns with the prompt; each command that exists is listed, once."""
    lines = _help().splitlines()
    assert len(lines) < 24
    assert [line[:12].strip() for line in lines[1:] if not line.startswith(" ")] == [
        "First import", "Sending", "Results", "Service"
    ]  # fmt: skip
    assert sorted(line[13:].split()[0] for line in lines[1:]) == sorted(COMMANDS)


def test_the_help_of_run_begins_with_the_ten_options_that_people_use_first() -> None:
    """The others are in a second panel."""
    first, _, more = _help("run").partition("More options:")
    assert re.findall(r"^  (?:-\w, )?(--[a-z-]+)", first, re.MULTILINE) == [
        *(
            "--mapping",
            "--out",
            "--sandbox",
            "--sheet",
            "--limit",
            "--rows",
            "--max-errors",
            "--yes",
            "--quiet",
            "--verbose",
        )
    ]
    assert "--rate" in more


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell: str) -> None:
    """Completion is installed by --install-completion; it completes the names of commands and their options."""
    environment = {"_IMPORTER_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "importer run --resend-r"}
    words = {"COMP_WORDS": "importer run --resend-r", "COMP_CWORD": "2", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    shown = CliRunner().invoke(app, [], env={**environment, **words}, prog_name="importer")
    assert "--resend-rejected" in shown.output


def _commands() -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for name in COMMANDS:
        command: Any = load_command(name)
        below = getattr(command, "commands", {})
        found += [((name, own), one) for own, one in below.items()] or [((name,), command)]
    return found


def _help(*words: str) -> str:
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert shown.exit_code == 0
    return shown.output


def _words(shown: str) -> str:
    """The output with its lines joined."""
    return " ".join(shown.split())


COMMAND = [pytest.param(*one, id=" ".join(one[0])) for one in _commands()]
PAGES = [(), ("mapping",), *(words for words, _ in _commands())]


@pytest.mark.parametrize("words", PAGES, ids=lambda words: " ".join(words) or "importer")
def test_help_fits_into_80_columns(words: tuple[str, ...]) -> None:
    """No line is longer, and nothing is cut off."""
    shown = _help(*words)
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown


@pytest.mark.parametrize(("words", "command"), COMMAND)
def test_help_explains_every_option_in_whole_words(words: tuple[str, ...], command: Any) -> None:
    """Every option and argument has a help text, and its words are not split at 80 columns."""
    text = _words(_help(*words))
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        explained = (getattr(parameter, "help", None) or "").replace("\\[", "[")
        assert explained, parameter.name
        assert not [word for word in explained.split() if word not in text], parameter.name


@pytest.mark.parametrize(("words", "command"), COMMAND)
def test_help_shows_every_default_in_brackets(words: tuple[str, ...], command: Any) -> None:
    """Brackets in help texts are not markup, and a default value that is not empty is shown."""
    text = _words(_help(*words))
    for parameter in command.params:
        for bracket in re.findall(r"\\?(\[.*?\])", getattr(parameter, "help", None) or ""):
            assert all(word in text for word in bracket.split()), (parameter.name, bracket)
        if parameter.default not in (None, False) and not getattr(parameter, "hidden", False):
            assert f"[default: {parameter.default}]" in text, parameter.name
