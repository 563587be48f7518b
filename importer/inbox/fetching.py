"""Fetches files from SFTP, S3 or a web address into incoming/, each once; then they are taken like all others.

A file is fetched under a private name and linked into incoming/ when it is whole. What was fetched is kept in a file
beside the lock, by address and state (size, time, ETag): a file that changes there is fetched again. Nothing is deleted
there. Passwords and keys come from the environment or the configuration of the library, never from inbox.toml.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, Final

from importer.atomic_files import internal_folder, make_subfolder, read_private, sync_folder, write_json
from importer.inbox.folders import Inbox, not_writable
from importer.problems import StoppedEarly

_FOLDER: Final = "fetched"
_LIST: Final = "fetched.json"
_SETTLE: Final = 10.0  # seconds between two looks at a file there
_STATE: Final = ("size", "mtime", "LastModified", "last_modified", "modified", "updated", "created", "ETag", "etag")
_INSTALL: Final = "install what it needs: pip install 'importer[remote]', and for S3 also s3fs"

_Files = dict[str, tuple[str, Any]]
"""By address: the state of a file, and how to copy it to a path."""


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
        new = {address for look in looks for address, (state, _) in look.items() if fetched.is_new(address, state)}
        if new:
            sleep(_SETTLE)
        for look, pattern in zip(looks, inbox.rules.fetch, strict=True):
            again = _look(pattern, errors) if new & look.keys() else {}
            for address in sorted(new & look.keys()):
                state, copy = again.get(address, ("", None))
                if copy is not None and state == look[address][0]:  # otherwise it is still being written there
                    fetched.add(address, state, copy, errors)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None
    return errors


def _look(pattern: str, errors: list[StoppedEarly]) -> _Files:
    """The files of an address, which may have * and ?."""
    try:
        import fsspec  # type: ignore[import-untyped]  # it has no stubs

        system, path = fsspec.core.url_to_fs(pattern)
        system.invalidate_cache()
        is_pattern = any(sign in path for sign in "*?[")
        found = system.glob(path, detail=True) if is_pattern else {path: system.info(path)}
        files = {name: info for name, info in found.items() if info.get("type") == "file"}
        return {system.unstrip_protocol(name): (_state(info), _copier(system, name)) for name, info in files.items()}
    except Exception as error:  # noqa: BLE001 - of a driver for one of many kinds of storage; others are still fetched
        errors.append(_failed(pattern, error))
        return {}


def _copier(system: Any, name: str) -> Callable[[Path], None]:
    def copy(path: Path) -> None:
        system.get_file(name, str(path))

    return copy


def _state(info: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={info[key]}" for key in _STATE if info.get(key) is not None)


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

    def add(self, address: str, state: str, copy: Callable[[Path], None], errors: list[StoppedEarly]) -> None:
        """Fetch a file, unless its content is the one that was fetched before."""
        name = PurePosixPath(address.partition("?")[0]).name
        target = self._inbox.incoming / name
        if not name or name.startswith(".") or target.exists():
            errors.append(StoppedEarly(f"{address} waits: incoming has a file of its name, which is imported first"))
            return
        draft = self._folder / hashlib.sha256(address.encode()).hexdigest()
        note = draft.with_suffix(".json")
        try:
            copy(draft)
        except Exception as error:  # noqa: BLE001 - as in _look
            draft.unlink(missing_ok=True)
            errors.append(_failed(address, error))
            return
        with draft.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        if self._known.get(address, ["", ""])[1] != digest:
            write_json(note, {"address": address, "state": state, "sha256": digest, "draft": draft.name})
            draft.chmod(0o600)
            os.link(draft, target)  # unlike a rename it never replaces a file
            sync_folder(self._inbox.incoming)
        self._note(address, state, digest)
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
