"""Shortens the start and end of every command."""

from __future__ import annotations

import atexit
import gc

_LOADED_OBJECTS = 200_000  # a little more than all our libraries create


def reduce_garbage_collection() -> None:
    """Skip garbage collection during imports and at exit, which saves 0.15 s of each command.

    Nearly all objects of a run are freed by their reference count.
    """
    gc.set_threshold(_LOADED_OBJECTS)
    atexit.register(gc.freeze)
