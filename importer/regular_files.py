"""Reads small files that somebody else may have put there: no device, no endless pipe, nothing larger than agreed."""

from __future__ import annotations

import errno
import os
import select
import stat
import tempfile
import time
from pathlib import Path
from typing import Final

# Without waiting for the other end of a pipe. Windows has neither the flag nor such pipes among its files.
_WITHOUT_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_regular(path: Path, most: int, pipe_seconds: float = 0) -> bytes:
    """The content of a regular file of at most so many bytes; of a pipe too, where it may take some seconds.

    Raises:
        OSError: there is no such file, it is of another kind, it holds more, or nothing came in time; says which.
    """
    descriptor = os.open(path, os.O_RDONLY | _WITHOUT_WAITING)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISFIFO(found.st_mode) and pipe_seconds:
            content = _read_pipe(descriptor, most + 1, time.monotonic() + pipe_seconds)
        elif not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        elif found.st_size > most:
            content = b""
        else:
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(most + 1)  # it may grow meanwhile, and some say that they are empty
        if max(found.st_size, len(content)) > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
        return content
    finally:
        os.close(descriptor)


def _read_pipe(descriptor: int, most: int, until: float) -> bytes:
    content = b""
    while len(content) < most:
        if not select.select([descriptor], [], [], max(until - time.monotonic(), 0))[0]:
            raise OSError(errno.ETIMEDOUT, "it is a pipe, and its writer did not finish in time")
        piece = os.read(descriptor, most - len(content))
        if not piece:
            break
        content += piece
    return content


def mode_for_others(path: Path) -> int | None:
    """The permissions of a file that other users of this machine can read or write; None where they cannot.

    Windows keeps rights in another way, which is not looked at.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    return mode if mode & 0o066 and os.name != "nt" else None


def can_be_made_private(path: Path) -> bool:
    """Whether `chmod 600` is ours to do and would last.

    It is not on a read-only mount, on a file that is mounted there by itself or belongs to somebody else (the secrets
    of containers), nor on a file system that keeps no permissions.
    """
    if os.name == "nt" or path.stat().st_uid != os.geteuid() or os.statvfs(path).f_flag & os.ST_RDONLY:
        return False
    return not os.path.ismount(path.resolve()) and _keeps_permissions(path.resolve().parent)


def _keeps_permissions(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            return not os.fstat(probe.fileno()).st_mode & 0o077
    except OSError:  # nothing can be made there: then it is taken for a usual one
        return True
