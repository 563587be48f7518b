"""Looks at the files in incoming/: which are complete, and why the others are not."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from importer.inbox.folders import Inbox, is_regular, on_one_line, writing
from importer.inbox.rules import FileRule, Rules
from importer.text.dates import in_words

_UNFINISHED: Final = (".part", ".partial", ".tmp", ".temp", ".filepart", ".crdownload", ".download", ".upload")
_SETTLE: Final = 10.0  # seconds, for a file without a rule


@dataclass(frozen=True, slots=True)
class Arrival:
    """A complete file. rule: None if none matches; mtime_ns: when it was written, as its sender says."""

    name: str
    rule: FileRule | None
    mtime_ns: int
    marker: str | None = None


@dataclass(frozen=True, slots=True)
class WaitingFile:
    """A file that is not taken now. why: after its name. settles_in: seconds after which another look may show that it
    is complete; None if only its sender can change that. is_odd: it has the name of a file to import, but is never
    taken. changed_at: when it was written or
    got its name, in seconds since the epoch.
    """

    name: str
    why: str
    settles_in: float | None = None
    is_odd: bool = False
    changed_at: float | None = None


class Arrivals:
    """Repeated looks at incoming/. A file without a marker is complete if it was unchanged for long enough.

    Size, mtime and ctime together: a program may set mtime back, or write without changing the size.
    """

    def __init__(self, inbox: Inbox, monotonic: Callable[[], float]) -> None:
        self._inbox = inbox
        self._monotonic = monotonic
        self._since: dict[str, tuple[tuple[int, ...], float]] = {}

    def look(self) -> tuple[list[Arrival], list[WaitingFile]]:
        """The complete files, the oldest first, and the others. Raises UnusableInput: incoming/ cannot be read."""
        with writing(self._inbox.folder), os.scandir(self._inbox.incoming) as entries:
            names = {entry.name for entry in entries}
            found = [each for name in sorted(names) if (each := self._look_at(name, names)) is not None]
        self._since = {name: since for name, since in self._since.items() if name in names}
        ready = sorted((one for one in found if isinstance(one, Arrival)), key=lambda one: (one.mtime_ns, one.name))
        return ready, [one for one in found if isinstance(one, WaitingFile)]

    def _look_at(self, name: str, names: set[str]) -> Arrival | WaitingFile | None:
        """None for files of programs, markers, and files that have just been moved away."""
        if name.startswith((".", "~$")) or _is_marker(name, self._inbox.rules):
            return None
        try:
            found = (self._inbox.incoming / name).lstat()
        except FileNotFoundError:
            return None
        seen = self._judge(name, found, names)
        if isinstance(seen, WaitingFile):
            changed_at = max(found.st_mtime, found.st_ctime)
            return replace(seen, name=on_one_line(name), why=on_one_line(seen.why), changed_at=changed_at)
        return seen

    def _judge(self, name: str, found: os.stat_result, names: set[str]) -> Arrival | WaitingFile:
        rule = self._inbox.rules.rule_for(name)
        if not stat.S_ISREG(found.st_mode):
            return WaitingFile(name, f"is {_kind(found.st_mode)}, which is never imported", is_odd=rule is not None)
        if found.st_nlink != 1:  # its sender may not be allowed to read the file that it leads to
            return WaitingFile(name, "has a second name (a hard link), and is never imported", is_odd=rule is not None)
        if name.lower().endswith(_UNFINISHED):
            return WaitingFile(name, "has the name of an unfinished transfer, and waits until its sender renames it")
        if {f"~${name}", f"~${name[2:]}", f".~lock.{name}#"} & names:
            return WaitingFile(name, "waits until it is closed in a spreadsheet program, whose lock file is beside it")
        arrival = Arrival(name, rule, found.st_mtime_ns)
        if rule is not None and rule.complete == "renamed":
            return arrival
        if rule is not None and rule.complete == "marker":
            marker = rule.marker_of(name)
            is_marked = is_regular(self._inbox.incoming / marker)
            return replace(arrival, marker=marker) if is_marked else WaitingFile(name, f"waits for {marker}")
        now, settle = self._monotonic(), rule.settle if rule else _SETTLE
        why = f"is taken once it is unchanged for {in_words(settle)}"
        state = found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
        before, since = self._since.get(name, ((), now))
        if before != state:
            self._since[name] = state, now
            return WaitingFile(name, "is still changing" if before else why, settle)
        left = settle - (now - since)
        return arrival if left <= 0 else WaitingFile(name, why, left)


def _is_marker(name: str, rules: Rules) -> bool:
    return any(rule.matches(base) for rule in rules.files for base in _marked(name, rule))


def _marked(name: str, rule: FileRule) -> Iterator[str]:
    """The name of the file that a marker belongs to."""
    before, _, after = rule.marker.partition("{name}")
    if rule.complete == "marker" and name.startswith(before) and name.endswith(after):
        yield name[len(before) : len(name) - len(after)]


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    return "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
