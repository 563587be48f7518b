"""Lines for whoever watches."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """One line on standard output, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
