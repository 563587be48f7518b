"""Fetches files from SFTP, S3 or a web address into incoming/, each once; then they are taken like all others.

A file is fetched under a private name and linked into incoming/ when it is whole. What was fetched is kept in a file
beside the lock, by address and state (size, time, ETag): a file that changes there is fetched again. Nothing is deleted
there. Passwords and keys come from the environment or the configuration of the library, never from inbox.toml.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self, cast

from importer.atomic_files import internal_folder, make_subfolder, read_private, sync_folder, write_json
from importer.inbox.folders import Inbox, not_writable
from importer.problems import StoppedEarly

_FOLDER: Final = "fetched"
_LIST: Final = "fetched.json"
_SETTLE: Final = 10.0  # seconds between two looks at a file there
_STATE: Final = ("size", "mtime", "LastModified", "last_modified", "modified", "updated", "created", "ETag", "etag")
_INSTALL: Final = "install what it needs: pip install 'candidate-importer[remote]', and for S3 also s3fs"


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
        with ExitStack() as opened:
            _fetch(inbox, [_Place(pattern, opened, errors) for pattern in inbox.rules.fetch], sleep, errors)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None
    return errors


def _fetch(inbox: Inbox, places: Sequence[_Place], sleep: Callable[[float], None], errors: list[StoppedEarly]) -> None:
    fetched = _Fetched(inbox)
    looks = [place.look() for place in places]
    new = {address for look in looks for address, file in look.items() if fetched.is_new(address, file.state)}
    if new:
        sleep(_SETTLE)
    for look, place in zip(looks, places, strict=True):
        again = place.look() if new & look.keys() else {}
        for address in sorted(new & look.keys()):
            if address in again and again[address].state == look[address].state:  # else it is still being written
                fetched.add(address, again[address], errors)


class _Place:
    """The files of an address, which may have * and ?. opened: closes the connection; errors: gets what fails."""

    def __init__(self, pattern: str, opened: ExitStack, errors: list[StoppedEarly]) -> None:
        self._pattern, self._opened, self._errors = pattern, opened, errors
        self._system: Any = None
        scheme, _, rest = pattern.partition("://")
        host, _, path = rest.partition("/")
        self._server, self._path = f"{scheme}://{host}", f"/{path}"

    def look(self) -> dict[str, _File]:
        """The files there now, by their addresses."""
        try:
            if self._system is None:
                self._system, self._path = self._open()
            self._system.invalidate_cache()
            names = self._system.glob(self._path) if any(sign in self._path for sign in "*?[") else [self._path]
            bucket = self._path.partition("/")[0]
            if not names and bucket and ":" not in bucket and not self._system.exists(bucket):
                raise StoppedEarly(f"{bucket} does not exist")  # else a typing error looks like no files, forever
            found = {self._address_of(name): _File.of(self._system, name) for name in names}
            return {address: file for address, file in found.items() if file is not None}
        except Exception as error:  # noqa: BLE001 - of a driver for one of many kinds of storage; others are fetched
            self._errors.append(_failed(self._pattern, error))
            return {}

    def _open(self) -> tuple[Any, str]:
        if self._pattern.startswith(("sftp://", "ssh://")):
            from importer.inbox.sftp import SftpFiles  # needed by few, and slow to load

            return self._opened.enter_context(closing(SftpFiles(self._pattern))), self._path
        import fsspec  # type: ignore[import-untyped]  # it has no stubs

        return cast("tuple[Any, str]", fsspec.core.url_to_fs(self._pattern))

    def _address_of(self, name: str) -> str:
        """With its server, whose name some storages leave out: another one may have a file of the same name."""
        is_left_out = self._pattern == self._server + self._path
        return self._server + name if is_left_out else str(self._system.unstrip_protocol(name))


def _failed(address: str, error: Exception) -> StoppedEarly:
    """Without the text of an error that is not of the system or ours: it may quote a key."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    reason = str(error) if isinstance(error, StoppedEarly) else reason
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
