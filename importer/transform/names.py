"""Reads names, and takes a full name apart by a declared rule."""

from __future__ import annotations

from importer.mapping.model import Edge
from importer.transform.refusal import Refusal, quoted
from importer.transform.texts import read_text


def read_name(text: str, typed: bool) -> str | Refusal:
    """A name with single spaces; one without any letter is refused."""
    name = " ".join(text.split())
    if not any(sign.isalpha() for sign in name):
        return Refusal("name-unreadable", f"{quoted(text)} is no name", "write the name in letters")
    return read_text(name, typed)


def part_of_name(full_name: str, part: Edge) -> str | Refusal:
    """The first or last name: what is before or after a comma as in `Ada, Nur`, else the last word is the last name.

    A single word is refused, for which of the two names it is would be a guess.
    """
    if "," in full_name:
        return _part_by_comma(full_name, part)
    words = full_name.split()
    if len(words) < 2:
        message = f"{quoted(full_name)} is one word and cannot be split into first and last name"
        return Refusal("name-unsplit", message, "write both names")
    return words[-1] if part == "last" else " ".join(words[:-1])


def _part_by_comma(full_name: str, part: Edge) -> str | Refusal:
    pieces = [" ".join(piece.split()) for piece in full_name.split(",")]
    if len(pieces) != 2 or not all(pieces):
        message = f"{quoted(full_name)} cannot be split into first and last name"
        return Refusal("name-unsplit", message, "write it as 'Last, First' or 'First Last'")
    return pieces[0] if part == "last" else pieces[1]
