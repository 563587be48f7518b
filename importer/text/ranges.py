"""Where a range of two values in one cell is taken apart: `Sep 2021 - Present`, `2019-2023`."""

from __future__ import annotations

import re

# Tried in this order; a bare hyphen comes last, for it also stands inside dates.
_SIGNS = tuple(map(re.compile, (r"\s+[-–—]\s+", r"\s*[–—]\s*", r"\s+(?:to|bis)\s+", r"\s+-|-\s+", r"\s*-\s*")))


def range_pieces(text: str) -> list[str]:
    """The pieces between the signs: two where it is a range; either may be blank."""
    padded = f" {text} "  # an end that is left open: `2021 -`
    for sign in _SIGNS:
        found = sign.split(padded)
        if len(found) > 1:
            return [piece.strip() for piece in found]
    return [text]
