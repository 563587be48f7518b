"""Files of a results folder, sent to a browser: never through a link, which somebody else could have put there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

from fastapi.responses import StreamingResponse

from importer.atomic_files import open_private
from importer.problems import UsageError

_CHUNK: Final = 1 << 18  # bytes
_NO_HEADERS: Final[Mapping[str, str]] = {}
_WITHOUT_WAITING: Final = getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for its other end


def download(path: Path, name: str = "", kind: str = "", headers: Mapping[str, str] = _NO_HEADERS) -> StreamingResponse:
    """The content of a file. name: under which a browser stores it, "" to show it; kind: its media type.

    Raises:
        UsageError: it is missing, a symbolic link or no regular file.
    """
    try:
        file = os.fdopen(open_private(path, os.O_RDONLY | _WITHOUT_WAITING), "rb")
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror or error}") from None
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        file.close()
        raise UsageError(f"{path.name} cannot be read: it is not a regular file")
    own = {"Content-Length": str(found.st_size)}
    if name:
        own["Content-Disposition"] = f"attachment; filename*=utf-8''{quote(name, safe='')}"
    chunks = _chunks(file, found.st_size)
    return StreamingResponse(chunks, media_type=kind or "application/octet-stream", headers={**own, **headers})


def _chunks(file: IO[bytes], size: int) -> Iterator[bytes]:
    with file:
        while size > 0 and (chunk := file.read(min(_CHUNK, size))):
            size -= len(chunk)
            yield chunk
