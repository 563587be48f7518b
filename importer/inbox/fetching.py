"""Fetches files from SFTP, S3 or a web address into incoming/, each once; then they are taken like all others.

A file is fetched under a private name and linked into incoming/ when it is whole. What was fetched is kept in a file
beside the lock, by address and state (size, time, ETag): a file that changes there is fetched again. Nothing is deleted
there. Passwords and keys come from the environment or the configuration of the library, never from inbox.toml.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from importer.atomic_files import internal_folder, make_subfolder, read_private, sync_folder, write_json
from importer.inbox.folders import Inbox, not_writable
from importer.problems import StoppedEarly

_FOLDER: Final = "fetched"
_LIST: Final = "fetched.json"
_SETTLE: Final = 10.0  # seconds between two looks at a file there
_STATE: Final = ("size", "mtime", "LastModified", "last_modified", "modified", "updated", "created", "ETag", "etag")
_INSTALL: Final = "install what it needs: pip install 'importer[remote]', and for S3 also s3fs"


@dataclass(frozen=True, slots=True)
class _File:
    """A file elsewhere. state: what is known of it, "" if that is nothing; size: in bytes, None if not known."""

    system: Any
    name: str
    state: str
    size: int | None

    @classmethod
    def of(cls, system: Any, name: str) -> Self | None:
        """None: it is a folder."""
        info = system.info(name)
        state = " ".join(f"{key}={info[key]}" for key in _STATE if info.get(key) is not None)
        return cls(system, name, state, info.get("size")) if info.get("type") == "file" else None

    def copy(self, path: Path) -> bool:
        """Copy it; whether the copy is whole: of the size that was shown, of a file that did not change meanwhile.

        What shows neither size nor time is copied twice, and both copies must be equal.
        """
        self.system.get_file(self.name, str(path))
        if not self.state:
            first = _digest(path)
            self.system.get_file(self.name, str(path))
            return first == _digest(path)
        self.system.invalidate_cache()
        return self.size in (None, path.stat().st_size) and _File.of(self.system, self.name) == self


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(inbox: Inbox, sleep: Callable[[float], None]) -> list[StoppedEarly]:
    """Fetch every new file of the addresses of an inbox, under its lock. Returns what could not be fetched, and why.

    Raises:
        UnusableInput: the inbox cannot be written.
    """
    if not inbox.rules.fetch:
        return []
    errors: list[StoppedEarly] = []
    try:
        fetched = _Fetched(inbox)
        looks = [_look(address, errors) for address in inbox.rules.fetch]
        new = {address for look in looks for address, file in look.items() if fetched.is_new(address, file.state)}
        if new:
            sleep(_SETTLE)
        for look, pattern in zip(looks, inbox.rules.fetch, strict=True):
            again = _look(pattern, errors) if new & look.keys() else {}
            for address in sorted(new & look.keys()):
                if address in again and again[address].state == look[address].state:  # else it is still being written
                    fetched.add(address, again[address], errors)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None
    return errors


def _look(pattern: str, errors: list[StoppedEarly]) -> dict[str, _File]:
    """The files of an address, which may have * and ?."""
    try:
        import fsspec  # type: ignore[import-untyped]  # it has no stubs

        system, path = fsspec.core.url_to_fs(pattern)
        system.invalidate_cache()
        names = system.glob(path) if any(sign in path for sign in "*?[") else [path]
        found = {system.unstrip_protocol(name): _File.of(system, name) for name in names}
        return {address: file for address, file in found.items() if file is not None}
    except Exception as error:  # noqa: BLE001 - of a driver for one of many kinds of storage; others are still fetched
        errors.append(_failed(pattern, error))
        return {}


def _failed(address: str, error: Exception) -> StoppedEarly:
    """Without the text of an error that is not of the system: it may quote a key."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    hint = f"; {_INSTALL}" if isinstance(error, ImportError) else "; the next pass tries it again"
    return StoppedEarly(f"{address} cannot be fetched: {reason}{hint}")


class _Fetched:
    """What was fetched so far: by address the state, and the SHA-256 of the content."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox, internal = inbox, internal_folder(inbox.folder)
        self._list, self._folder = internal / _LIST, internal / _FOLDER
        with suppress(FileExistsError):
            make_subfolder(self._folder)
        try:
            self._known: dict[str, list[str]] = json.loads(read_private(self._list))["fetched"]
        except (OSError, ValueError, KeyError):
            self._known = {}
        left = list(self._folder.iterdir())  # of a pass that was killed
        for path in left:
            self._note_linked(path)
        for path in left:
            path.unlink()

    def is_new(self, address: str, state: str) -> bool:
        """Whether this state of a file was not fetched yet. A state that says nothing is looked at each time."""
        return not state or self._known.get(address, [""])[0] != state

    def add(self, address: str, file: _File, errors: list[StoppedEarly]) -> None:
        """Fetch a file, unless its content is the one that was fetched before."""
        name = PurePosixPath(address.partition("?")[0]).name
        if not name or name.startswith("."):
            errors.append(StoppedEarly(f"{address} is not fetched: its name is not one of a file to import"))
            return
        target = self._inbox.incoming / name
        if os.path.lexists(target):
            errors.append(StoppedEarly(f"{address} waits: incoming has a file of its name, which is imported first"))
            return
        draft = self._folder / hashlib.sha256(address.encode()).hexdigest()
        note = draft.with_suffix(".json")
        try:
            if not file.copy(draft):
                draft.unlink()
                errors.append(StoppedEarly(f"{address} changed while it was fetched; the next pass tries it again"))
                return
        except Exception as error:  # noqa: BLE001 - as in _look
            draft.unlink(missing_ok=True)
            errors.append(_failed(address, error))
            return
        digest = _digest(draft)
        with draft.open("rb") as copied:
            os.fsync(copied.fileno())
        if self._known.get(address, ["", ""])[1] != digest:
            write_json(note, {"address": address, "state": file.state, "sha256": digest, "draft": draft.name})
            draft.chmod(0o600)
            os.link(draft, target)  # unlike a rename it never replaces a file
            sync_folder(self._inbox.incoming)
        self._note(address, file.state, digest)
        draft.unlink()
        note.unlink(missing_ok=True)

    def _note_linked(self, path: Path) -> None:
        """Note a file that a killed pass has put into incoming/: its draft has a second name."""
        if path.suffix != ".json":
            return
        with suppress(OSError, ValueError, KeyError):
            kept = json.loads(read_private(path))
            draft = self._folder / kept["draft"]
            if draft.stat().st_nlink > 1:
                self._note(kept["address"], kept["state"], kept["sha256"])

    def _note(self, address: str, state: str, digest: str) -> None:
        self._known[address] = [state, digest]
        write_json(self._list, {"version": 1, "fetched": self._known})
