"""Reads small files from untrusted places: not a device, not an endless pipe, not larger than a limit."""

from __future__ import annotations

import errno
import os
import select
import stat
import tempfile
import time
from pathlib import Path
from typing import Final

# Opening must not wait for the other end of a pipe. Windows has neither the flag nor such pipes.
_WITHOUT_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_regular(path: Path, max_bytes: int, pipe_seconds: float = 0) -> bytes:
    """The content of a regular file of at most `max_bytes`, or of a pipe if `pipe_seconds` is not 0.

    Raises:
        OSError: the file does not exist, is not regular, is too large, or the pipe was not closed in time. The
            message gives the reason.
    """
    descriptor = os.open(path, os.O_RDONLY | _WITHOUT_WAITING)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISFIFO(found.st_mode) and pipe_seconds:
            content = _read_pipe(descriptor, max_bytes + 1, time.monotonic() + pipe_seconds)
        elif not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        elif found.st_size > max_bytes:
            content = b""
        else:
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(max_bytes + 1)  # it may grow, and files in /proc have size 0
        if max(found.st_size, len(content)) > max_bytes:
            raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes")
        return content
    finally:
        os.close(descriptor)


def _read_pipe(descriptor: int, max_bytes: int, until: float) -> bytes:
    content = b""
    while len(content) < max_bytes:
        if not select.select([descriptor], [], [], max(until - time.monotonic(), 0))[0]:
            raise OSError(errno.ETIMEDOUT, "it is a pipe, and its writer did not finish in time")
        piece = os.read(descriptor, max_bytes - len(content))
        if not piece:
            break
        content += piece
    return content


def mode_for_others(path: Path) -> int | None:
    """The permissions of a file if other users of this machine can read or write it, else None.

    None on Windows, whose permissions are not checked.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    return mode if mode & 0o066 and os.name != "nt" else None


def can_be_made_private(path: Path) -> bool:
    """Whether `chmod 600` is possible and has an effect.

    It is not on a read-only mount, a mounted file or a file of another user (the secrets of containers), or a file
    system without permissions.
    """
    if os.name == "nt" or path.stat().st_uid != os.geteuid() or os.statvfs(path).f_flag & os.ST_RDONLY:
        return False
    return not os.path.ismount(path.resolve()) and _keeps_permissions(path.resolve().parent)


def _keeps_permissions(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            return not os.fstat(probe.fileno()).st_mode & 0o077
    except OSError:  # no file can be created there: assume a usual file system
        return True
