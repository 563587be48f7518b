"""Identities and body digests as keyed hashes, so that the ledger holds no personal data."""

from __future__ import annotations

import hmac
import os
import secrets
import unicodedata
from pathlib import Path

from importer.atomic_files import INTERNAL, open_private, read_private, sync_folder
from importer.errors import UnusableInput
from importer.ledger.records import Scope
from importer.models import FilePlace, Problem

_KEY_BYTES = 32
_PIECE = 2000  # bytes; for more at once Python lets other threads in, and waiting for them takes longer than the hash


def normalized_email(email: str) -> str:
    """The same text for all spellings of one address."""
    return unicodedata.normalize("NFC", email.strip()).casefold()


class Fingerprints:
    """Makes identities and body digests with HMAC-SHA256 over one secret key.

    Service description, part 8: a user applies to a job post only once, an e-mail is unique within a pool. So
    operation, service, target and e-mail together are one identity, whatever row or run it comes from.
    """

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")

    def identity(self, scope: Scope, email: str) -> bytes:
        """32 bytes for one candidate at one target. Case and Unicode form of the e-mail make no difference."""
        address = normalized_email(email)
        return self._digest_of("identity", scope.base, scope.target.operation, scope.target.id, address)

    def body_digest(self, body: bytes) -> bytes:
        """32 bytes that tell whether a row's request body changed."""
        return self._digest(b"body\0" + body)

    def key_check(self) -> bytes:
        """32 bytes by which a ledger knows that it is opened with the key it was written with."""
        return self._digest_of("key check")

    def _digest_of(self, *parts: str) -> bytes:
        return self._digest("\0".join(parts).encode())

    def _digest(self, message: bytes) -> bytes:
        mac = self._keyed.copy()
        for begin in range(0, len(message), _PIECE):
            mac.update(message[begin : begin + _PIECE])
        return mac.digest()


def key_path(ledger_path: Path) -> Path:
    """Where the key of a ledger lies: in the folder `.importer` beside it."""
    return ledger_path.parent / INTERNAL / f"{ledger_path.name}.key"


def adopt_key(ledger_path: Path) -> None:
    """Move a key from beside its ledger, where an earlier importer kept it, to its place.

    Raises:
        OSError: it cannot be moved.
    """
    earlier, path = ledger_path.with_name(f"{ledger_path.name}.key"), key_path(ledger_path)
    if earlier.is_file() and not path.exists():
        earlier.replace(path)
        sync_folder(path.parent)


def create_key(path: Path) -> None:
    """Write a new key, private, flushed to disk. Does nothing where one lies already.

    Raises:
        OSError: the folder cannot be written.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # A file system may know no links. Of two processes that begin together one is here: the ledger's transaction.
        if not path.exists():
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)  # a power cut must not take the key's name from a ledger that is kept


def read_key(path: Path) -> bytes:
    """The key of a ledger.

    Raises:
        UnusableInput: there is none, or it is no key.
    """
    try:
        key = read_private(path)
    except OSError as error:
        raise UnusableInput(
            Problem(
                "ledger-key-unreadable",
                f"the key of the ledger cannot be read ({error.strerror})",
                "put the key file back there: without it nobody knows which rows were sent",
                FilePlace(str(path)),
            )
        ) from None
    if len(key) != _KEY_BYTES:
        raise UnusableInput(
            Problem(
                "ledger-key-damaged",
                f"the key of the ledger has {len(key)} bytes instead of {_KEY_BYTES}",
                "put the key file back from a backup",
                FilePlace(str(path)),
            )
        )
    return key


def foreign_key(path: Path) -> UnusableInput:
    """The key there has another check value than the ledger's own."""
    return UnusableInput(
        Problem(
            "ledger-key-foreign",
            "this key belongs to another ledger",
            "put back the key file that lay there: without it nobody knows which rows were sent",
            FilePlace(str(path)),
        )
    )
