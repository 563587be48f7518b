"""The rules of an inbox, from its inbox.toml: which files are imported how; every problem of the file at once."""

from __future__ import annotations

import fnmatch
import math
import os.path
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
)

from importer.app.orders import parse_minutes
from importer.app.run_options import SendingOptions
from importer.files import read_regular
from importer.problems import Problem, UnusableInput, UsageError, file_problem, unusable_file
from importer.text.normalize import did_you_mean

RULES_FILE: Final = "inbox.toml"
_MAX_BYTES: Final = 64 << 10

# --- the values of its keys: a ValueError has what is wrong, and what to do ---------------------------


def _seconds(value: Any) -> Any:
    """Of a text such as 10s."""
    try:
        seconds = parse_minutes(value) * 60 if isinstance(value, str) else value
    except UsageError as error:
        raise ValueError(str(error), "fix the value") from None
    if isinstance(seconds, bool) or (isinstance(seconds, int | float) and not 0 <= seconds < math.inf):
        raise ValueError("it is not a time", "write it like 10s or 5m")
    return seconds


def _file_name(text: str) -> str:
    if {"/", "\\"} & set(text):
        raise ValueError("it contains a folder", "write only the name of the file; its folder is incoming")
    return text


def _with_name(text: str) -> str:
    if "{name}" not in text or text == "{name}":
        raise ValueError("it does not name its file", 'write the name of the file as {name}, like "{name}.done"')
    return text


def _some(files: tuple[Any, ...]) -> tuple[Any, ...]:
    if not files:
        raise ValueError("there are none", "add one")
    return files


def _path(value: Any, info: ValidationInfo[dict[str, Path]]) -> Path:
    if not isinstance(value, str) or not value:
        raise ValueError("it is not a path", "write it in quotes, relative to the folder of this file")
    path = Path(os.path.normpath(info.context["folder"] / value))
    if path.is_dir():
        raise ValueError("it is a folder", "name one of the mapping files in it")
    return path


Complete = Literal["unchanged", "marker", "renamed"]
_Text = Annotated[str, Field(min_length=1)]
_Name = Annotated[_Text, AfterValidator(_file_name)]
_Seconds = Annotated[float, BeforeValidator(_seconds)]

# --- the rules ------------------------------------------------------------------------------------------


class FileRule(SendingOptions):
    """How the files with matching names are imported: the options of their runs, and these.

    complete: how it shows that a file is complete. settle: seconds for which it must be unchanged. marker: the name of
    the file that shows it.
    """

    pattern: _Name
    mapping: Annotated[Path, PlainValidator(_path)]
    complete: Complete = "unchanged"
    settle: _Seconds = 10.0
    marker: Annotated[_Name, AfterValidator(_with_name)] = "{name}.done"

    def matches(self, name: str) -> bool:
        """Whether this rule is for a file of this name; upper and lower case make no difference."""
        return fnmatch.fnmatchcase(_comparable(name), _comparable(self.pattern))

    def marker_of(self, name: str) -> str:
        return self.marker.replace("{name}", name)


class Rules(BaseModel):
    """The rules of an inbox. wait: seconds for which one pass waits for files that still change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: Annotated[tuple[FileRule, ...], AfterValidator(_some)]
    wait: _Seconds = 600.0

    def rule_for(self, name: str) -> FileRule | None:
        """The first rule that matches."""
        return next((rule for rule in self.files if rule.matches(name)), None)


def _comparable(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


# --- reading ----------------------------------------------------------------------------------------


def read_rules(folder: Path) -> Rules:
    """The rules of the inbox in a folder. Raises UnusableInput: with every problem of the file."""
    file = folder / RULES_FILE
    try:
        text = read_regular(file, _MAX_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        message, hint = "this folder is not an inbox", f"write {file.name} in it, as docs/inbox.md shows"
        raise unusable_file("inbox-not-found", message, hint, folder) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableInput(_unreadable(getattr(error, "strerror", None) or "it is not UTF-8 text", file)) from None
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableInput(_unreadable(str(error) or "its brackets are nested too deeply", file)) from None
    try:
        return Rules.model_validate(values, context={"folder": folder})
    except ValidationError as error:
        raise UnusableInput([_problem(one, file) for one in error.errors()]) from None


def _unreadable(reason: str, file: Path) -> Problem:
    hint = 'fix it; texts are in quotes, like pattern = "acme_*.xlsx"'
    return file_problem("inbox-rules-invalid", f"the file cannot be read: {reason}", hint, file)


_WRITE: Final = {
    "bool_type": "write true or false",
    **dict.fromkeys(("string_type", "string_too_short"), "write a text in quotes"),
}


def _problem(error: Any, file: Path) -> Problem:
    """An error of pydantic. Its place in the file: (KEY,), or ("files", the number of its section, KEY)."""
    name, number, key = ("", 0, error["loc"][0]) if len(error["loc"]) < 3 else error["loc"][:3]
    known = [*dict.fromkeys((*FileRule.__annotations__, *FileRule.model_fields))] if name else [*Rules.model_fields]
    where, kind = f"[[files]] number {number + 1}: " if name else "", error["type"]
    message = f"{where}{key} is not valid"
    if key == "files" or not isinstance(key, str):
        message, hint = "the file has no [[files]] section", "add one with pattern = and mapping ="
    elif kind == "missing":
        message, hint = f"{where}it has no {key}", f"add {key} = to it"
    elif kind == "extra_forbidden":
        message, hint = f"{where}unknown key {key!r}", did_you_mean(key, known, 20)
    elif kind == "literal_error":
        hint = did_you_mean(str(error["input"]), re.findall("'(.*?)'", error["ctx"]["expected"]))
    elif kind == "value_error":
        reason, hint = error["ctx"]["error"].args
        message += f": {reason}"
    else:
        hint = _WRITE.get(kind, "write a number greater than 0, without quotes")
    return file_problem("inbox-rules-invalid", message, hint, file)
