"""Starting Python processes: with our modules only, without secrets of this one; and the start and end of a command."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGES = str(Path(__file__).resolve().parent.parent)
# Variables that Python and the user's settings need. Any other may be a secret of another tool.
_PASSED = {
    "PATH", "HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME", "TMPDIR", "TEMP", "TMP", "LANG", "LANGUAGE", "TZ",
    "TZDIR", "SYSTEMROOT", "WINDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
}  # fmt: skip
_SECRET = ("TOKEN", "LEDGER")  # the address of a ledger may contain a password


def python_command(program: str, *arguments: str) -> list[str]:
    """A command that runs `program` (Python code that may import this package) with `arguments` in sys.argv[1:].

    Python runs isolated (-I): the current folder is not on its path, so that a secrets.py next to a CSV is not run.
    The other entries of this process's path follow Python's own.
    """
    path = [entry for entry in sys.path if Path(entry).is_absolute() and not _is_current_folder(entry)]
    start = f"import sys; sys.path += {[*path, _PACKAGES]!r}; {program}"
    return [sys.executable, "-I", "-X", "utf8", "-c", start, *arguments]


def child_environment() -> dict[str, str]:
    """The environment of a child process, without the token and the variables of other programs."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name.upper() in _PASSED or name.upper().startswith(("LC_", "IMPORTER_")))
        and not any(word in name.upper() for word in _SECRET)
    }


@contextmanager
def without_secrets() -> Iterator[None]:
    """Processes that are started meanwhile, and theirs, do not get the token of this one."""
    kept = {name: value for name, value in os.environ.items() if any(word in name.upper() for word in _SECRET)}
    for name in kept:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(kept)


def _is_current_folder(entry: str) -> bool:
    try:
        return Path(entry).samefile(Path.cwd())
    except OSError:  # one of them does not exist
        return False


# --- the start and the end of every command ---


_LOADED_OBJECTS = 200_000  # a little more than all our libraries create


def reduce_garbage_collection() -> None:
    """Skip garbage collection during imports and at exit, which saves 0.15 s of each command.

    Nearly all objects of a run are freed by their reference count.
    """
    gc.set_threshold(_LOADED_OBJECTS)
    atexit.register(gc.freeze)


def open_streams() -> None:
    """Open the standard streams that the caller closed (`>&-`): else the next file gets the number, and the output."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is the stream's
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))


def ending_signals() -> tuple[signal.Signals, ...]:
    """Those that end a command; a closed terminal is one, unless nohup has set it to be ignored."""
    if sys.platform == "win32" or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return (signal.SIGINT, signal.SIGTERM)
    return (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
