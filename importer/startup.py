"""What lets a short command be short."""

from __future__ import annotations

import atexit
import gc
import threading
from importlib import import_module

_MADE_BY_LOADING = 200_000  # objects: a little more than all our libraries are


def spare_garbage_collector() -> None:
    """Have Python not look for garbage while it loads, nor at its end in all that was loaded: 0.15 s of each command.

    Nearly all that a run makes is gone with the last name for it, and needs no looking for.
    """
    gc.set_threshold(_MADE_BY_LOADING)
    atexit.register(gc.freeze)


_loading: list[threading.Thread] = []


def load_meanwhile(*modules: str) -> None:
    """Load what is needed soon in a thread of its own, where this one is about to wait for the disk."""

    def load() -> None:
        for module in modules:
            import_module(module)

    thread = threading.Thread(target=load, name="loading", daemon=True)
    _loading.append(thread)
    thread.start()


def finish_loading() -> None:
    """Wait for it. Whoever forks does: in the copy of this process nobody would go on with a module half loaded."""
    while _loading:
        _loading.pop().join()
