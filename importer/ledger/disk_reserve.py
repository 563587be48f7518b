"""Room on the disk, kept so that an answer can still be recorded when nothing else fits."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from importer.atomic_files import INTERNAL, open_private

_SIZE: Final = 1024 * 1024  # bytes; answers of far more rows than can be in flight


class DiskReserve:
    """A file of real bytes on the ledger's disk. When the disk is full it is released, and nothing new is sent."""

    def __init__(self, ledger_path: Path) -> None:
        self._disk = ledger_path.parent
        self._path = ledger_path.parent / INTERNAL / f"{ledger_path.name}.ballast"

    def take(self) -> None:
        """Write the file where it is not there.

        Raises:
            OSError: there is no room for it.
        """
        descriptor = open_private(self._path, os.O_WRONLY | os.O_CREAT)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if os.fstat(descriptor).st_size == _SIZE:
                    return
                file.truncate(0)
                # Not a hole, and not zeros: some file systems keep neither on disk.
                file.write(os.urandom(_SIZE))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self._path.unlink()
            raise

    def release(self) -> None:
        """Free its room."""
        self._path.unlink(missing_ok=True)

    def is_threatened(self) -> bool:
        """Whether so little room is left that the next commit may need the reserve."""
        return shutil.disk_usage(self._disk).free < _SIZE
