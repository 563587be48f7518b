"""The results folder: who may write in it, and the folders that runs make in it and that may be removed again."""

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
from typing import TYPE_CHECKING, Final, Literal

from importer.atomic_files import INTERNAL, is_team_folder, make_folder, make_subfolder, open_private
from importer.ledger import Presence, ledger_file, presences_in
from importer.problems import FilePlace, Problem, UnusableInput

if TYPE_CHECKING:
    from importer.settings import Settings

MARKER: Final = ".importer-run"
"""The first file in a run's folder: a folder without it is never removed, nor anything in it."""

_MARKED: Final = b"The importer made this folder, and importer purge removes it.\n"
_RUN_ID: Final = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{4,5}(?:\.[^/\\\0]+)?")
_MOST_LINKS: Final = 40  # the system follows no more, and says so itself

Shared = Literal["no", "group", "any"]


# --- who may write in it ------------------------------------------------------------------------


def make_results(settings: Settings) -> None:
    """Make the results folder where it is not there: 0700, for a team 2770.

    Raises:
        UnusableInput: it cannot be made, or others could change what lies there.
    """
    refuse_untrusted(settings)  # before anything is made behind somebody's link
    try:
        make_folder(settings.out, team=settings.out_shared == "group")
    except OSError as error:
        raise unusable_folder(settings.out, error) from None
    refuse_untrusted(settings)


def refuse_untrusted(settings: Settings) -> None:
    """Raise UnusableInput where others could change the results folder or the ledger, with all that is wrong."""
    problems = why_untrusted(settings)
    if problems:
        raise UnusableInput(problems)


def why_untrusted(settings: Settings) -> tuple[Problem, ...]:
    """What lets others change what lies in the results folder and beside the ledger; () where nothing does."""
    if settings.out_shared == "any" or os.name == "nt":
        return ()
    homes = [settings.out]
    with suppress(UnusableInput):  # told where the ledger is opened
        homes.append(ledger_file(settings.ledger_address).parent)
    problems: list[Problem] = []
    for home in homes:
        try:
            problems += _doubts(home, settings.out_shared)
        except OSError as error:
            hint = "choose another folder with --out or IMPORTER_OUT, or get permission for this one"
            problems.append(_untrusted(f"this folder cannot be read: {error.strerror}", hint, home))
    return tuple(dict.fromkeys(problems))


def _doubts(home: Path, shared: Shared) -> Iterator[Problem]:
    link = _foreign_link(home)
    if link is not None:
        told = f"this symbolic link belongs to {_user(link.lstat().st_uid)}, who could change where it points"
        yield _untrusted(told, f"use the folder that it points to: {home.resolve()}", link)
    of_home = tuple(_doubts_of_mode(home, shared))
    yield from of_home
    if of_home:
        return
    if (home / INTERNAL).is_symlink():
        told, hint = "this is a symbolic link, which is not allowed here", "replace it with the folder itself"
        yield _untrusted(told, hint, home / INTERNAL)
    else:
        yield from _doubts_of_mode(home / INTERNAL, shared)


def _doubts_of_mode(folder: Path, shared: Shared) -> Iterator[Problem]:
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
        told = f"this folder belongs to {_user(found.st_uid)}, who could change its contents"
        yield _untrusted(told, hint + "folder, any for a drive or volume without file owners", folder)
    if mode & stat.S_IWGRP and not _is_own_group(found.st_gid):
        hint = f"run: chmod g-w {folder}; or set IMPORTER_OUT_SHARED=group if it is a team folder"
        told = f"the group {_group(found.st_gid)} can write in this folder (mode {mode:04o})"
        yield _untrusted(told, hint, folder)


def _untrusted(message: str, hint: str, path: Path) -> Problem:
    return Problem("results-folder-untrusted", message, hint, FilePlace(str(path)))


def _foreign_link(path: Path) -> Path | None:
    """The first symbolic link on the way to a folder that belongs neither to this user nor to root."""
    at, links = Path(path.absolute().anchor), 0
    rest = deque(path.absolute().parts[1:])
    while rest and links < _MOST_LINKS:
        name = rest.popleft()
        step = at.parent if name == ".." else at / name  # `at` holds no link, so its parent is the one that is meant
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


