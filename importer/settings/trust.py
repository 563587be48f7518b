"""The user's confirmation of what the working folder sets: where the token and notices go, and where files are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from importer.files import read_regular, write_json
from importer.problems import FilePlace, Problem, UnusableInput
from importer.settings.files import user_file

_MAX_BYTES: Final = 4 << 20  # bytes: tens of thousands of folders


@dataclass(frozen=True, slots=True)
class FolderSetting:
    """A setting of the working folder that sends something somewhere, or writes outside that folder.

    folder: with links resolved. source: the file in it with the setting. variable: its name in the environment. value:
    may contain a secret. token: of the service's address, the token that would be sent there, in words: "your token",
    or that in a file which the folder names and which is not its own.

    Value and token are confirmed together: a folder that changes later can neither send the token to another address,
    nor another file of the user to this address.
    """

    folder: str
    source: str
    variable: str
    value: str
    token: str = ""

    def refusal(self) -> Problem:
        would = f"would send {self.token} to {self.value}" if self.token else f"sets {self.variable} to {self._shown}"
        return Problem(
            "setting-not-confirmed",
            f"{self.source} in this folder {would}, which you have not confirmed yet",
            "if this is correct, confirm it once with: importer doctor --trust; "
            f"or set {self.variable} in the environment",
        )

    @property
    def permission(self) -> str:
        if self.token:
            return f"{self.token} may now be sent to {self.value}"
        return f"{self.variable} may be {self._shown}"

    @property
    def _shown(self) -> str:
        return without_secrets(self.value)

    @property
    def record(self) -> dict[str, str]:
        text = "\n".join(filter(None, (self.value, self.token)))
        return {self.variable: sha256(text.encode()).hexdigest()}


def without_secrets(value: str) -> str:
    """A path, or an address without user, password, and the path of a web address."""
    shown = re.sub(r"//[^/?#]*@", "//", value)
    if shown.startswith("http"):
        return "/".join(shown.split("/")[:3])
    return re.sub(r"(?i)(password=)[^&]*", r"\1...", shown)


def is_confirmed(use: FolderSetting) -> bool:
    """Whether the user has confirmed exactly this."""
    return use.record.items() <= _confirmed().get(use.folder, {}).items()


def confirm(use: FolderSetting) -> Path:
    """Save the confirmation for this user, replacing an earlier one of the same in this folder; return the file.

    Raises UnusableInput: the file cannot be written.
    """
    file = _file()
    reason = "your settings folder is not known"
    if file is not None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folders = _confirmed()
            folders.setdefault(use.folder, {}).update(use.record)
            write_json(file, {"version": 1, "folders": folders})
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return file
    hint = f"set {use.variable} in the environment instead"
    place = FilePlace(str(file)) if file else None
    raise UnusableInput(Problem("trust-not-saved", f"your confirmation cannot be saved: {reason}", hint, place))


def _confirmed() -> dict[str, dict[str, Any]]:
    """The confirmations by folder. If the file cannot be read, the user has to confirm again."""
    file = _file()
    try:
        folders = json.loads(read_regular(file, _MAX_BYTES))["folders"] if file else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    found = folders if isinstance(folders, dict) else {}
    return {folder: kept for folder, kept in found.items() if isinstance(kept, dict)}


def _file() -> Path | None:
    user = user_file()
    return user.with_name("trusted.json") if user else None
