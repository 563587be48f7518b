"""The secret key of a ledger: a file in the folder `.importer` next to it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from importer.files import INTERNAL, open_private, read_private, sync_folder
from importer.problems import UnusableInput, unusable_file

_KEY_BYTES = 32


def key_path(ledger_path: Path) -> Path:
    """The path of a ledger's key: in the folder `.importer` next to it."""
    return ledger_path.parent / INTERNAL / f"{ledger_path.name}.key"


def create_key(path: Path, key: bytes | None = None) -> None:
    """Write a key, by default a new one, private and flushed to disk. Does nothing if there is one already.

    Raises:
        OSError: the folder cannot be written.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key or secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # Not every file system has links. The ledger's transaction lets only one process in here at a time.
        if not path.exists():
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)  # after a power cut the key must still be found


def read_key(path: Path) -> bytes:
    """The key of a ledger. A file that a person names may be a symbolic link, as the secrets of Kubernetes are.

    Raises:
        UnusableInput: it is missing or not a key.
    """
    try:
        key = read_private(path) if path.parent.name == INTERNAL else path.read_bytes()
    except OSError as error:
        raise unusable_file(
            "ledger-key-unusable",
            f"the key of the ledger cannot be read ({error.strerror})",
            "put the key file back there; without it the importer cannot tell which rows were sent",
            path,
        ) from None
    if len(key) != _KEY_BYTES:
        raise unusable_file(
            "ledger-key-unusable",
            f"the key of the ledger has {len(key)} bytes instead of {_KEY_BYTES}",
            "restore the key file from a backup",
            path,
        )
    return key


def foreign_key(path: Path) -> UnusableInput:
    """The check value of this key differs from the ledger's."""
    return unusable_file(
        "ledger-key-unusable",
        "this key file belongs to another ledger",
        "put back the original key file; without it the importer cannot tell which rows were sent",
        path,
    )
