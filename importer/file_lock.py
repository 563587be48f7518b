"""File locks: the system releases a lock when its process ends, however it ends."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from importer.files import file_mode, internal_folder, open_private, read_private
from importer.problems import Busy, not_writable


@contextmanager
def hold_lock(path: Path, busy: str, instead: str = "") -> Iterator[None]:
    """Hold a lock file in the folder `.importer` of a results folder, and write there which process holds it.

    `busy` begins the message if another process holds it; `instead` is an alternative to waiting, or "".

    Raises:
        Busy: another process holds it; the message gives the process, its host and its start.
        UnusableInput: it cannot be created.
    """
    try:
        internal_folder(path.parent.parent)
        lock = acquire(path)
    except OSError as error:
        raise not_writable(path, error.strerror or str(error)) from None
    if lock is None:
        raise Busy(f"{busy}: {_holder(path)}; wait until it has ended{instead}, then run the same command again")
    try:
        try:
            _write_holder(path)
        except OSError as error:
            raise not_writable(path, error.strerror or str(error)) from None
        yield
    finally:
        lock.release()


def acquire(path: Path) -> FileLock | None:
    """Take a lock without waiting; None if another process holds it. Its folder must exist.

    Raises:
        OSError: it cannot be created.
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


def _holder_path(lock_path: Path) -> Path:
    # Not the lock file itself: a process that tries to take the lock may truncate it.
    return lock_path.with_suffix(".holder")


def _write_holder(lock_path: Path) -> None:
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    draft = _holder_path(lock_path).with_suffix(f".{os.getpid()}")
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(holder, file)
    draft.replace(_holder_path(lock_path))


def _holder(lock_path: Path) -> str:
    try:
        holder = json.loads(read_private(_holder_path(lock_path)))
        return f"process {holder['process']} on {holder['host']}, started {holder['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that has just started"  # it has the lock, but has not written its name yet
