"""A private copy of the input, so that a run does not depend on somebody's open spreadsheet."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from importer.atomic_files import open_private
from importer.errors import UnusableInput
from importer.extract.file_kind import require_file
from importer.extract.sheet import ReadingLimits
from importer.models import FilePlace, Problem

STANDARD_INPUT = "-"  # the name by which a person asks for it
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """Where the copy lies, and the SHA-256 (hex) of its bytes."""

    path: Path
    sha256: str


def copy_source(path: Path, folder: Path, limits: ReadingLimits, stem: str = "source") -> SourceCopy:
    """Copy `path` to `folder/<stem>.<ending>`, readable by its owner only, and hash it on the way.

    `-` is standard input, and taken for a CSV; what gives more than its limit is taken for a stream that never ends.

    Raises:
        UnusableInput: the file cannot be read, it changed while it was copied, or standard input goes on and on.
    """
    if str(path) == STANDARD_INPUT:
        return _copied_input(folder / f"{stem}.csv", limits.standard_input)
    require_file(path, str(path), limits.source)
    with path.open("rb") as source:
        before = os.fstat(source.fileno())
        # One byte more shows that the file grew; one that goes on growing would never be copied.
        copy = _copied(source, folder / f"{stem}{path.suffix.lower()}", before.st_size + 1)
    after = path.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        copy.path.unlink()
        raise UnusableInput(
            Problem(
                "file-changed",
                "the file changed while it was being read",
                "wait until it is written, or close the program that has it open, and run again",
                FilePlace(str(path)),
            )
        )
    return copy


def share_copy(copy: SourceCopy, folder: Path) -> SourceCopy:
    """The same private copy in another folder too: one file under two names where the disk can do that."""
    shared = folder / copy.path.name
    try:
        os.link(copy.path, shared)
    except OSError:
        with copy.path.open("rb") as source:
            return _copied(source, shared)
    return SourceCopy(shared, copy.sha256)


def replace_copy(copy: SourceCopy, content: IO[bytes]) -> SourceCopy:
    """The same copy with another content."""
    return _copied(content, copy.path)


def _copied_input(target: Path, limit: int) -> SourceCopy:
    if sys.stdin is None:  # Python's sign of one that is closed
        raise UnusableInput(
            Problem(
                "standard-input-closed",
                "it is closed",
                "pass a CSV to it, or name the file",
                FilePlace("standard input"),
            )
        )
    copy = _copied(sys.stdin.buffer, target, limit)
    if sys.stdin.buffer.read(1):
        copy.path.unlink()
        raise UnusableInput(
            Problem(
                "standard-input-too-large",
                f"it gives more than {limit:,} bytes",
                "save it to a file and name that, or allow more with IMPORTER_STANDARD_INPUT_MEGABYTES",
                FilePlace("standard input"),
            )
        )
    return copy


def _copied(source: IO[bytes], target: Path, limit: int | None = None) -> SourceCopy:
    """A copy of all that the source gives, or of its first bytes up to a limit."""
    digest = hashlib.sha256()
    left = limit
    with os.fdopen(open_private(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as copy:
        while block := source.read(_BLOCK if left is None else min(left, _BLOCK)):
            digest.update(block)
            copy.write(block)
            left = left - len(block) if left is not None else None
    return SourceCopy(target, digest.hexdigest())
