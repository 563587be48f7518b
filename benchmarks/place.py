"""The temporary folder in which imports are measured, with the mapping file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.candidates import write_mapping, write_source


@dataclass(frozen=True, slots=True)
class Place:
    """A folder on the disk that the ledger is measured on."""

    folder: Path
    mapping: Path

    def source(self, rows: int) -> Path:
        """A CSV of this many people, written once."""
        path = self.folder / f"{rows}.csv"
        return path if path.exists() else write_source(path, rows)

    @contextmanager
    def own_folder(self) -> Iterator[Path]:
        """An empty folder for one import, deleted afterwards."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


@contextmanager
def temporary_place() -> Iterator[Place]:
    """A temporary folder; set TMPDIR to measure on another disk."""
    with tempfile.TemporaryDirectory(prefix="importer-bench-") as name:
        folder = Path(name)
        yield Place(folder, write_mapping(folder / "mapping.yaml"))
