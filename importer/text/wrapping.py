"""Breaks texts into the lines of a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import Final

from importer.text.normalize import visible

WIDTH: Final = 80

_BLANK = re.compile(r"[^\S ]")


def wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """The text in lines of at most 80 columns, without control sequences; a path or another long word stays whole."""
    return textwrap.wrap(
        on_one_line(text),
        WIDTH,
        initial_indent=on_one_line(first),
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]


def on_one_line(text: str) -> str:
    """On one line and without control sequences, which a cell or a response could contain."""
    return visible(_BLANK.sub(" ", text))
