"""JSON as the sandbox reads it: request bodies, and its files with all their problems at once."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

Model = TypeVar("Model", bound=BaseModel)
STRICT: Final = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=True)
_LONGEST_QUOTED: Final = 60


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

    Raises NotJson: it is not valid JSON or UTF-8, is nested too deeply, or contains NaN or a name twice in one object.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode()
        return json.loads(decoded, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise NotJson("a name occurs twice in one object")
    return names


def _refuse_constant(word: str) -> NoReturn:
    raise NotJson(f"{word} is not a JSON value")


def read_json_file(path: Path) -> Any:
    """The value of a JSON file. Raises SandboxUnusable if it cannot be read."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise SandboxUnusable(f"{path}: this is a pipe or a device; use a regular file")
        return read_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise SandboxUnusable(f"{path}: the file cannot be read: {error.strerror}; check the path") from error
    except NotJson as error:
        raise SandboxUnusable(f"{path}: this is not valid JSON: {error}; fix it there") from error


def checked(model: type[Model], path: Path, value: Any) -> Model:
    """The value of a file as a model. Raises SandboxUnusable: with every problem, each with its place in the file."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = [f"{', '.join(filter(None, (str(path), '.'.join(at))))}: {what}" for at, what in problems_of(error)]
        raise SandboxUnusable(found) from None


def problems_of(error: ValidationError) -> list[tuple[tuple[str, ...], str]]:
    """Each problem of a value: where in it, and what. Items of a list are counted from 1."""
    return [
        (
            tuple(str(part + 1 if isinstance(part, int) else part) for part in one["loc"]),
            one["msg"].removeprefix("Value error, "),
        )
        for one in error.errors(include_url=False)
    ]


def quoted(value: Any) -> str:
    """A value as a message shows it: in quotes, shortened if it is long."""
    text = value if isinstance(value, str) else reprlib.repr(value)
    return f"'{text[:_LONGEST_QUOTED]}...'" if len(text) > _LONGEST_QUOTED else f"'{text}'"


def listed(words: Iterable[str]) -> str:
    """Words as a message lists them."""
    return ", ".join(f"'{word}'" for word in words)
