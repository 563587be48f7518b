"""The results folder: who may write to it, and the folders of runs in it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Literal

with suppress(ImportError):  # not on Windows, where nothing is checked
    import grp
    import pwd

from importer.files import INTERNAL, is_team_folder, make_folder, make_subfolder, open_private
from importer.ledger import ledger_folder
from importer.problems import Problem, UnusableInput, file_problem, unusable_file
from importer.runs.presences import Presence, Presences
from importer.settings import Settings

MARKER: Final = ".importer-run"
"""The first file in a run's folder. A folder without it that has files is never removed or changed."""

_MARKER_TEXT: Final = b"The importer made this folder, and importer purge removes it.\n"
_RUN_ID: Final = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{4,5}(?:\.[^/\\\0]+)?")
_MAX_LINKS: Final = 40  # the operating system follows no more either

Shared = Literal["no", "group", "any"]


# --- who may write in it ------------------------------------------------------------------------


def make_results(settings: Settings) -> None:
    """Create the results folder if it does not exist: mode 0700, for a team 2770.

    Raises UnusableInput: it cannot be created, others could change its contents, or its drive refuses chmod.
    """
    refuse_untrusted(settings)  # before anything is created behind another user's link
    try:
        make_folder(settings.out, team=settings.out_shared == "group")
    except OSError as error:
        raise unusable_folder(settings.out, error) from None
    refuse_untrusted(settings)
    if settings.out_shared != "any" and not _keeps_modes(settings.out):
        hint = "choose another drive with --out; if others may read and change this one, set IMPORTER_OUT_SHARED=any"
        raise UnusableInput(_untrusted("its drive refuses to make files private (chmod)", hint, settings.out))


def _keeps_modes(folder: Path) -> bool:
    """Whether the file system of a folder lets one set the mode of one's own file; True if none can be made there."""
    with suppress(OSError), NamedTemporaryFile(dir=folder) as probe:
        try:
            Path(probe.name).chmod(0o600)
        except PermissionError:
            return False
    return True


def refuse_untrusted(settings: Settings) -> None:
    """Raise UnusableInput, with all problems, if others could change the results folder or the ledger."""
    problems = why_untrusted(settings)
    if problems:
        raise UnusableInput(problems)


def why_untrusted(settings: Settings) -> tuple[Problem, ...]:
    """Problems that let others change the results folder or the folder of the ledger; () if there are none."""
    if settings.out_shared == "any" or os.name == "nt":
        return ()
    folders = [settings.out]
    with suppress(UnusableInput):  # reported when the ledger is opened
        folder = ledger_folder(settings.ledger_address)
        folders += [] if folder is None else [folder]
    problems: list[Problem] = []
    for folder in folders:
        try:
            problems += _risks(folder, settings.out_shared)
        except OSError as error:
            hint = "choose another folder with --out or IMPORTER_OUT, or get permission for this one"
            problems.append(_untrusted(f"this folder cannot be read: {error.strerror}", hint, folder))
    return tuple(dict.fromkeys(problems))


def _risks(folder: Path, shared: Shared) -> Iterator[Problem]:
    link = _link_of_other_user(folder)
    if link is not None:
        message = f"this symbolic link belongs to {_user(link.lstat().st_uid)}, who could change where it points"
        yield _untrusted(message, f"use the folder that it points to: {folder.resolve()}", link)
    own = tuple(_mode_risks(folder, shared))
    yield from own
    if own:
        return
    if (folder / INTERNAL).is_symlink():
        message, hint = "this is a symbolic link, which is not allowed here", "replace it with the folder itself"
        yield _untrusted(message, hint, folder / INTERNAL)
    else:
        yield from _mode_risks(folder / INTERNAL, shared)


def _mode_risks(folder: Path, shared: Shared) -> Iterator[Problem]:
    if not folder.exists():
        return
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    if mode & stat.S_IWOTH:
        hint = f"run: chmod o-w {folder}; on a drive or volume without file owners set IMPORTER_OUT_SHARED=any"
        yield _untrusted(f"everyone on this computer can write to this folder (mode {mode:04o})", hint, folder)
    if shared == "group":
        if not is_team_folder(folder):
            hint = f"run: chmod -R g+rwX {folder} && find {folder} -type d -exec chmod g+s {{}} +"
            yield _untrusted(f"this folder is not set up for a team (mode {mode:04o} instead of 2770)", hint, folder)
        return
    if found.st_uid != os.geteuid():
        hint = "choose your own folder with --out or IMPORTER_OUT; or set IMPORTER_OUT_SHARED: group for a team "
        message = f"this folder belongs to {_user(found.st_uid)}, who could change its contents"
        yield _untrusted(message, hint + "folder, any for a drive or volume without file owners", folder)
    if mode & stat.S_IWGRP and not is_private_group(found.st_gid):
        hint = f"run: chmod g-w {folder}; or set IMPORTER_OUT_SHARED=group if it is a team folder"
        message = f"the group {_group(found.st_gid)} can write to this folder (mode {mode:04o})"
        yield _untrusted(message, hint, folder)


