"""What happened to a file, as frozen values for listeners: the terminal, and whatever notifies or counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from importer.inbox.records import Reason


@dataclass(frozen=True, slots=True)
class FileTaken:
    """A complete file was taken, or one that an earlier pass had taken is continued."""

    name: str
    is_continued: bool = False


@dataclass(frozen=True, slots=True)
class FileEnded:
    """A pass ended with a file.

    pattern: of its rule, None if none matches. run: its last run, None if none began. outcomes: rows of that run by
    outcome. exit_code: as of importer run. folder: where the file is now, in done/, attention/, or working/, where the
    next pass continues. reasons: why it is not done; reason_file: says so, in attention/. Reported once; after a crash
    perhaps twice, but never not at all.
    """

    inbox: Path
    name: str
    pattern: str | None
    run: str | None
    outcomes: Mapping[str, int]
    exit_code: int
    folder: Path
    reasons: tuple[Reason, ...]
    reason_file: Path

    @property
    def place(self) -> str:
        """done, attention or working."""
        return self.folder.parent.name


@dataclass(frozen=True, slots=True)
class FileLeft:
    """A file stays in incoming/. why: after its name. is_odd: no later pass takes it either."""

    name: str
    why: str
    is_odd: bool


Happened = FileTaken | FileEnded | FileLeft
Listener = Callable[[Happened], None]
"""Called by the worker, which waits for it."""
