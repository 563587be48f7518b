"""What `--help` shows, of all commands."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from importer.cli.app import COMMANDS, app, load_command


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    """The list is shown without loading the commands, so its lines stand beside them."""
    command = COMMANDS[name]
    loaded: Any = getattr(import_module(f"importer.cli.{command.module}"), command.name)
    own = loaded.info.help if isinstance(loaded, typer.Typer) else inspect.getdoc(loaded)
    assert command.help == own


def _commands() -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for name in COMMANDS:
        command: Any = load_command(name)
        below = getattr(command, "commands", {})
        found += [((name, own), one) for own, one in below.items()] or [((name,), command)]
    return found


@pytest.mark.parametrize(("words", "command"), [pytest.param(*one, id=" ".join(one[0])) for one in _commands()])
def test_help_shows_every_default_in_brackets(words: tuple[str, ...], command: Any) -> None:
    """`[found]` is no markup: at 80 columns it is there, whole."""
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).output
    text = " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown).split())
    for parameter in command.params:
        for bracket in re.findall(r"\\?(\[.*?\])", getattr(parameter, "help", None) or ""):
            assert all(word in text for word in bracket.split()), (parameter.name, bracket)
