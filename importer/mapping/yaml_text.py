"""Texts as YAML: unquoted where every YAML reader reads the same text, else in quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Begins with a letter, so that nothing is read as a number, a date, a list or a tag; without YAML's own characters.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+?!-]*[\w./()+?!])?")
_WORDS = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n", "none"])
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def scalar(text: str) -> str:
    """The text as a YAML scalar, for a block or between brackets.

    >>> scalar("E-mail"), scalar("no"), scalar("a: b"), scalar("{n}")
    ('E-mail', '"no"', '"a: b"', '"{n}"')
    """
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    return '"' + "".join(_ESCAPES.get(character) or _printable(character) for character in text) + '"'


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def flow_list(texts: Sequence[str]) -> str:
    """`[a, b]`."""
    return "[" + ", ".join(scalar(text) for text in texts) + "]"


def one_or_list(texts: Sequence[str]) -> str:
    """`a` for one text, else `[a, b]`."""
    return scalar(texts[0]) if len(texts) == 1 else flow_list(texts)


def comment_text(text: str) -> str:
    """The text as the content of a comment: one line, only printable characters."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
