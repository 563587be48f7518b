"""A private copy of the input, so that a run does not depend on somebody's open spreadsheet."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from importer.errors import UnusableInput
from importer.models import FilePlace, Problem

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """Where the copy lies, and the SHA-256 (hex) of its bytes."""

    path: Path
    sha256: str


def copy_source(path: Path, folder: Path, stem: str = "source") -> SourceCopy:
    """Copy `path` to `folder/<stem>.<ending>`, readable by its owner only, and hash it on the way.

    Raises:
        UnusableInput: the file cannot be read, or it changed while it was copied.
    """
    copy = folder / f"{stem}{path.suffix.lower()}"
    try:
        with path.open("rb") as source:
            before = os.fstat(source.fileno())
            digest = hashlib.sha256()
            with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    target.write(block)
        after = path.stat()
    except FileNotFoundError:
        raise UnusableInput(
            Problem("file-missing", "there is no such file", "check the path", FilePlace(str(path)))
        ) from None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        copy.unlink()
        raise UnusableInput(
            Problem(
                "file-changed",
                "the file changed while it was being read",
                "wait until it is written, or close the program that has it open, and run again",
                FilePlace(str(path)),
            )
        )
    return SourceCopy(copy, digest.hexdigest())
