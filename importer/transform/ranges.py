"""Takes a range of two values in one cell apart: `Sep 2021 - Present`, `2019-2023`."""

from __future__ import annotations

import re
from typing import Literal

from importer.transform.refusal import Refusal, quoted

# Tried in this order; a bare hyphen comes last, for it also stands inside dates.
_SIGNS = tuple(map(re.compile, (r"\s+[-–—]\s+", r"\s*[–—]\s*", r"\s+to\s+", r"\s+-|-\s+", r"\s*-\s*")))
_HINT = "write it as START - END"


def part_of_range(text: str, part: Literal["start", "end"], sign: str | None) -> str | Refusal:
    """The text before or after the sign, which must be there once; either may be blank, but not both.

    Without a declared sign it is a dash with spaces around it, else a long dash, else the word `to`, else a hyphen.
    """
    pieces = text.split(sign) if sign else _pieces(text)
    if len(pieces) != 2 or not any(piece.strip() for piece in pieces):
        return Refusal("range-unsplit", f"{quoted(text)} is no range of two values", _HINT)
    return pieces[0 if part == "start" else 1].strip()


def _pieces(text: str) -> list[str]:
    padded = f" {text} "  # an end that is left open: `2021 -`
    for sign in _SIGNS:
        found = sign.split(padded)
        if len(found) > 1:
            return found
    return [text]