def _untrusted(message: str, hint: str, path: Path) -> Problem:
    return file_problem("results-folder-untrusted", message, hint, path)


def _link_of_other_user(path: Path) -> Path | None:
    """The first symbolic link in a path that belongs neither to this user nor to root."""
    at, links = Path(path.absolute().anchor), 0
    rest = deque(path.absolute().parts[1:])
    while rest and links < _MAX_LINKS:
        name = rest.popleft()
        step = at.parent if name == ".." else at / name  # `at` contains no link, so its parent is correct
        if not step.is_symlink():
            at = step
            continue
        if step.lstat().st_uid not in (0, os.geteuid()):
            return step
        target, links = step.readlink(), links + 1
        if target.is_absolute():
            at = Path(target.anchor)
        rest.extendleft(reversed(target.parts[target.is_absolute() :]))
    return None


def is_private_group(gid: int) -> bool:
    """Whether a group contains only this user, as the private groups of systems with umask 002."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    if (user.pw_gid, user.pw_name) != (gid, group.gr_name) or set(group.gr_mem) - {user.pw_name}:
        return False
    return all(other.pw_name == user.pw_name for other in pwd.getpwall() if other.pw_gid == gid)


def _user(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user {uid}"


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def unusable_folder(folder: Path, error: OSError) -> UnusableInput:
    """The error for a results folder that cannot be created or written."""
    return unusable_file(
        "not-writable",
        f"the results folder cannot be created: {error.strerror or error}",
        "choose another folder with --out or IMPORTER_OUT, or get write permission there",
        folder,
    )


# --- the folders of runs ------------------------------------------------------------------------


def new_run_id() -> str:
    """A run ID such as `20261121-021503-512a9`: sorts by time, and is unique even within a millisecond."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}{secrets.token_hex(1)}"


def is_run_name(name: str) -> bool:
    """Whether a name is a valid run ID, and therefore not a path."""
    return _RUN_ID.fullmatch(name) is not None


def started_at_of(folder: Path) -> datetime | None:
    """When a run started, by the name of its folder; None if the folder is not a run's."""
    found = _RUN_ID.fullmatch(folder.name)
    if found is None or not is_run_folder(folder):
        return None
    with suppress(ValueError):  # such as day 99
        return datetime.strptime(found[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    return None


def announce_run(out: Path, run: str) -> Presence:
    """Announce that a run is running, before it has a folder.

    Raises UnusableInput: the results folder cannot be created or written.
    """
    try:
        return Presences(out).announce(run)
    except OSError as error:
        raise unusable_folder(out, error) from None


def make_private_folder(out: Path, run: str) -> Path:
    """Create the folder `<out>/<run>` for this user only (0700), with the marker that allows removing it later.

    Raises UnusableInput: it cannot be created.
    """
    folder = out / run
    try:
        make_folder(out)
        make_subfolder(folder)
        with os.fdopen(open_private(folder / MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(_MARKER_TEXT)
    except OSError as error:
        raise unusable_folder(folder, error) from None
    return folder


@contextmanager
def private_input(settings: Settings) -> Iterator[Path]:
    """A private temporary folder. If the process is killed, it is removed with other abandoned folders.

    Raises UnusableInput: it cannot be created, or others could change the results folder.
    """
    make_results(settings)
    out, name = settings.out, new_run_id()
    presence = announce_run(out, name)
    try:
        yield make_private_folder(out / INTERNAL, name)
    finally:
        with suppress(OSError):
            remove_folder(out / INTERNAL / name)
        presence.end()


def folders_in(out: Path) -> list[Path]:
    """The folders in a results folder, sorted by name; without symbolic links."""
    if not out.is_dir():
        return []
    with os.scandir(out) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    return [out / name for name in names]


def is_run_folder(folder: Path) -> bool:
    """Whether a folder was created by a run: it has a run ID as its name and the marker, and is not a link."""
    links = (path.is_symlink() for path in (folder, folder / MARKER))
    return is_run_name(folder.name) and (folder / MARKER).is_file() and not any(links)


def remove_folder(folder: Path) -> None:
    """Remove a run's folder, its manifest and marker last, so that it can be repeated. Other folders are left alone.

    Raises OSError: a file cannot be removed.
    """
    with suppress(FileNotFoundError):  # another command removes it, too
        if is_run_folder(folder):
            last = {name: order for order, name in enumerate(("run.json", MARKER), start=1)}
            for path in sorted(folder.iterdir(), key=lambda path: last.get(path.name, 0)):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        is_own = is_run_name(folder.name) and not folder.is_symlink()
        if is_own and not any(folder.iterdir()):  # also an empty one without a marker, after a kill
            folder.rmdir()
