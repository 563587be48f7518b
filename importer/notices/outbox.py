"""Notices that wait to be sent: on disk, so that a failure or a kill loses none, and sent through apprise."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from importer.atomic_files import internal_folder, read_private, sync_folder, write_json
from importer.file_lock import hold_lock
from importer.problems import Busy
from importer.regular_files import can_be_made_private, mode_for_others, read_regular

_FOLDER: Final = "notices"
_LOCK: Final = "notices.lock"
_VERSION: Final = 1
_MOST: Final = 100  # that wait: the last ones say what is wrong
_MAX_BYTES: Final = 1 << 20
_PATIENCE: Final = 60.0  # seconds; what is not sent then is sent after the next run


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice that waits. kind: as apprise says. done: digests of the addresses that have it. error: why it waits."""

    id: str
    subject: str
    body: str
    created_at: str
    kind: str = "info"
    done: tuple[str, ...] = ()
    error: str = ""


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


class Outbox:
    """The notices of a results folder that wait. clock: seconds, for the time that sending may take."""

    def __init__(self, out: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._internal, self._clock = internal_folder(out), clock
        self._folder = self._internal / _FOLDER

    def put(self, subject: str, body: str, kind: str, now: str) -> None:
        """Keep a notice; the oldest of very many is dropped. Raises OSError if the folder cannot be written."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for old in self.waiting()[:-_MOST]:
            self._path(old).unlink(missing_ok=True)
        notice = Notice(f"{now[:19].replace(':', '')}-{secrets.token_hex(3)}", subject, body, now, kind)
        self._write(notice)
        sync_folder(self._folder)

    def waiting(self) -> list[Notice]:
        """The notices that are not sent yet, the oldest first."""
        if not self._folder.is_dir():
            return []
        found = (self._read(path) for path in sorted(self._folder.glob("*.json")))
        return [notice for notice in found if notice is not None]

    def deliver(self, addresses: Sequence[str]) -> bool:
        """Send what waits to each address that does not have it yet. Returns whether nothing is left.

        Two processes do not send the same notice. A process that is killed between sending and noting that repeats it.
        """
        began = self._clock()
        try:
            with hold_lock(self._internal / _LOCK, "another run sends notices"):
                for notice in self.waiting():
                    if self._clock() - began > _PATIENCE:
                        break
                    self._send(notice, addresses)
        except Busy:  # that one sends what waits; or the next run does
            return False
        return not self.waiting()

    def note(self, error: str) -> None:
        """Keep for each notice that waits why it cannot be sent."""
        for notice in self.waiting():
            self._write(replace(notice, error=error))

    def _send(self, notice: Notice, addresses: Sequence[str]) -> None:
        for number, address in enumerate(addresses, start=1):
            if _digest(address) in notice.done:
                continue
            if error := _sent(address, notice):
                notice = replace(notice, error=f"{described(number, address)} {error}")
            else:
                notice = replace(notice, done=(*notice.done, _digest(address)))
            self._write(notice)
        if all(_digest(one) in notice.done for one in addresses):
            self._path(notice).unlink(missing_ok=True)

    def _path(self, notice: Notice) -> Path:
        return self._folder / f"{notice.id}.json"

    def _write(self, notice: Notice) -> None:
        write_json(self._path(notice), {"version": _VERSION, **asdict(notice)})

    def _read(self, path: Path) -> Notice | None:
        """None: it was sent by another process just now, or somebody damaged it."""
        try:
            values: dict[str, Any] = json.loads(read_private(path))
            if values.pop("version") != _VERSION:
                return None
            return Notice(**{**values, "done": tuple(values["done"])})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def _digest(address: str) -> str:
    return sha256(address.encode()).hexdigest()[:16]


def described(number: int, address: str) -> str:
    """An address without its secrets, which its path or host may be: its place in the file and its kind."""
    return f"address {number} ({address.partition('://')[0]})"


def _sent(address: str, notice: Notice) -> str:
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
            title=notice.subject,
            body=notice.body,
            notify_type=apprise.NotifyType(notice.kind),
            body_format=apprise.NotifyFormat.TEXT,
        )
    except Exception as error:  # noqa: BLE001 - of a plugin for one of a hundred services; the import must not end
        return f"failed: {type(error).__name__}"
    return "" if is_sent else "does not accept it, or cannot be reached"
