"""Texts as a terminal shows them: broken into lines, and commands that can be copied."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from importer.text.normalize import visible

WIDTH: Final = 80
HEIGHT: Final = 24
"""Of a terminal, in columns and lines."""

_BLANK = re.compile(r"[^\S ]")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_COMMAND = re.compile(r"(?<=: )importer [a-z][^;]*")  # in a sentence, which ends there or at a semicolon
_KEPT_BLANK = "\0"  # no text has it any more


def wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """The text in lines of at most 80 columns, without control sequences.

    A path or another long word stays whole, and so does a command after a colon, so that it can be copied.
    """
    lines = textwrap.wrap(
        _COMMAND.sub(lambda found: found[0].replace(" ", _KEPT_BLANK), on_one_line(text)),
        WIDTH,
        initial_indent=on_one_line(first),
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT_BLANK, " ") for line in lines] or [first]


def clipped(text: str, first: str = "", others: str = "", most: int = 2) -> list[str]:
    """The text in so many lines at most; what is left out is shown by `…`."""
    lines = wrapped(text, first, others)
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][: WIDTH - 2]} …"]


def on_one_line(text: str) -> str:
    """On one line and without control sequences: a file name or a response could forge lines otherwise.

    >>> on_one_line("a.csv\\nFinished")
    'a.csv\\\\nFinished'
    """
    return text if text.isprintable() else visible(_BLANK.sub(_shown_blank, text))


def _shown_blank(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0], " ")


# --- command lines ---


NO_FLAGS: Mapping[str, str] = {}


def command_line(*words: str | Path, flags: Mapping[str, str] = NO_FLAGS) -> str:
    """`importer WORDS FLAGS`, quoted for the shell. flags: with their values, "" for a flag without one.

    >>> command_line("run", Path("my list.csv"), flags={"--rows": "2-9", "--sandbox": ""})
    "importer run 'my list.csv' --rows 2-9 --sandbox"
    """
    pairs = (part for flag in flags.items() for part in flag if part)
    return " ".join(["importer", *map(quoted, map(_argument, words)), *map(quoted, pairs)])


def quoted(word: str) -> str:
    """A word of a command; one with line breaks or other control characters in the form of bash and zsh, on one line.

    >>> quoted("my list.csv"), quoted("a\\nb.csv")
    ("'my list.csv'", "$'a\\\\nb.csv'")
    """
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{on_one_line(escaped)}'"


def _argument(word: str | Path) -> str:
    """A path that begins with - would be read as a flag."""
    text = str(word)
    return f"./{text}" if isinstance(word, Path) and text.startswith("-") else text
