"""File locks: the system releases a lock when its process ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from importer.files import file_mode, internal_folder
from importer.problems import Busy, not_writable


@contextmanager
def hold_lock(path: Path, busy: str) -> Iterator[None]:
    """Hold a lock file in the folder `.importer` of a results folder.

    `busy` begins the message if another process holds it.

    Raises:
        Busy: another process holds it.
        UnusableInput: it cannot be created.
    """
    try:
        internal_folder(path.parent.parent)
        lock = acquire(path)
    except OSError as error:
        raise not_writable(path, error.strerror or str(error)) from None
    if lock is None:
        raise Busy(f"{busy}; wait until it has ended, then run the same command again")
    try:
        yield
    finally:
        lock.release()


def acquire(path: Path) -> FileLock | None:
    """Take a lock without waiting; None if another process holds it. Its folder must exist.

    Raises OSError: it cannot be created.
    """
    lock = FileLock(path, timeout=0, mode=file_mode(path.parent))
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def is_free(path: Path) -> bool:
    """Whether no process holds a lock. False if that cannot be checked."""
    try:
        lock = acquire(path)
    except OSError:
        return False
    if lock is not None:
        lock.release()
    return lock is not None
