"""The user's confirmation of what the working folder sets: where the token and notices go, and where files are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Final

from importer.files import read_regular, write_json
from importer.problems import FilePlace, Problem, UnusableInput
from importer.settings.files import user_file

_MAX_BYTES: Final = 4 << 20  # bytes: tens of thousands of folders


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The use of the user's token for an address that the working folder sets.

    folder: with links resolved. source: the file in it that sets the address. token_file: the file with the token that
    the folder uses and that is not its own, links resolved; "" if the user set the token.

    All except `source` is confirmed together: a folder that changes later can neither send the token to another
    address, nor another file of the user to this address.
    """

    folder: str
    source: str
    address: str
    token_file: str
    variable: ClassVar[str] = "IMPORTER_BASE_URL"

    def refusal(self) -> Problem:
        return Problem(
            "address-not-trusted",
            f"{self.source} in this folder would send {self.token_text} to {self.address}, which you have not "
            "confirmed yet",
            "if this is the address of your recruiting service, confirm it once with: importer doctor --trust; "
            "or set IMPORTER_BASE_URL in the environment",
        )

    @property
    def token_text(self) -> str:
        return f"the token in {self.token_file}" if self.token_file else "your token"

    @property
    def permission(self) -> str:
        return f"{self.token_text} may now be sent to {self.address}"

    @property
    def record(self) -> dict[str, str]:
        return {"address": self.address, "token_file": self.token_file}


@dataclass(frozen=True, slots=True)
class FolderSetting:
    """A setting of the working folder that sends something somewhere, or writes outside that folder.

    folder, source: as of `TokenUse`. variable: its name in the environment. value: may contain a secret.
    """

    folder: str
    source: str
    variable: str
    value: str

    def refusal(self) -> Problem:
        shown = without_secrets(self.value)
        return Problem(
            "setting-not-confirmed",
            f"{self.source} in this folder sets {self.variable} to {shown}, which you have not confirmed yet",
            "if this is correct, confirm it once with: importer doctor --trust; "
            f"or set {self.variable} in the environment",
        )

    @property
    def permission(self) -> str:
        return f"{self.variable} may be {without_secrets(self.value)}"

    @property
    def record(self) -> dict[str, str]:
        return {self.variable: sha256(self.value.encode()).hexdigest()}


def without_secrets(value: str) -> str:
    """A path, or an address without user, password, and the path of a web address."""
    shown = re.sub(r"//[^/?#]*@", "//", value)
    if shown.startswith("http"):
        return "/".join(shown.split("/")[:3])
    return re.sub(r"(?i)(password=)[^&]*", r"\1...", shown)


def is_confirmed(use: TokenUse | FolderSetting) -> bool:
    """Whether the user has confirmed exactly this."""
    return use.record.items() <= _confirmed().get(use.folder, {}).items()


def confirm(use: TokenUse | FolderSetting) -> Path:
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
