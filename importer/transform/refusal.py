"""Why a text cannot be read: a problem that does not know its cell yet."""

from __future__ import annotations

from dataclasses import dataclass

from importer.models import LinePlace, Place, Problem
from importer.text.visible import visible

_SHOWN = 80  # characters of a cell in a message


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is wrong with a text, and what to do."""

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
