"""An address that a folder names gets a person's token only after the person has confirmed it, once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from importer.atomic_files import write_json
from importer.problems import FilePlace, Problem, UnusableInput
from importer.regular_files import read_regular
from importer.settings.files import user_file

_MOST: Final = 4 << 20  # bytes: tens of thousands of folders


@dataclass(frozen=True, slots=True)
class TokenUse:
    """That a token of the person goes to an address which the working folder names.

    folder: with links resolved. source: the file in it that names the address. token_file: the file outside the folder
    from which that folder takes the token, links resolved; "" where the token is set by the person.

    All but `source` is confirmed together: a folder that changes later can neither send the token to another address,
    nor another of the person's files to this one.
    """

    folder: str
    source: str
    address: str
    token_file: str

    def refusal(self) -> Problem:
        return Problem(
            "address-not-trusted",
            f"{self.source} in this folder would send {self.told_token} to {self.address}, which you have not "
            "confirmed yet",
            "if this is the address of your recruiting service, confirm it once with: importer doctor --trust; "
            "or set IMPORTER_BASE_URL in the environment",
        )

    @property
    def told_token(self) -> str:
        return f"the token in {self.token_file}" if self.token_file else "your token"


def is_confirmed(use: TokenUse) -> bool:
    """Whether the person has confirmed exactly this."""
    return _confirmed().get(use.folder) == _kept(use)


def confirm(use: TokenUse) -> Path:
    """Remember for this user that it is confirmed, in place of what was for its folder; gives the file that says so.

    Raises:
        UnusableInput: it cannot be kept.
    """
    file = _file()
    reason = "your settings folder is not known"
    if file is not None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_json(file, {"version": 1, "folders": {**_confirmed(), use.folder: _kept(use)}})
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return file
    hint = "set IMPORTER_BASE_URL in the environment instead"
    place = FilePlace(str(file)) if file else None
    raise UnusableInput(Problem("trust-not-saved", f"your confirmation cannot be saved: {reason}", hint, place))


def _kept(use: TokenUse) -> dict[str, str]:
    return {"address": use.address, "token_file": use.token_file}


def _confirmed() -> dict[str, Any]:
    """By folder. What cannot be read is confirmed again."""
    file = _file()
    try:
        folders = json.loads(read_regular(file, _MOST))["folders"] if file else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return folders if isinstance(folders, dict) else {}


def _file() -> Path | None:
    user = user_file()
    return user.with_name("trusted.json") if user else None
