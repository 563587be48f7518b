"""What lets a short command be short."""

from __future__ import annotations

import atexit
import gc

_MADE_BY_LOADING = 200_000  # objects: a little more than all our libraries are


def reduce_garbage_collection() -> None:
    """Have Python not look for garbage while it loads, nor at its end in all that was loaded: 0.15 s of each command.

    Nearly all that a run makes is gone with the last name for it, and needs no looking for.
    """
    gc.set_threshold(_MADE_BY_LOADING)
    atexit.register(gc.freeze)
