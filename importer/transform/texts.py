"""Plain texts: what of a cell counts, what cannot be sent, and why a text is refused."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from importer.models import LinePlace, Place, Problem
from importer.text.normalize import visible

_SHOWN = 80  # characters of a cell in a message
_PADDING = "\u200b\ufeff\u2060 \t\r\n\u00a0\u202f\u3000\v\f"
_ALLOWED_CONTROLS = frozenset("\n\r\t")
_BREAKS = re.compile(r"\s*[\n\r\t\v\f\u2028\u2029]\s*")
_ESCAPED_FORMULA = re.compile(r"'+[=+\-@\t\r]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is wrong with a text, and what to do: a problem that does not know its cell yet."""

    code: str
    message: str
    hint: str

    def at(self, place: Place) -> Problem:
        return Problem(self.code, self.message, self.hint, place)


def quoted(text: str) -> str:
    """A cell's text as a message shows it: on one line, in quotes, cut where it is long."""
    line = visible(" ".join(text.split()))
    return f"'{line}'" if len(line) <= _SHOWN else f"'{line[:_SHOWN]}…'"


def in_mapping(place: LinePlace) -> str:
    """A line of the mapping file as a hint names it."""
    return f"in {place.file}:{place.line}"


def stripped(text: str) -> str:
    """The text without the white space and zero-width characters around it."""
    return text.strip(_PADDING)


def read_text(text: str, typed: bool) -> str | Refusal:
    """The text as it is; control characters other than line breaks and tabs, and half characters, are refused.

    So is the quote of a formula escape: reading takes it off a results file, as long as that has one of its import_
    columns.
    """
    if text[:1] == "'" and _ESCAPED_FORMULA.match(text):
        message = f"{quoted(text)} begins with the quote that our results files put before a sign like = or +"
        return Refusal("guard-left", message, "take the quote out, or leave the import_ columns in the results file")
    if text.isprintable():
        return text
    for character in text:
        if character not in _ALLOWED_CONTROLS and unicodedata.category(character) in ("Cc", "Cs"):
            message = f"{quoted(text)} holds the character U+{ord(character):04X}, which cannot be sent"
            return Refusal("text-unsendable", message, "take it out")
    return text


def read_line(text: str, typed: bool) -> str | Refusal:
    """The text in one line, as a short text is: line breaks and tabs, with the spaces around them, become a space."""
    return read_text(text if text.isprintable() else _BREAKS.sub(" ", text), typed)
