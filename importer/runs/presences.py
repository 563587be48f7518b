"""Which runs of a results folder are running: each shows that its process is alive."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from importer.files import INTERNAL, internal_folder
from importer.store.lock import acquire, is_free

_SUFFIX: Final = ".running"


class Presences:
    """Which runs of a results folder have a live process of this machine; in `<out>/.importer/`, and without a ledger.

    Covers checks too.
    """

    def __init__(self, out: Path) -> None:
        self._out = out

    def announce(self, run: str) -> Presence:
        """Show that the process of a run is alive, from before its folder is created until it has ended.

        Raises OSError: the file cannot be written.
        """
        internal_folder(self._out)
        return Presence(self._path(run))

    def is_abandoned(self, run: str) -> bool:
        """Whether the process of a run was killed; false for a run that was never announced."""
        path = self._path(run)
        return path.exists() and is_free(path)

    def forget(self, run: str) -> None:
        """Remove what a killed process left."""
        self._path(run).unlink(missing_ok=True)

    def runs(self) -> list[str]:
        """The names of runs that were announced and have not ended. Check them: anyone can create these files."""
        return [path.name.removesuffix(_SUFFIX) for path in sorted((self._out / INTERNAL).glob(f"*{_SUFFIX}"))]

    def _path(self, run: str) -> Path:
        # Not in the run's folder, so that it exists before the folder does.
        return self._out / INTERNAL / f"{run}{_SUFFIX}"


class Presence:
    """A file that is locked while the process lives, and deleted when the run has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = acquire(path)

    def end(self) -> None:
        """The run has ended. May be called again."""
        if self._lock is not None:
            self._lock.release()
        self._path.unlink(missing_ok=True)
