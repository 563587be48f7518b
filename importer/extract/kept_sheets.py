"""Sheets of workbooks that were read, kept in a private folder: the same workbook is not read again for each step."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from importer import __version__
from importer.extract.sheet_content import SheetFacts, decoded, read_frame, with_length
from importer.files import make_subfolder, open_private

_MOST: Final = 4  # sheets in a folder


@dataclass(frozen=True, slots=True)
class KeptSheet:
    """The batches of a sheet as the child sent them, in a file. read_again: gives them if the file was removed."""

    path: Path
    read_again: Callable[[], Sequence[bytes]]

    def __iter__(self) -> Iterator[bytes]:
        frames = self._frames()
        try:
            next(frames)
        except (OSError, StopIteration):  # its import was removed while it runs
            yield from self.read_again()
            return
        yield from frames

    @property
    def facts(self) -> SheetFacts | None:
        """The facts of the sheet; None if it was not kept."""
        with suppress(OSError, StopIteration, ValueError):
            found = decoded(next(self._frames()))
            return found if isinstance(found, SheetFacts) else None
        return None

    def keep(self, facts: bytes, batches: Sequence[bytes]) -> None:
        """Write the file, whole or not at all, and remove the oldest ones. Without disk space nothing is kept."""
        draft = self.path.with_suffix(".tmp")
        with suppress(OSError):
            with suppress(FileExistsError):
                make_subfolder(self.path.parent)
            try:
                with os.fdopen(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
                    file.writelines(map(with_length, (facts, *batches)))
                draft.replace(self.path)
            finally:
                draft.unlink(missing_ok=True)
            for old in sorted(self.path.parent.iterdir(), key=lambda one: one.stat().st_mtime_ns)[:-_MOST]:
                old.unlink()

    def _frames(self) -> Iterator[bytes]:
        """The facts, then the batches."""
        with os.fdopen(open_private(self.path), "rb") as file:
            while (data := read_frame(file)) is not None:
                yield data


def kept_sheet(folder: Path, workbook: Path, sheet: str | None, read_again: Callable[[], Sequence[bytes]]) -> KeptSheet:
    """Where a sheet of a workbook is kept: by the content of the workbook, of which there may be copies."""
    with workbook.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(f"\0{sheet!r}\0{workbook.suffix.lower()}\0{__version__}".encode("utf-8", "backslashreplace"))
    return KeptSheet(folder / digest.hexdigest(), read_again)
