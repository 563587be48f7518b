"""The sources of settings: what the user's file, importer.toml, .env and variables hold, and what is wrong in them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from importer.problems import FilePlace, Problem
from importer.regular_files import read_regular

PREFIX: Final = "IMPORTER_"  # of a setting's name in the environment and in .env
_MOST_TOML: Final = 16 << 10  # bytes: a reader of TOML takes a minute for keys of 100 KB
_MOST_ENV: Final = 64 << 10  # bytes; other programs' variables stand there too


@dataclass(frozen=True, slots=True)
class SettingSource:
    """Where a setting was found. `of_folder`: in a file of the working folder, which somebody else may have written."""

    name: str
    file: Path | None = None
    of_folder: bool = False


def user_file() -> Path | None:
    """The settings file of the person, for all projects: importer/config.toml below their configuration folder.

    None where nobody knows where that is, as in a container. A relative path would lead into the working folder.
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


def of_toml(file: Path, known: Collection[str], problems: list[Problem]) -> dict[str, Any]:
    """What a file sets. A misspelt setting would be passed over without a word, and its default taken: it is told."""
    try:
        content = read_regular(file, _MOST_TOML)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        problems.append(_unreadable(file, str(error.strerror)))
        return {}
    import tomllib  # few have such a file

    try:
        found = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        said = "its brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)
        hint = "fix this line; write a setting like concurrency = 4"
        problems.append(
            Problem("settings-file-unreadable", f"the file cannot be read: {said}", hint, FilePlace(str(file)))
        )
        return {}
    for key in found:
        if key not in known:
            near = _nearest(key.lower().removeprefix(PREFIX.lower()), known)
            hint = f"did you mean {near!r}?" if near else f"the settings are {', '.join(known)}"
            problems.append(Problem("setting-unknown", f"unknown setting {key!r}", hint, FilePlace(str(file))))
    return {key: value for key, value in found.items() if key in known}


def of_env_file(file: Path, problems: list[Problem]) -> Mapping[str, str | None]:
    """The variables of a .env file as they are written: `${NAME}` does not become another program's secret."""
    try:
        content = read_regular(file, _MOST_ENV)
    except FileNotFoundError:
        return {}
    except OSError as error:
        if not file.is_dir():  # some keep a virtual environment there
            problems.append(_unreadable(file, str(error.strerror)))
        return {}
    from dotenv.parser import parse_stream  # few have such a file

    try:
        text = content.decode("utf-8-sig")  # some editors put the mark in front
    except UnicodeDecodeError as error:
        message, hint = f"the file cannot be read: {error}", "save it as UTF-8 text"
        problems.append(Problem("settings-file-unreadable", message, hint, FilePlace(str(file))))
        return {}
    bindings = list(parse_stream(StringIO(text)))
    broken = [binding.original.line for binding in bindings if binding.error]
    for line in broken:
        message, hint = f"line {line} cannot be read", "fix it; write a setting like IMPORTER_CONCURRENCY=4"
        problems.append(Problem("settings-file-unreadable", message, hint, FilePlace(str(file))))
    return {} if broken else {binding.key: binding.value for binding in bindings if binding.key}


def named(
    environment: Mapping[str, str | None], source: str, known: Collection[str], problems: list[Problem]
) -> dict[str, str]:
    """The settings among variables, in upper or lower case; an empty one is as good as none.

    A variable that looks like one of ours and is none is told. Others may be for somebody else.
    """
    found: dict[str, str] = {}
    for variable, value in environment.items():
        if not value or not variable.upper().startswith(PREFIX):
            continue
        name = variable.upper().removeprefix(PREFIX).lower()
        if name in known:
            found[name] = value
        elif near := _nearest(name, known):
            message, hint = f"unknown setting {variable}", f"did you mean {PREFIX}{near.upper()}?"
            problems.append(Problem("setting-unknown", message, hint, FilePlace(source)))
    return found


def _unreadable(file: Path, reason: str) -> Problem:
    hint = "a settings file must be a small text file; check what is there"
    return Problem("settings-file-unreadable", f"the file cannot be read: {reason}", hint, FilePlace(str(file)))


def _nearest(name: str, known: Collection[str]) -> str | None:
    import difflib  # seldom needed

    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)
