"""The folder of a run: what is found out about the files in it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from importer.run_folder import HashedOnce


def test_a_file_is_hashed_again_only_where_it_was_written_to(tmp_path: Path) -> None:
    """Size and time of the last change tell; a file of gigabytes is read once."""
    path = tmp_path / "source.csv"
    path.write_bytes(b"as it was")
    hash_of = HashedOnce()
    assert hash_of(path) == hashlib.sha256(b"as it was").hexdigest()
    before = path.stat()
    path.write_bytes(b"as it now")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as if nobody had written: then nobody looks
    assert hash_of(path) == hashlib.sha256(b"as it was").hexdigest()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert hash_of(path) == hashlib.sha256(b"as it now").hexdigest()
    path.write_bytes(b"longer than before")
    assert hash_of(path) == hashlib.sha256(b"longer than before").hexdigest()