def _is_own_group(gid: int) -> bool:
    """Whether a group is this user's alone, as systems with umask 002 give everybody one."""
    import grp  # POSIX only, and seldom needed
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    if (user.pw_gid, user.pw_name) != (gid, group.gr_name) or set(group.gr_mem) - {user.pw_name}:
        return False
    return all(other.pw_name == user.pw_name for other in pwd.getpwall() if other.pw_gid == gid)


def _user(uid: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user {uid}"


def _group(gid: int) -> str:
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def unusable_folder(folder: Path, error: OSError) -> UnusableInput:
    """What is told of a results folder that cannot be made or written."""
    return UnusableInput(
        Problem(
            "results-folder-not-writable",
            f"the results folder cannot be created: {error.strerror or error}",
            "choose another folder with --out or IMPORTER_OUT, or get write permission there",
            FilePlace(str(folder)),
        )
    )


# --- the folders of runs ------------------------------------------------------------------------


def new_run_id(now: datetime) -> str:
    """`20261121-021503-512a9`: sorts by time to the millisecond, and two runs started in the same one differ."""
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}{secrets.token_hex(1)}"


def is_run_name(name: str) -> bool:
    """Whether a name that was found is the name of a run, and so no path."""
    return _RUN_ID.fullmatch(name) is not None


def begun_at(folder: Path) -> datetime | None:
    """When a run began, by the name of its folder; None where no run made it."""
    found = _RUN_ID.fullmatch(folder.name)
    if found is None or not is_run_folder(folder):
        return None
    with suppress(ValueError):  # day 99
        return datetime.strptime(found[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    return None


def be_present(out: Path, run: str, ledger: str | None = None) -> Presence:
    """Say that a run for the ledger of that address is at work, before it has a folder.

    Raises:
        UnusableInput: the results folder cannot be made or written.
    """
    try:
        return presences_in(out, ledger).announce(run)
    except OSError as error:
        raise unusable_folder(out, error) from None


def make_private_folder(out: Path, run: str) -> Path:
    """`<out>/<run>`, a new folder for this user only (0700), with the marker by which it may be removed again.

    Raises:
        UnusableInput: it cannot be made there.
    """
    folder = out / run
    try:
        make_folder(out)
        make_subfolder(folder)
        with os.fdopen(open_private(folder / MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(_MARKED)
    except OSError as error:
        raise unusable_folder(folder, error) from None
    return folder


@contextmanager
def private_input(settings: Settings) -> Iterator[Path]:
    """A private folder for copies that are needed once. What a kill leaves of it goes with other abandoned folders.

    Raises:
        UnusableInput: it cannot be made there, or others could change the results folder.
    """
    make_results(settings)
    out, name = settings.out, new_run_id(datetime.now(UTC))
    presence = be_present(out, name)
    try:
        folder = make_private_folder(out / INTERNAL, name)
        try:
            yield folder
        finally:
            remove_folder(folder)
    finally:
        presence.end()


def folders_in(out: Path) -> list[Path]:
    """The folders of a results folder in the order of their names; links to folders are none."""
    return sorted(path for path in out.iterdir() if path.is_dir() and not path.is_symlink()) if out.is_dir() else []


def is_run_folder(folder: Path) -> bool:
    """Whether a folder is one that a run made: by its name and its marker, and it is no link."""
    links = (path.is_symlink() for path in (folder, folder / MARKER))
    return is_run_name(folder.name) and (folder / MARKER).is_file() and not any(links)


def remove_folder(folder: Path) -> None:
    """Remove a run's folder as far as that is possible, its marker last; one that no run made is left alone."""
    with suppress(OSError):
        if is_run_folder(folder):
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                elif path.name != MARKER:
                    path.unlink()
            if [path.name for path in folder.iterdir()] != [MARKER]:
                return
            (folder / MARKER).unlink()
        if is_run_name(folder.name):  # also one that a kill left before it had its marker: it is empty
            folder.rmdir()
