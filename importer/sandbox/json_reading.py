"""Strict JSON, files with all their problems at once, and values as messages show them."""

from __future__ import annotations

import json
import re
import reprlib
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Model = TypeVar("Model", bound=BaseModel)
MAX_BYTES = 20_000_000
_LONGEST_QUOTED = 60
_EMAIL = re.compile(
    r"[^@\s,;:<>()\[\]\"\\]+@(?:[^@\s,;:<>()\[\]\"\\._-][^@\s,;:<>()\[\]\"\\.]*\.)+[^@\s,;:<>()\[\]\"\\.]{2,}"
)


class SandboxUnusable(Exception):
    """The sandbox cannot start: a file, an address or a setting is wrong. Nothing was served.

    `problems` are all problems found, one line each: what, where and what to do.
    """

    def __init__(self, problems: Iterable[str] | str) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class NotJson(ValueError):
    """The text is not valid JSON; the message gives the reason and the position."""


def read_json(text: bytes | str) -> Any:
    """The value of a JSON text.

    Raises:
        NotJson: the text is not valid JSON or UTF-8, is nested too deeply, or contains NaN, infinity, a number with too
            many digits or a duplicate name in one object.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        return json.loads(decoded, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"{error.msg[:1].lower()}{error.msg[1:]} ({where})") from error
    except UnicodeDecodeError as error:
        raise NotJson(f"byte {error.start} is not UTF-8") from error
    except NotJson:
        raise
    except ValueError as error:  # Python's own limit for the digits of an integer
        raise NotJson("it contains a number with too many digits") from error
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        known: set[str] = set()
        twice = next(name for name, _ in pairs if name in known or known.add(name))  # type: ignore[func-returns-value]
        raise NotJson(f"'{twice}' occurs twice in one object")
    return names


def _refuse_constant(word: str) -> NoReturn:
    raise NotJson(f"{word} is not a JSON value")


def read_json_file(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        SandboxUnusable: the file cannot be read, or is not a JSON object.
    """
    try:
        status = path.stat()
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise SandboxUnusable(f"{path}: this is a pipe or a device; use a regular file")
        if status.st_size > MAX_BYTES:
            raise SandboxUnusable(f"{path}: the file is larger than {MAX_BYTES:,} bytes; use a smaller one")
        value = read_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise SandboxUnusable(f"{path}: the file cannot be read: {error.strerror}; check the path") from error
    except NotJson as error:
        raise SandboxUnusable(f"{path}: this is not valid JSON: {error}; fix it there") from error
    if not isinstance(value, dict):
        raise SandboxUnusable(f"{path}: the file must contain a JSON object")
    return value


STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=True)

AN_ARRAY = Field(strict=False)  # of a tuple: JSON has arrays


def checked(model: type[Model], path: Path, value: dict[str, Any], context: str = "") -> Model:
    """The value of a file as a model.

    Raises:
        SandboxUnusable: with every problem, each with its place in the file.
    """
    try:
        return model.model_validate(value, context=context)
    except ValidationError as error:
        raise SandboxUnusable([f"{path}{_place(each)}: {_message(each)}" for each in error.errors()]) from None


def _place(error: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    return f", {place.removeprefix('.')}" if place else ""


def _message(error: Any) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "the name is unknown"
        case "missing":
            return "it is missing"
        case "too_short":
            return "it must not be empty"
        case "tuple_type":
            return "should be an array"
        case "dict_type" | "model_type":
            return "should be an object"
        case "value_error":
            return str(error["ctx"]["error"])
    return f"{error['msg'].removeprefix('Input ')}, not {quoted(error['input'])}"


def quoted(value: Any) -> str:
    """A value as a message shows it: in quotes, shortened if it is long."""
    text = value if isinstance(value, str) else reprlib.repr(value)
    return f"'{text[:_LONGEST_QUOTED]}...'" if len(text) > _LONGEST_QUOTED else f"'{text}'"


def listed(words: tuple[str, ...]) -> str:
    """Words as a message lists them."""
    return ", ".join(f"'{word}'" for word in words)


def is_email(text: str) -> bool:
    """Whether the text is one bare address with a dotted domain, of at most 254 characters."""
    local = text.partition("@")[0]
    dotted = local.startswith(".") or local.endswith(".") or ".." in local
    return len(text) <= 254 and len(local) <= 64 and not dotted and _EMAIL.fullmatch(text) is not None
