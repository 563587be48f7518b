"""Which runs of a results folder have a living process, by files that each process holds a lock on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from importer.atomic_files import INTERNAL, internal_folder
from importer.file_lock import acquire, is_free

_ENDING: Final = ".at-work"


class FilePresences:
    """`Presences` in `<out>/.importer/`, for processes of one machine."""

    def __init__(self, out: Path) -> None:
        self._out = out

    def announce(self, run: str) -> FilePresence:
        internal_folder(self._out)
        return FilePresence(self._path(run))

    def is_abandoned(self, run: str) -> bool:
        path = self._path(run)
        return path.exists() and is_free(path)

    def forget(self, run: str) -> None:
        self._path(run).unlink(missing_ok=True)

    def runs(self) -> list[str]:
        return [path.name.removesuffix(_ENDING) for path in sorted((self._out / INTERNAL).glob(f"*{_ENDING}"))]

    def _path(self, run: str) -> Path:
        # Not in the run's folder: so the folder is never there without it.
        return self._out / INTERNAL / f"{run}{_ENDING}"


class FilePresence:
    """A file that is locked as long as the process lives, and is gone when the run has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = acquire(path)

    def end(self) -> None:
        self._lock.release()
        self._path.unlink(missing_ok=True)
