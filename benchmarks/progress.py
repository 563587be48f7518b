"""Progress lines on standard output."""

from __future__ import annotations

import sys


def show(line: str) -> None:
    """Print one line immediately."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
