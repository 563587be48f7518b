"""The folder of a run: what is found out about the files in it."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest

from importer.runs.run_report import CachedHash


def test_a_file_is_hashed_again_only_where_it_was_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of gigabytes is read once; a file put in its place is noticed, also one of the same size and time."""
    path = tmp_path / "source.csv"
    path.write_bytes(b"as it was")
    hashed: list[Any] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: hashed.append(given) or digest(*given))
    hash_of = CachedHash()
    assert hash_of(path) == hash_of(path) == hashlib.sha256(b"as it was").hexdigest()
    assert len(hashed) == 1
    before = path.stat()
    time.sleep(0.02)  # a file system counts in ticks
    path.write_bytes(b"as it now")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert hash_of(path) == hashlib.sha256(b"as it now").hexdigest()
    assert len(hashed) == 2
