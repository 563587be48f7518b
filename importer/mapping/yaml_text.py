"""Texts as YAML: plain where every reader takes them for the same text, else in quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Letters first, so that nothing is taken for a number, a date, a list or a tag; no character that YAML knows.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+?!-]*[\w./()+?!])?")
_WORDS = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n", "none"])
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def scalar(text: str) -> str:
    """The text as a YAML scalar, for a block or between brackets.

    >>> scalar("E-mail"), scalar("no"), scalar("a: b"), scalar("{n}")
    ('E-mail', '"no"', '"a: b"', '"{n}"')
    """
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS and not text.endswith((" ",)):
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
    """A text by itself where there is one, else a list."""
    return scalar(texts[0]) if len(texts) == 1 else flow_list(texts)


def remark(text: str) -> str:
    """A text inside a remark: one line, nothing that ends it."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
