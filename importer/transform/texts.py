"""Reads plain texts, and refuses what cannot be sent."""

from __future__ import annotations

import re
import unicodedata

from importer.transform.refusal import Refusal, quoted

_ALLOWED_CONTROLS = frozenset("\n\r\t")
_BREAKS = re.compile(r"\s*[\n\r\t\v\f\u2028\u2029]\s*")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_PADDING = "\u200b\ufeff\u2060 \t\r\n\u00a0\u202f\u3000\v\f"


def stripped(text: str) -> str:
    """The text without the white space and zero-width characters around it."""
    return text.strip(_PADDING)


def read_text(text: str, typed: bool) -> str | Refusal:
    """The text as it is; control characters other than line breaks and tabs, and half characters, are refused.

    So is a guard quote: reading takes it off a results file, as long as that has one of its import_ columns.
    """
    if text[:1] == "'" and _GUARDED.match(text):
        message = f"{quoted(text)} begins with the quote that our results files put before a sign like = or +"
        return Refusal("guard-left", message, "take the quote out, or leave the import_ columns in the results file")
    if text.isprintable():
        return text
    for sign in text:
        if sign not in _ALLOWED_CONTROLS and unicodedata.category(sign) in ("Cc", "Cs"):
            message = f"{quoted(text)} holds the character U+{ord(sign):04X}, which cannot be sent"
            return Refusal("text-unsendable", message, "take it out")
    return text


def read_line(text: str, typed: bool) -> str | Refusal:
    """The text in one line, as a short text is: line breaks and tabs, with the spaces around them, become a space."""
    return read_text(text if text.isprintable() else _BREAKS.sub(" ", text), typed)
