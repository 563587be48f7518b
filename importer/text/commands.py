"""Command lines of this program, as messages show them: they run as they stand."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

NO_FLAGS: Mapping[str, str] = {}


def command_line(*words: str | Path, flags: Mapping[str, str] = NO_FLAGS) -> str:
    """`importer WORDS FLAGS`, quoted for the shell. flags: with their values, "" for a flag without one.

    >>> command_line("run", Path("my list.csv"), flags={"--rows": "2-9", "--sandbox": ""})
    "importer run 'my list.csv' --rows 2-9 --sandbox"
    """
    pairs = (part for flag in flags.items() for part in flag if part)
    return shlex.join(["importer", *map(_argument, words), *pairs])


def _argument(word: str | Path) -> str:
    """A path that begins with - would be read as a flag; - alone is standard input."""
    text = str(word)
    return f"./{text}" if isinstance(word, Path) and text.startswith("-") and text != "-" else text
