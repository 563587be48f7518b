"""One run at a time for a ledger and a target."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from importer.errors import Busy
from importer.ledger.identity import Scope
from importer.ledger.sqlite_file import unwritable


@contextmanager
def target_lock(ledger_path: Path, scope: Scope) -> Iterator[None]:
    """Hold the lock of one target of one ledger. The system frees it when the process ends, however it ends.

    Raises:
        Busy: another run holds it; the message names its process, host and start.
        UnusableInput: there is no room for it, or no right to make it.
    """
    place = _lock_path(ledger_path, scope)
    lock = FileLock(place, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        raise Busy(
            f"another run works on {scope}: {_holder(place)}; wait until it has ended, then run the same command again"
        ) from None
    except OSError as error:
        raise unwritable(place, error.strerror or str(error)) from None
    try:
        try:
            _name_holder(place)
        except OSError as error:
            raise unwritable(place, error.strerror or str(error)) from None
        yield
    finally:
        lock.release()


def _lock_path(ledger_path: Path, scope: Scope) -> Path:
    named = "\0".join((scope.base, scope.target.operation, scope.target.id))
    return ledger_path.with_name(f"{ledger_path.name}.{hashlib.sha256(named.encode()).hexdigest()[:12]}.lock")


def _holder_path(lock_path: Path) -> Path:
    # Not the lock file itself: whoever tries for the lock opens that one and may cut it to nothing.
    return lock_path.with_suffix(".holder")


def _name_holder(lock_path: Path) -> None:
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    draft = _holder_path(lock_path).with_suffix(f".{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(holder, file)
    draft.replace(_holder_path(lock_path))


def _holder(lock_path: Path) -> str:
    try:
        holder = json.loads(_holder_path(lock_path).read_text(encoding="utf-8"))
        return f"process {holder['process']} on {holder['host']}, started {holder['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        # It has just taken the lock and not yet said its name.
        return "a process that has only just started"
