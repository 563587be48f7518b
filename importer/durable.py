"""Files that are on disk, whole and private, before anybody counts on them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any


def keep_json(path: Path, values: Mapping[str, Any]) -> None:
    """Put the values there as JSON, whole or not at all, 0600; times as ISO text.

    Raises:
        OSError: the folder cannot be written; what lay there before still does.
    """
    draft = path.with_name(f".{path.name}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    # A file's name, or what a service said, can hold half a letter, which is no UTF-8: JSON escapes it likewise.
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(values, file, ensure_ascii=False, indent=1, default=datetime.isoformat)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def sync_folder(folder: Path) -> None:
    """Have the names of a folder's files on disk, as fsync has their contents.

    Raises:
        OSError: the disk does not take it.
    """
    if os.name == "nt":  # a folder cannot be opened there; names are durable without
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
