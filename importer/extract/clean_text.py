"""The text of a cell made clean: outer blanks off, line breaks LF, NFC."""

from __future__ import annotations

import re
import unicodedata

# Zero-width signs and direction marks: copying from web pages and contact lists puts them around phones and e-mails.
_INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
# Not \s as a whole: it holds U+001C to U+001F, control characters that must not go without a word.
_BLANK = rf" \t\n\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{_INVISIBLE}"
_OUTER = re.compile(rf"\A[{_BLANK}]+|[{_BLANK}]+\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_BREAK = re.compile(r"\r\n?")
_FOLDED = re.compile(r"\s*[\r\n\u2028\u2029]+\s*")


def clean(text: str) -> str:
    """Trim blanks (NBSP and zero-width signs too) outside, keep them inside; line breaks become LF; NFC."""
    if text.isprintable():
        text = text.strip(" ")
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    text = _SURROGATE.sub("\ufffd", _LINE_BREAK.sub("\n", text))
    return _OUTER.sub("", unicodedata.normalize("NFC", text))


def header_text(cell: str) -> str:
    """A header cell as one line: a line break inside becomes one space."""
    return _FOLDED.sub(" ", cell)


def shown(text: str, limit: int = 40) -> str:
    """A cell quoted for a message, cut to `limit` characters, control characters as escapes."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")
