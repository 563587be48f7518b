"""The folders of an inbox, who may write and read there, and the files in them: each in a folder <id> with its record.

A file moves from incoming/X to working/<id>/X, then <id> to done/ or attention/, each by one rename.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import TypeAdapter

from importer.files import INTERNAL, make_folder, read_private, sync_folder, write_json
from importer.inbox.rules import RULES_FILE, Rules, read_rules
from importer.problems import Problem, UnusableInput, file_problem, unusable_file
from importer.runs.results_folder import is_private_group
from importer.store.lock import hold_lock

InboxPlace = Literal["working", "done", "attention"]
PLACES: Final[tuple[InboxPlace, ...]] = ("working", "done", "attention")
RECORD: Final = ".taken.json"  # no file of this name is taken: a leading dot marks files of programs
_VERSION: Final = 2
_LONGEST_NAME: Final = 100  # bytes of a file's name in the name of its folder
_BREAKING: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # characters that begin a line, or move a cursor


# --- what is known of a file ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a file was not imported, or not completely: what, with its place, and what to do."""

    code: str
    text: str
    hint: str = ""

    @classmethod
    def of(cls, problem: Problem) -> Self:
        return cls(problem.code, str(replace(problem, hint="")), problem.hint)


@dataclass(frozen=True, slots=True)
class ImportedContents:
    """What was in a file, and the service that it was imported into; compared with those of the next file."""

    service: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PassResult:
    """What a pass did with a file. place: where it belongs; in `working` the next pass continues.

    exit_code: as of importer run; reasons: () for a file that is done; outcomes: rows of its last run by outcome.
    """

    exit_code: int
    place: InboxPlace
    reasons: tuple[Reason, ...] = ()
    outcomes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file in its folder <id>, as .taken.json there says.

    pattern: of its rule, None if none matched. marker: the name of its marker file, and which one it was. contents: of
    its last import that began; runs: those that imported it, the last one last. released: a person accepted it. result:
    of the last pass, None before it and after a release.
    """

    folder: Path
    name: str
    pattern: str | None
    taken_at: datetime
    marker: tuple[str, str] | None = None
    contents: ImportedContents | None = None
    runs: tuple[str, ...] = ()
    released: bool = False
    result: PassResult | None = None

    @property
    def file(self) -> Path:
        return self.folder / self.name

    @property
    def reason_file(self) -> Path:
        """The file that says why it is in attention/, and what to do."""
        beside = {self.name.casefold(), *((self.marker[0].casefold(),) if self.marker else ())}
        return self.folder / next(name for name in ("reason.txt", "reason-2.txt", "reason-3.txt") if name not in beside)

    def with_changes(self, **values: Any) -> Self:
        """With other values, written durably. Raises UnusableInput: the folder cannot be written."""
        changed = replace(self, **values)
        kept = _adapter().dump_python(changed, mode="json", exclude={"folder"})
        with writing(self.folder.parent.parent):
            write_json(self.folder / RECORD, {"version": _VERSION, **kept})
            sync_folder(self.folder)
        return changed


@cache
def _adapter() -> TypeAdapter[FileRecord]:
    return TypeAdapter(FileRecord)


def _record_in(folder: Path) -> FileRecord | None:
    """The record of a folder; None if it has none, or none that can be read."""
    try:
        values = json.loads(read_private(folder / RECORD))
        return _adapter().validate_python({**values, "folder": folder}) if values["version"] == _VERSION else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


# --- the inbox --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inbox:
    """A folder with its rules. Others may write in `incoming` only; the other folders are private."""

    folder: Path
    rules: Rules

    @property
    def incoming(self) -> Path:
        return self.folder / "incoming"

    def place(self, place: InboxPlace) -> Path:
        """The folder with a folder for each file that was taken."""
        return self.folder / place

    def lock(self) -> AbstractContextManager[object]:
        """Hold the lock of the inbox: one worker at a time takes and moves its files.

        Raises Busy: another worker holds it.
        """
        return hold_lock(self.folder / INTERNAL / "inbox.lock", f"another worker uses the inbox {self.folder}")

    def folders(self, place: InboxPlace) -> list[Path]:
        """The folders of files, sorted by name: by the time when they were taken."""
        with os.scandir(self.place(place)) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))

    def records(self, *places: InboxPlace) -> Iterator[FileRecord]:
        """The records of the files there, oldest first in each."""
        return (record for place in places for folder in self.folders(place) if (record := _record_in(folder)))

    def take(self, name: str, pattern: str | None, marker: str | None, now: datetime) -> FileRecord | None:
        """Move a complete file to a folder of its own; None if it is gone.

        Raises UnusableInput: the inbox cannot be written; the file stays in incoming/, or the next pass takes it.
        """
        shown = on_one_line(name)
        safe = os.fsencode(shown)[:_LONGEST_NAME].decode("utf-8", "ignore")
        with writing(self.folder):
            folder = self._free(f"{now:%Y%m%d-%H%M%S}-{safe}", "working", PLACES)
            folder.mkdir(0o700)
            marked = (marker, _which(self.incoming / marker)) if marker else None
            record = FileRecord(folder, shown, pattern, now, marked).with_changes()
            sync_folder(folder.parent)
            try:
                (self.incoming / name).rename(record.file)
            except FileNotFoundError:
                _discard(folder)
                return None
            self._take_marker(record)
            sync_folder(self.incoming)
            sync_folder(folder)
        return record

    def _free(self, id: str, place: InboxPlace, others: Sequence[InboxPlace]) -> Path:
        """A folder there, with a name that no folder in the other places has."""
        names = (id, *(f"{id}-{number}" for number in range(2, 10_000)))
        free = (name for name in names if not any((self.place(one) / name).exists() for one in others))
        return self.place(place) / next(free)

    def _take_marker(self, record: FileRecord) -> None:
        """Move the marker of a file that was taken; not a newer one, of the next file of the same name."""
        if record.marker and _which(marker := self.incoming / record.marker[0]) == record.marker[1] != "":
            marker.rename(record.folder / marker.name)

    def destination(self, record: FileRecord, place: InboxPlace) -> Path:
        """The folder that a file will have there: another one only after a person moved folders."""
        return self._free(record.folder.name, place, [place])

    def move(self, record: FileRecord, to: Path) -> FileRecord:
        """Move the folder of a file. Raises UnusableInput: the inbox cannot be written; the next pass does it."""
        with writing(self.folder):
            record.folder.rename(to)
            sync_folder(to.parent)
            sync_folder(record.folder.parent)
        return replace(record, folder=to)

    def unfinished(self) -> list[FileRecord]:
        """The files in working/, oldest first, after what a crash left there was put right.

        Raises UnusableInput: the inbox cannot be written.
        """
        found = []
        with writing(self.folder):
            for folder in self.folders("working"):
                record = _record_in(folder)
                if record is None or (not record.runs and not record.result and not os.path.lexists(record.file)):
                    _discard(folder)  # killed before the file was moved: it is still in incoming/
                    continue
                self._take_marker(record)
                found.append(record)
        return found


def _which(marker: Path) -> str:
    """What distinguishes a marker from the next one of its name; "" if there is none."""
    if not is_regular(marker):
        return ""
    found = marker.lstat()
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _discard(folder: Path) -> None:
    """Remove the folder of a file that was not moved into it; one that has anything else stays."""
    names = {path.name for path in folder.iterdir()}
    if names <= {RECORD, f".{RECORD}.tmp"}:
        for name in names:
            (folder / name).unlink()
        with suppress(OSError):
            folder.rmdir()


def on_one_line(name: str) -> str:
    """A name that forges no line of a message: a file with control characters is imported under it."""
    shown = _BREAKING.sub(lambda found: f"\\u{ord(found[0]):04x}", name)
    return shown if len(os.fsencode(shown)) < 256 else _BREAKING.sub("_", name)


def is_regular(path: Path) -> bool:
    """Whether it is a regular file with one name, and not a link to one."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


