"""The files that a mapping takes in: which it may name, and how one is opened without waiting for what never ends."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from importer.mapping.findings import Findings
from importer.mapping.model import Text
from importer.settings import load_settings

OUTSIDE_HINT = "put it there, or name its folder in the setting IMPORTER_MAPPING_FOLDERS"


def lies_within(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies below one of the folders, or of those of IMPORTER_MAPPING_FOLDERS, links followed.

    What is no path at all lies nowhere.
    """
    try:
        real = path.resolve()
        if any(real.is_relative_to(folder.resolve()) for folder in folders):
            return True
        allowed = load_settings().mapping_folders or ""
        return any(real.is_relative_to(Path(folder).resolve()) for folder in allowed.split(os.pathsep) if folder)
    except (OSError, RuntimeError, ValueError):  # links in a circle; a NUL
        return False


def named_file(name: Text, findings: Findings) -> Path | None:
    """The file that a mapping file names, from the folder that it lies in; None where it may not, and told."""
    beside = Path(name.place.file).parent
    if lies_within(beside / name.value, [findings.folder or beside]):
        return beside / name.value
    findings.mistake("file-outside", f"'{name}' does not lie below this mapping's folder", OUTSIDE_HINT, name.place)
    return None


def first_bytes(path: Path, most: int) -> bytes:
    """The beginning of a file.

    Raises:
        OSError: it cannot be opened or is no regular file; a pipe is not waited for.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is a pipe or a device, which may never end")
        return file.read(most)


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
