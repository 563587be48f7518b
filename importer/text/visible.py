"""Texts of others as a person sees them: what would move the cursor, recolor or turn a line around is an escape."""

from __future__ import annotations

import re
import unicodedata

_NOT_PLAIN = re.compile(r"[^\w\t\n -~]")
# Control and format characters (those that turn the direction of text among them), half letters, line separators.
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """The text with such characters written as JSON writes them: what --json prints is the same text after it.

    Tabs and line feeds stay.
    """
    return text if text.isprintable() else _NOT_PLAIN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    sign = found[0]
    if unicodedata.category(sign) not in _STEERING:
        return sign
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
