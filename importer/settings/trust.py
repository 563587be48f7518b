"""The user's confirmation that the token may be sent to an address that the working folder sets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from importer.atomic_files import write_json
from importer.problems import FilePlace, Problem, UnusableInput
from importer.regular_files import read_regular
from importer.settings.files import user_file

_MAX_BYTES: Final = 4 << 20  # bytes: tens of thousands of folders


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The use of the user's token for an address that the working folder sets.

    folder: with links resolved. source: the file in it that sets the address. token_file: the file outside the folder
    that the folder uses as the token file, links resolved; "" if the user set the token.

    All except `source` is confirmed together: a folder that changes later can neither send the token to another
    address, nor another file of the user to this address.
    """

    folder: str
    source: str
    address: str
    token_file: str

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


def is_confirmed(use: TokenUse) -> bool:
    """Whether the user has confirmed exactly this use."""
    return _confirmed().get(use.folder) == _as_json(use)


def confirm(use: TokenUse) -> Path:
    """Save the confirmation for this user, replacing an earlier one for the same folder; return the file.

    Raises:
        UnusableInput: the file cannot be written.
    """
    file = _file()
    reason = "your settings folder is not known"
    if file is not None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_json(file, {"version": 1, "folders": {**_confirmed(), use.folder: _as_json(use)}})
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return file
    hint = "set IMPORTER_BASE_URL in the environment instead"
    place = FilePlace(str(file)) if file else None
    raise UnusableInput(Problem("trust-not-saved", f"your confirmation cannot be saved: {reason}", hint, place))


def _as_json(use: TokenUse) -> dict[str, str]:
    return {"address": use.address, "token_file": use.token_file}


def _confirmed() -> dict[str, Any]:
    """The confirmations by folder. If the file cannot be read, the user has to confirm again."""
    file = _file()
    try:
        folders = json.loads(read_regular(file, _MAX_BYTES))["folders"] if file else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return folders if isinstance(folders, dict) else {}


def _file() -> Path | None:
    user = user_file()
    return user.with_name("trusted.json") if user else None
