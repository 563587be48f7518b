"""Takes one end of a range of two values in one cell: `Sep 2021 - Present`, `2019-2023`."""

from __future__ import annotations

from typing import Literal

from importer.text.ranges import range_pieces
from importer.transform.refusal import Refusal, quoted

_HINT = "write it as START - END"


def part_of_range(text: str, part: Literal["start", "end"], sign: str | None) -> str | Refusal:
    """The text before or after the sign, which must be there once; either may be blank, but not both.

    Without a declared sign it is a dash with spaces around it, else a long dash, else the word `to` or `bis`, else a
    hyphen.
    """
    pieces = text.split(sign) if sign else range_pieces(text)
    if len(pieces) != 2 or not any(piece.strip() for piece in pieces):
        return Refusal("range-unsplit", f"{quoted(text)} is no range of two values", _HINT)
    return pieces[0 if part == "start" else 1].strip()
