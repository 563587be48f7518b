"""Stays and makes one pass after the other: a poll, because network drives do not report what arrives on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from importer.inbox.importing import Means
from importer.inbox.worker import run_once
from importer.problems import ImporterError

_SIGNALED: Final = (130, 143)
_LATER: Final = (3, 5, 75)  # exit codes after which the next pass would meet the same
_LONGEST: Final = 900.0  # seconds between two passes


def watch(
    folders: Sequence[Path],
    means: Means,
    on_error: Callable[[ImporterError], None],
    on_pass: Callable[[int], None],
    every: float,
) -> int:
    """Make passes until a signal stops a run; the exit code of that pass. A signal between runs has its usual effect.

    on_pass: called after each, with its exit code. every: seconds between two passes; twice as long after each that the
    service, the settings or another worker stop.
    """
    wait = every
    while True:
        code = run_once(folders, means, on_error)
        on_pass(code)
        if code in _SIGNALED:
            return code
        wait = min(wait * 2, max(_LONGEST, every)) if code in _LATER else every
        means.clock.sleep(wait)
