"""The text of a cell made clean: outer blanks off, NFC, signs that no text may hold found."""

from __future__ import annotations

import re
import unicodedata

from importer.models import Problem

# Zero-width signs and direction marks: copying from web pages and contact lists puts them around phones and e-mails.
_INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_OUTER = re.compile(rf"\A[\s{_INVISIBLE}]+|[\s{_INVISIBLE}]+\Z")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_BREAK = re.compile(r"\r\n?")
_FOLDED = re.compile(r"\s*[\r\n\u2028\u2029]+\s*")


def clean(text: str) -> str:
    """Trim blanks (NBSP and zero-width signs too) outside, keep them inside; line breaks are LF; NFC."""
    if text.isascii() and text.isprintable():
        return text.strip(" ")
    text = _SURROGATE.sub("\ufffd", _LINE_BREAK.sub("\n", text))
    return _OUTER.sub("", unicodedata.normalize("NFC", text))


def header_text(cell: str) -> str:
    """A header cell as one line: a line break inside becomes one space."""
    return _FOLDED.sub(" ", cell)


def flaw_of(text: str) -> Problem | None:
    """The problem of a text that holds a control character or a sign that stands for a lost letter."""
    if text.isprintable():
        return _lost_letter(text) if "\ufffd" in text else None
    found = _FORBIDDEN.search(text)
    if found is None:
        return _lost_letter(text) if "\ufffd" in text else None
    return Problem(
        "control-character",
        f"{shown(text)} holds the control character U+{ord(found[0]):04X}",
        "clear the cell and type it again",
    )


def _lost_letter(text: str) -> Problem:
    return Problem(
        "lost-letter",
        f"{shown(text)} holds U+FFFD, the sign that another program left where it lost a letter",
        "type the letter again",
    )


def shown(text: str, limit: int = 40) -> str:
    """A cell quoted for a message, cut to `limit` characters, control characters as escapes."""
    text = text if len(text) <= limit else text[: limit - 3] + "..."
    return repr(text)
