"""Locks that the system frees when their process ends, however it ends: who works, and who is still at work."""

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

from importer.atomic_files import INTERNAL, file_mode, internal_folder, open_private, read_private
from importer.errors import Busy
from importer.ledger.identity import Scope
from importer.ledger.sqlite_file import unwritable

_AT_WORK = ".at-work"


@contextmanager
def target_lock(ledger_path: Path, scope: Scope) -> Iterator[None]:
    """Hold the lock of one target of one ledger. The system frees it when the process ends, however it ends.

    Raises:
        Busy: another run holds it; the message names its process, host and start.
        UnusableInput: there is no room for it, or no right to make it.
    """
    with _held(_lock_path(ledger_path, scope), f"another run works on {scope}", ""):
        yield


def refuse_while_locked(ledger_path: Path, scope: Scope) -> None:
    """Raises Busy where another run works on a target now. Keeps nothing: whoever is to work takes `target_lock`."""
    if _lock_path(ledger_path, scope).exists():
        with target_lock(ledger_path, scope):
            pass


@contextmanager
def rehearsal_lock(out: Path) -> Iterator[None]:
    """Hold the lock of the sandbox that is kept in a results folder: what it accepted has one owner at a time.

    Raises:
        Busy: another command rehearses there.
        UnusableInput: there is no room for it, or no right to make it.
    """
    instead = ", or name another folder with --out"
    with _held(out / INTERNAL / "sandbox.lock", f"another command works with the sandbox of {out}", instead):
        yield


@contextmanager
def _held(place: Path, busy: str, instead: str) -> Iterator[None]:
    try:
        lock = FileLock(place, timeout=0, mode=file_mode(internal_folder(place.parent.parent)))
        lock.acquire()
    except Timeout:
        raise Busy(
            f"{busy}: {_holder(place)}; wait until it has ended{instead}, then run the same command again"
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
    digest = hashlib.sha256(named.encode()).hexdigest()[:12]
    return ledger_path.parent / INTERNAL / f"{ledger_path.name}.{digest}.lock"


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
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(holder, file)
    draft.replace(_holder_path(lock_path))


def _holder(lock_path: Path) -> str:
    try:
        holder = json.loads(read_private(_holder_path(lock_path)))
        return f"process {holder['process']} on {holder['host']}, started {holder['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        # It has just taken the lock and not yet said its name.
        return "a process that has only just started"


# --- who is still at work -----------------------------------------------------------------------


class Presence:
    """Says, from before a run has a folder until it has ended, that its process lives.

    Raises:
        OSError: there is no room for it, or no right to make it.
    """

    def __init__(self, out: Path, run: str) -> None:
        mode = file_mode(internal_folder(out))
        self._path = _presence_path(out, run)
        self._lock = FileLock(self._path, timeout=0, mode=mode)
        self._lock.acquire()

    def end(self) -> None:
        """The run has ended, well or not. May be called again."""
        self._lock.release()
        self._path.unlink(missing_ok=True)


def is_abandoned(out: Path, run: str) -> bool:
    """Whether the process that made a run is no more, and did not come to its end. Where it left no word: no."""
    path = _presence_path(out, run)
    if not path.exists():
        return False
    try:
        lock = FileLock(path, timeout=0, mode=file_mode(path.parent))
        lock.acquire()
    except (Timeout, OSError):
        return False
    lock.release()
    return True


def forget_presence(out: Path, run: str) -> None:
    """Take away what a killed process left to say that it lives."""
    _presence_path(out, run).unlink(missing_ok=True)


def runs_at_work(out: Path) -> list[str]:
    """The names of runs that say that their processes live, truly or not. Names of files: anybody's, until checked."""
    return [path.name.removesuffix(_AT_WORK) for path in sorted((out / INTERNAL).glob(f"*{_AT_WORK}"))]


def _presence_path(out: Path, run: str) -> Path:
    # Not in the run's folder: so the folder is never there without it.
    return out / INTERNAL / f"{run}{_AT_WORK}"
