"""The folders of an inbox: who may write and read there, and the lock that one worker holds."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from importer.file_lock import hold_lock, is_free
from importer.files import INTERNAL, make_folder, read_private, write_json
from importer.inbox.rules import RULES_FILE, Rules, read_rules
from importer.problems import Problem, UnusableInput, file_problem, unusable_file
from importer.runs.results_folder import is_private_group

Place = Literal["working", "done", "attention"]
PLACES: Final[tuple[Place, ...]] = ("working", "done", "attention")


_LOCK: Final = "inbox.lock"
_IMPORTING: Final = "importing.json"


@dataclass(frozen=True, slots=True)
class Current:
    """A file that is being imported: the name of its folder, and since when."""

    folder: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Inbox:
    """A folder with its rules. Others may write in `incoming` only; the other folders are private."""

    folder: Path
    rules: Rules

    @property
    def incoming(self) -> Path:
        return self.folder / "incoming"

    def place(self, place: Place) -> Path:
        """The folder with a folder for each file that was taken."""
        return self.folder / place

    def lock(self) -> AbstractContextManager[object]:
        """Hold the lock of the inbox: one worker at a time takes and moves its files.

        Raises:
            Busy: another worker holds it.
        """
        return hold_lock(self.folder / INTERNAL / _LOCK, f"another worker uses the inbox {self.folder}")

    @contextmanager
    def importing(self, id: str, since: datetime) -> Iterator[None]:
        """Within this context, the status shows that the file in the folder <id> is imported. Under the lock."""
        note = self.folder / INTERNAL / _IMPORTING
        with suppress(OSError):  # only shown
            write_json(note, {"version": 1, "folder": id, "since": since})
        yield
        with suppress(OSError):
            note.unlink()

    @property
    def current(self) -> Current | None:
        """The file that a worker imports now."""
        try:
            noted = json.loads(read_private(self.folder / INTERNAL / _IMPORTING))
            found = Current(noted["folder"], datetime.fromisoformat(noted["since"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None if is_free(self.folder / INTERNAL / _LOCK) else found  # the worker was killed


def open_inbox(folder: Path) -> Inbox:
    """The inbox in a folder, with its other folders made.

    Raises:
        UnusableInput: its rules have problems, or others could change or read what they must not.
    """
    inbox = Inbox(folder, read_rules(folder))
    if problems := list(_problems(inbox)):
        raise UnusableInput(problems)
    try:
        for path in (inbox.incoming, *map(inbox.place, PLACES)):
            make_folder(path)
    except OSError as error:
        raise not_writable(folder, error) from None
    if problems := list(_problems_of_private(inbox)):
        raise UnusableInput(problems)
    return inbox


def not_writable(folder: Path, error: OSError) -> UnusableInput:
    """The error for an inbox that cannot be written; its files stay where they are."""
    message = f"the inbox cannot be written ({error.strerror or error}), so no file is taken"
    hint = "free disk space or get write permission there, then run the same command again"
    return unusable_file("not-writable", message, hint, folder)


def _problems(inbox: Inbox) -> Iterator[Problem]:
    for rule in inbox.rules.files:
        if not rule.mapping.exists():
            message = f"the mapping for {rule.pattern} does not exist"
            hint = f"correct its path in {inbox.folder / RULES_FILE}, which it is relative to"
            yield file_problem("inbox-rules-invalid", message, hint, rule.mapping)
    try:
        yield from _writable_by_others(inbox.folder)
        yield from _writable_by_others(inbox.folder / RULES_FILE)
        if os.path.lexists(inbox.incoming) and not stat.S_ISDIR(inbox.incoming.lstat().st_mode):
            yield file_problem("inbox-folder-invalid", "it is not a folder", "replace it with a folder", inbox.incoming)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None


def _writable_by_others(path: Path) -> Iterator[Problem]:
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    by_group = mode & stat.S_IWGRP and not is_private_group(found.st_gid) if os.name != "nt" else False
    if os.name != "nt" and (mode & stat.S_IWOTH or by_group):
        message = f"other users of this computer can change it (mode {mode:04o})"
        yield file_problem("inbox-open-to-others", message, f"run: chmod go-w {path}", path)


def _problems_of_private(inbox: Inbox) -> Iterator[Problem]:
    """Make the folders private that may be; the problems of the others."""
    device = inbox.incoming.stat().st_dev
    for place in PLACES:
        path = inbox.place(place)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode):
            yield file_problem("inbox-folder-invalid", "it is not a folder", "replace it with a folder", path)
            continue
        if found.st_dev != device:
            message = "it is not on the file system of incoming, so files cannot be moved in one step"
            yield file_problem("inbox-folder-invalid", message, "put the whole inbox on one file system", path)
        if os.name != "nt" and found.st_mode & 0o077:
            try:
                path.chmod(0o700)
            except OSError:
                message = f"other users of this computer can read it (mode {stat.S_IMODE(found.st_mode):04o})"
                yield file_problem("inbox-open-to-others", message, f"run: chmod 700 {path}", path)
