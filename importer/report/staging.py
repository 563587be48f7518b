"""Puts files into a results folder whole or not at all.

They are written in a private folder inside the results folder, so that they are never seen half written and renaming
stays within one file system; XlsxWriter's own temporary files, which hold candidates' data, lie there too.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from importer.atomic_files import file_mode, make_folder, make_subfolder, sync_folder

_PREFIX: Final = ".writing-"


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A private folder to write in; gone with all that is left in it when the block ends, however it ends.

    What a killed process left behind is removed first: the one who writes a run's report is alone in its folder.

    Raises:
        OSError: the folder cannot be made.
    """
    make_folder(folder)
    for left_over in folder.glob(f"{_PREFIX}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    staged = folder / f"{_PREFIX}{secrets.token_hex(4)}"
    make_subfolder(staged)
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def publish(staged: Path, folder: Path, names: Sequence[str]) -> None:
    """Move the named files to where they belong, in this order, each on disk and private before it shows.

    Raises:
        OSError: a file could not be moved, say because another program holds it open; none is half written.
    """
    for name in names:
        _settle(staged / name)
    for name in names:
        (staged / name).replace(folder / name)
    sync_folder(folder)


def _settle(path: Path) -> None:
    path.chmod(file_mode(path.parent))
    with path.open("rb+") as file:
        os.fsync(file.fileno())
