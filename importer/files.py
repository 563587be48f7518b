"""Files and folders of a results folder: private, written atomically and durably, never through a symbolic link."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

INTERNAL: Final = ".importer"
"""The name of the folder in a results folder, and next to a ledger, for locks and other internal files."""

_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
_IS_LINK: Final = "it is a symbolic link, which is not allowed here; remove it"


def open_private(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a file in a results folder. A new file has mode 0600, in a team's folder 0660.

    Raises OSError: it cannot be opened, or is a symbolic link.
    """
    mode = file_mode(path.parent)
    try:
        descriptor = os.open(path, flags | _NO_LINKS, mode)
    except OSError:
        refuse_link(path)
        raise
    if flags & os.O_CREAT and mode != 0o600:
        with suppress(PermissionError):  # the file belongs to a colleague
            os.fchmod(descriptor, mode)  # the umask may have changed it
    return descriptor


def refuse_link(path: Path) -> None:
    """Raises OSError: it is a symbolic link."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, _IS_LINK, str(path)) from None


def read_private(path: Path) -> bytes:
    """The content of a file in a results folder. Raises OSError as `open_private` does."""
    with os.fdopen(open_private(path), "rb") as file:
        return file.read()


def write_private(path: Path, content: bytes) -> None:
    """Write a file in a results folder, or replace it. Raises OSError as `open_private` does."""
    with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(content)


def file_mode(folder: Path) -> int:
    """The mode of files in a folder: 0600, or 0660 in a team's folder (IMPORTER_OUT_SHARED=group)."""
    return 0o660 if is_team_folder(folder) else 0o600


def is_team_folder(folder: Path) -> bool:
    """Whether a group may write in a folder and owns the files that are created in it."""
    mode = folder.stat().st_mode
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def make_folder(folder: Path, *, team: bool = False) -> None:
    """Make a folder and its parents, unless they exist, with mode 0700, or 2770 for a team, whatever the umask.

    Raises OSError: it cannot be created.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent, team=team)
    try:
        folder.mkdir(0o700)
    except FileExistsError:
        if not folder.is_dir():  # a file; another process may have made the folder meanwhile
            raise
    else:
        set_mode(folder, 0o2770 if team else 0o700)


def make_subfolder(folder: Path) -> None:
    """Make a folder in a results folder, private or for the same team.

    Raises OSError: it cannot be created. FileExistsError: it exists.
    """
    team = is_team_folder(folder.parent)
    folder.mkdir(0o700)
    set_mode(folder, 0o2770 if team else 0o700)


def internal_folder(folder: Path) -> Path:
    """`<folder>/.importer`; both are created unless they exist.

    Raises OSError: it cannot be created, or is a symbolic link.
    """
    make_folder(folder)
    internal = folder / INTERNAL
    with suppress(FileExistsError):
        make_subfolder(internal)
        sync_folder(folder)  # it will hold the ledger's key, which must survive a power cut
    if internal.is_symlink():
        raise OSError(errno.ELOOP, _IS_LINK, str(internal))
    return internal


def set_mode(path: Path, mode: int) -> None:
    with suppress(PermissionError):  # a file system without modes (IMPORTER_OUT_SHARED=any)
        path.chmod(mode)


def write_json(path: Path, values: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write values as a private JSON file, atomically; times as ISO text.

    Raises OSError: the folder cannot be written. An earlier file is unchanged.
    """
    draft = path.with_name(f".{path.name}.tmp")
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    # A file name, or a response of the service, may contain a lone surrogate. It is escaped as JSON does.
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(values, file, ensure_ascii=False, indent=1, default=datetime.isoformat)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def sync_folder(folder: Path) -> None:
    """Write the names of a folder's files to disk, as fsync does with their contents.

    Raises OSError: the disk cannot be written.
    """
    if os.name == "nt":  # folders cannot be opened there, and names are durable without
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network drives cannot do it
            raise
    finally:
        os.close(descriptor)


# --- reading only regular files ---


# Opening must not wait for the other end of a pipe. Windows has neither the flag nor such pipes.
_WITHOUT_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_regular(path: Path, max_bytes: int) -> bytes:
    """The content of a regular file of at most `max_bytes`.

    Raises OSError: the file does not exist, is not regular, or is too large. The message gives the reason.
    """
    descriptor = os.open(path, os.O_RDONLY | _WITHOUT_WAITING)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if found.st_size > max_bytes:
            content = b""
        else:
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(max_bytes + 1)  # it may grow, and files in /proc have size 0
        if max(found.st_size, len(content)) > max_bytes:
            raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes")
        return content
    finally:
        os.close(descriptor)


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
