"""JSON read strictly: UTF-8, no name twice in an object, no NaN."""

from __future__ import annotations

import json
from typing import Any, NoReturn


class NotJson(ValueError):
    """The text is no JSON; the message says why and where, for a person."""


def read_json(text: bytes | str) -> Any:
    """The value that a JSON text holds.

    Raises:
        NotJson: the text is no JSON or no UTF-8, is nested too deeply, holds an endless number, or names something
            twice in one object.
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
        raise NotJson("it holds a number with too many digits") from error
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise NotJson(f"'{twice}' stands twice in one object")
    return names


def _refuse_constant(word: str) -> NoReturn:
    raise NotJson(f"{word} is no JSON value")
