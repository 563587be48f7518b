"""Identities without personal data: keyed hashes, and the file with their key."""

from __future__ import annotations

import hmac
import os
import secrets
import unicodedata
from pathlib import Path
from typing import Final

from importer.files import INTERNAL, open_private, read_private, sync_folder
from importer.ledger.states import Scope
from importer.problems import UnusableInput, unusable_file

_KEY_BYTES: Final = 32
_PIECE: Final = 2000  # bytes: for larger ones hashlib releases the GIL; getting it back takes longer than the hash


def normalized_email(email: str) -> str:
    """The address with case and Unicode form normalized, so that all its spellings are equal."""
    return unicodedata.normalize("NFC", email.strip()).casefold()


class Fingerprints:
    """Makes identities and body digests with HMAC-SHA256 over one secret key; each has 32 bytes.

    Service description, part 8: a user applies to a job post only once, an e-mail is unique within a pool. So
    operation, service, target and e-mail together are one identity, whatever row or run it comes from.
    """

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")

    def identity(self, scope: Scope, email: str) -> bytes:
        """One candidate at one target. Case and Unicode form of the e-mail make no difference."""
        address = normalized_email(email)
        return self._digest_of("identity", scope.base, scope.target.operation, scope.target.id, address)

    def body_digest(self, body: bytes) -> bytes:
        """Shows whether a row's request body changed."""
        return self._digest(b"body\0" + body)

    def origin(self, sha256: str, sheet: str, row: int) -> bytes:
        """A row of the file that it was in first; a corrected copy of the row has the same one."""
        return self._digest_of("origin", sha256, sheet, str(row))

    def document(self, base: str, sha256: str) -> bytes:
        """The content of a document at one service."""
        return self._digest_of("document", base, sha256)

    def key_check(self) -> bytes:
        """Shows whether a ledger is opened with its own key."""
        return self._digest_of("key check")

    def _digest_of(self, *parts: str) -> bytes:
        return self._digest("\0".join(parts).encode())

    def _digest(self, message: bytes) -> bytes:
        mac = self._keyed.copy()
        for begin in range(0, len(message), _PIECE):
            mac.update(message[begin : begin + _PIECE])
        return mac.digest()


def key_path(ledger_path: Path) -> Path:
    """The path of the key of a ledger in a file."""
    return ledger_path.parent / INTERNAL / f"{ledger_path.name}.key"


def create_key(path: Path) -> None:
    """Write a new key, private and flushed to disk. Does nothing if there is one already. Raises OSError."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # Not every file system has links. The ledger's transaction lets only one process in here at a time.
        if not path.exists():
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)  # after a power cut the key must still be found


def read_fingerprints(path: Path) -> Fingerprints:
    """The hashes made with the key in a file. One that a person names may be a link, as the secrets of Kubernetes are.

    Raises UnusableInput: it is missing or not a key.
    """
    try:
        key = read_private(path) if path.parent.name == INTERNAL else path.read_bytes()
    except OSError as error:
        message = f"the key of the ledger cannot be read ({error.strerror})"
        remedy = "put the key file back there; if it is lost, use another ledger: then every row is sent again, and the"
        raise key_unusable(path, message, f"{remedy} service reports which candidates it already has") from None
    if len(key) != _KEY_BYTES:
        message = f"the key of the ledger has {len(key)} bytes instead of {_KEY_BYTES}"
        raise unusable_file("ledger-key-unusable", message, "restore the key file from a backup", path)
    return Fingerprints(key)


def key_unusable(path: Path, message: str, remedy: str) -> UnusableInput:
    """The key is missing, or that of another ledger."""
    hint = f"{remedy}; without it the importer cannot tell which rows were sent"
    return unusable_file("ledger-key-unusable", message, hint, path)
