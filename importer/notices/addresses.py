"""The addresses that get notices, and how one gets a notice: through apprise."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final, Literal

from importer.files import can_be_made_private, mode_for_others, read_regular

_MAX_BYTES: Final = 1 << 20


class AddressesUnusable(Exception):
    """The file with the addresses cannot be used; the message says why, and what to do."""


def addresses_in(file: Path) -> list[str]:
    """The addresses of a file, one on a line; `#` begins a comment.

    Raises:
        AddressesUnusable: it cannot be read, others can read it, or it has no address.
    """
    try:
        if mode_for_others(file) and can_be_made_private(file):
            raise AddressesUnusable(f"other users can read {file}, which has secrets; run: chmod 600 {file}")
        lines = read_regular(file, _MAX_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise AddressesUnusable(f"{file}, the file of IMPORTER_NOTIFY_FILE, cannot be read: {reason}") from None
    found = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not found:
        raise AddressesUnusable(f"{file}, the file of IMPORTER_NOTIFY_FILE, has no address; enter one on each line")
    return found


def described(number: int, address: str) -> str:
    """An address without its secrets, which its path or host may be: its place in the file and its kind."""
    return f"address {number} ({address.partition('://')[0]})"


def send(address: str, subject: str, body: str, kind: Literal["success", "warning", "failure"]) -> str:
    """Send a notice to one address; returns why that failed, or ""."""
    try:
        import apprise
    except ImportError:
        return "needs apprise; install it with: pip install 'candidate-importer[notify]'"
    logging.getLogger("apprise").propagate = False  # it may write addresses with their secrets
    service = apprise.Apprise()
    if not service.add(address):
        return "is not one that apprise knows"
    try:
        is_sent = service.notify(
            title=subject, body=body, notify_type=apprise.NotifyType(kind), body_format=apprise.NotifyFormat.TEXT
        )
    except Exception as error:  # noqa: BLE001 - of a plugin for one of a hundred services; the import must not end
        return f"failed: {type(error).__name__}"
    return "" if is_sent else "does not accept it, or cannot be reached"
