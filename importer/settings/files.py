"""The sources of settings: the user's file, importer.toml, .env and environment variables."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from dotenv.parser import parse_stream

from importer.files import read_regular
from importer.problems import Problem, file_problem

PREFIX: Final = "IMPORTER_"  # of a setting's name in the environment and in .env
ENVIRONMENT: Final = "the environment"  # the name of this source
_MAX_TOML_BYTES: Final = 16 << 10  # bytes: parsing TOML with a key of 100 KB takes a minute
_MAX_ENV_BYTES: Final = 64 << 10  # bytes; the file may contain variables of other programs


@dataclass(frozen=True, slots=True)
class SettingSource:
    """Where a setting was found. `in_working_folder`: in a file of that folder, which someone else may have written."""

    name: str
    file: Path | None = None
    in_working_folder: bool = False


def user_file() -> Path | None:
    """The user's settings file for all projects: importer/config.toml in the user's configuration folder.

    None if that folder is unknown, as in some containers. A relative path, in the working folder, is ignored.
    """
    try:
        if os.name == "nt":
            folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
            folder = folder if folder.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return None
    return folder / "importer" / "config.toml" if folder.is_absolute() else None


def from_toml(file: Path, known: Collection[str], problems: list[Problem]) -> dict[str, Any]:
    """The settings in a TOML file. An unknown key is a problem: ignoring a typo would silently use the default."""
    try:
        content = read_regular(file, _MAX_TOML_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        problems.append(_unreadable(file, str(error.strerror)))
        return {}
    try:
        found = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = "its brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)
        hint = "fix this line; write a setting like concurrency = 4"
        problems.append(file_problem("settings-file-unreadable", f"the file cannot be read: {reason}", hint, file))
        return {}
    if isinstance(upload := found.pop("upload", None), dict):  # the only section
        found |= {f"upload_{key}": value for key, value in upload.items()}
    for key in found:
        if key not in known:
            match = _closest(key.lower().removeprefix(PREFIX.lower()), known)
            hint = f"did you mean {match!r}?" if match else f"the settings are {', '.join(known)}"
            problems.append(file_problem("setting-unknown", f"unknown setting {key!r}", hint, file))
    return {key: value for key, value in found.items() if key in known}


def from_env_file(file: Path, problems: list[Problem]) -> Mapping[str, str | None]:
    """The variables in a .env file, without expansion of `${NAME}`, which could insert another program's secret."""
    try:
        content = read_regular(file, _MAX_ENV_BYTES)
    except FileNotFoundError:
        return {}
    except OSError as error:
        if not file.is_dir():  # it may be the folder of a virtual environment
            problems.append(_unreadable(file, str(error.strerror)))
        return {}
    try:
        text = content.decode("utf-8-sig")  # some editors add a BOM
    except UnicodeDecodeError as error:
        message, hint = f"the file cannot be read: {error}", "save it as UTF-8 text"
        problems.append(file_problem("settings-file-unreadable", message, hint, file))
        return {}
    bindings = list(parse_stream(StringIO(text)))
    broken = [binding.original.line for binding in bindings if binding.error]
    for line in broken:
        message, hint = f"line {line} cannot be read", "fix it; write a setting like IMPORTER_CONCURRENCY=4"
        problems.append(file_problem("settings-file-unreadable", message, hint, file))
    return {} if broken else {binding.key: binding.value for binding in bindings if binding.key}


def settings_in(
    environment: Mapping[str, str | None], source: str, known: Collection[str], problems: list[Problem]
) -> dict[str, str]:
    """The settings among environment variables, in upper or lower case; empty ones are ignored.

    A variable that looks like a typo of a setting is a problem. Others may belong to another program.
    """
    found: dict[str, str] = {}
    for variable, value in environment.items():
        if not value or not variable.upper().startswith(PREFIX):
            continue
        name = variable.upper().removeprefix(PREFIX).lower()
        if name in known:
            found[name] = value
        elif match := _closest(name, known):
            message, hint = f"unknown setting {variable}", f"did you mean {PREFIX}{match.upper()}?"
            problems.append(file_problem("setting-unknown", message, hint, source))
    return found


def unknown_in(environment: Mapping[str, str | None], known: Collection[str]) -> list[str]:
    """The variables that are named like settings and are none."""
    named = [variable for variable, value in environment.items() if value and variable.upper().startswith(PREFIX)]
    return sorted(one for one in named if one.upper().removeprefix(PREFIX).lower() not in known)


def _unreadable(file: Path, reason: str) -> Problem:
    hint = "a settings file must be a small text file; check this file"
    return file_problem("settings-file-unreadable", f"the file cannot be read: {reason}", hint, file)


def _closest(name: str, known: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)
