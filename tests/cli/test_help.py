"""The help of all commands."""

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
def test_the_list_of_commands_repeats_their_help(name: str) -> None:
    """The list is shown without loading the commands, so its lines are a copy."""
    module, listed = COMMANDS[name]
    loaded: Any = getattr(import_module(f"importer.cli.{module}"), name)
    own = loaded.info.help if isinstance(loaded, typer.Typer) else inspect.getdoc(loaded)
    assert listed == own


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
    """The output without frames, its lines joined."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown).split())


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