# --- opened, and who may write there ------------------------------------------------------------------------


def open_inbox(folder: Path) -> Inbox:
    """The inbox in a folder, with its other folders made.

    Raises UnusableInput: its rules have problems, or others could change or read what they must not.
    """
    inbox = Inbox(folder, read_rules(folder))
    with writing(folder):
        if problems := list(_problems(inbox)):
            raise UnusableInput(problems)
        for path in (inbox.incoming, *map(inbox.place, PLACES)):
            make_folder(path)
        if problems := list(_problems_of_private(inbox)):
            raise UnusableInput(problems)
    return inbox


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Within this context, an OSError says that the inbox cannot be written: its files stay where they are."""
    try:
        yield
    except OSError as error:
        message = f"the inbox cannot be written ({error.strerror or error}), so no file is taken"
        hint = "free disk space or get write permission there, then run the same command again"
        raise unusable_file("not-writable", message, hint, folder) from None


def _problems(inbox: Inbox) -> Iterator[Problem]:
    for rule in inbox.rules.files:
        if not rule.mapping.exists():
            message = f"the mapping for {rule.pattern} does not exist"
            hint = f"correct its path in {inbox.folder / RULES_FILE}, which it is relative to"
            yield file_problem("inbox-rules-invalid", message, hint, rule.mapping)
    for path in (inbox.folder, inbox.folder / RULES_FILE):
        found = path.stat()
        mode = stat.S_IMODE(found.st_mode)
        by_group = mode & stat.S_IWGRP and not is_private_group(found.st_gid) if os.name != "nt" else False
        if os.name != "nt" and (mode & stat.S_IWOTH or by_group):
            message = f"other users of this computer can change it (mode {mode:04o})"
            yield file_problem("inbox-open-to-others", message, f"run: chmod go-w {path}", path)
    if os.path.lexists(inbox.incoming) and not stat.S_ISDIR(inbox.incoming.lstat().st_mode):
        yield file_problem("inbox-folder-invalid", "it is not a folder", "replace it with a folder", inbox.incoming)


def _problems_of_private(inbox: Inbox) -> Iterator[Problem]:
    """Make the folders private that may be; the problems of the others."""
    device = inbox.incoming.stat().st_dev
    for path in map(inbox.place, PLACES):
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
