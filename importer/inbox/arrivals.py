"""Looks at the files in incoming/: which are complete, and why the others are not."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from importer.inbox.folders import Inbox, not_writable
from importer.inbox.records import Identity
from importer.inbox.rules import FileRule, Rules
from importer.text.dates import in_words

_UNFINISHED: Final = (".part", ".partial", ".tmp", ".temp", ".filepart", ".crdownload", ".download", ".upload")
_SETTLE: Final = 10.0  # seconds, for a file without a rule
_BREAKING: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # characters that begin a line, or move a cursor


@dataclass(frozen=True, slots=True)
class Arrival:
    """A complete file. rule: None if none matches."""

    name: str
    rule: FileRule | None
    identity: Identity
    marker: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file that is not taken now. why: after its name. settles_in: seconds after which another look may show that it
    is complete; None if only its sender can change that. is_odd: it is never taken. changed_at: when it was written or
    got its name, in seconds since the epoch.
    """

    name: str
    why: str
    settles_in: float | None = None
    is_odd: bool = False
    changed_at: float | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look found: the complete files in the order in which they are imported, and the others."""

    ready: tuple[Arrival, ...]
    waiting: tuple[Waiting, ...]


class Arrivals:
    """Repeated looks at incoming/. A file without a marker is complete if it was unchanged for long enough.

    Size, mtime and ctime together: a program may set mtime back, or write without changing the size.
    """

    def __init__(self, inbox: Inbox, monotonic: Callable[[], float]) -> None:
        self._inbox = inbox
        self._monotonic = monotonic
        self._since: dict[str, tuple[Identity, float]] = {}

    def look(self) -> Looked:
        """Look once.

        Raises:
            UnusableInput: incoming/ cannot be read.
        """
        try:
            with os.scandir(self._inbox.incoming) as entries:
                names = sorted(entry.name for entry in entries)
            found = [each for name in names if (each := self._look_at(name, set(names))) is not None]
        except OSError as error:
            raise not_writable(self._inbox.incoming, error) from None
        self._since = {name: since for name, since in self._since.items() if name in names}
        ready = [each for each in found if isinstance(each, Arrival)]
        if self._inbox.rules.order == "oldest":
            ready.sort(key=lambda arrival: (arrival.identity.mtime_ns, arrival.name))
        return Looked(tuple(ready), tuple(each for each in found if isinstance(each, Waiting)))

    def _look_at(self, name: str, names: set[str]) -> Arrival | Waiting | None:
        """None for files of programs, markers, and files that have just been moved away."""
        if name.startswith((".", "~$")) or _is_marker(name, self._inbox.rules):
            return None
        try:
            found = (self._inbox.incoming / name).lstat()
        except FileNotFoundError:
            return None
        seen = self._judge(name, found, names)
        if isinstance(seen, Waiting):
            name, why = on_one_line(name), on_one_line(seen.why)
            return replace(seen, name=name, why=why, changed_at=Identity.of(found).changed_at)
        return seen

    def _judge(self, name: str, found: os.stat_result, names: set[str]) -> Arrival | Waiting:
        rules = self._inbox.rules
        if not stat.S_ISREG(found.st_mode):
            return Waiting(name, f"is {_kind(found.st_mode)}, which is never imported", is_odd=True)
        if name.lower().endswith(_UNFINISHED):
            return Waiting(name, "has the name of an unfinished transfer, and waits until its sender renames it")
        if {f"~${name}", f"~${name[2:]}", f".~lock.{name}#"} & names:
            return Waiting(name, "waits until it is closed in a spreadsheet program, whose lock file is beside it")
        rule, identity = rules.rule_for(name), Identity.of(found)
        if rule is None and rules.unmatched == "leave":
            return Waiting(name, "matches no pattern of inbox.toml", is_odd=True)
        if rule is not None and rule.complete == "renamed":
            return Arrival(name, rule, identity)
        if rule is not None and rule.complete == "marker":
            marker = rule.marker_of(name)
            return Arrival(name, rule, identity, marker) if marker in names else Waiting(name, f"waits for {marker}")
        return self._settled(name, rule, identity)

    def _settled(self, name: str, rule: FileRule | None, identity: Identity) -> Arrival | Waiting:
        now, settle = self._monotonic(), rule.settle if rule else _SETTLE
        why = f"is taken once it is unchanged for {in_words(settle)}"
        before, since = self._since.get(name, (None, now))
        if before != identity:
            self._since[name] = identity, now
            return Waiting(name, "is still changing" if before else why, settle)
        left = settle - (now - since)
        return Arrival(name, rule, identity) if left <= 0 else Waiting(name, why, left)


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


def on_one_line(name: str) -> str:
    """A name that forges no line of a message: a file with control characters is imported under it."""
    shown = _BREAKING.sub(lambda found: f"\\u{ord(found[0]):04x}", name)
    return shown if len(os.fsencode(shown)) < 256 else _BREAKING.sub("_", name)


def is_regular(path: Path) -> bool:
    """Whether it is a regular file, and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False
