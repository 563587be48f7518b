"""Requests and responses as values: the paths of the service, and the shapes of an error body."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

JSON = "application/json"
HTML = "text/html; charset=utf-8"

ErrorShape = Literal["fields", "list", "detail", "message", "nested", "html", "empty"]
"""The shapes of an error body: the service description (part 7) shows none, so the sandbox offers several."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request: the path without its query, header names in lower case, the body without its framing.

    `too_large`: the body was over the limit and was discarded. `keep_alive`: the client keeps the connection.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    keep_alive: bool = True
    too_large: bool = False


class Operation(StrEnum):
    """An operation of the sandbox."""

    HEALTH = "health"
    QUESTIONS = "questions"
    APPLY = "apply"
    ADD_TO_POOL = "add-candidate"


@dataclass(frozen=True, slots=True)
class Route:
    """An operation, the target that the path names (a job post hash or a pool number, as text), and its methods."""

    operation: Operation
    target: str
    methods: tuple[str, ...]


_PATHS = (
    (re.compile(r"/_sandbox/health()"), Operation.HEALTH, ("GET", "HEAD")),
    (re.compile(r"/api/v1/client/job-posts/([^/]+)/questions/"), Operation.QUESTIONS, ("GET", "HEAD")),
    (re.compile(r"/api/v1/job-posts/([^/]+)/apply/"), Operation.APPLY, ("POST",)),
    (re.compile(r"/api/v1/talent-pools/([^/]+)/add-candidate/"), Operation.ADD_TO_POOL, ("POST",)),
)


def find_route(path: str) -> Route | None:
    """The route of a path (without its query), or None for an unknown path."""
    for pattern, operation, methods in _PATHS:
        found = pattern.fullmatch(path)
        if found:
            return Route(operation, found[1], methods)
    return None


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, body and headers of one HTTP response; Content-Length, Date and Connection are added when it is sent."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


def json_reply(status: int, value: Any) -> Reply:
    """A response with a JSON body."""
    return Reply(status, json.dumps(value).encode())


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error: the field of the body ("" for the whole request), and the message."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def error_reply(status: int, errors: Sequence[FieldError], shape: ErrorShape = "fields") -> Reply:
    """An error response with every error, in the given shape."""
    if shape == "empty":
        return Reply(status)
    if shape == "html":
        items = "".join(f"<li>{html.escape(str(error))}</li>" for error in errors)
        page = f"<!doctype html><html><head><title>Error {status}</title></head><body><ul>{items}</ul></body></html>"
        return Reply(status, page.encode("utf-8", "backslashreplace"), HTML)
    return json_reply(status, _BODIES[shape](errors))


def _by_field(errors: Sequence[FieldError]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for error in errors:
        fields.setdefault(error.field or "detail", []).append(error.message)
    return fields


def _in_one_line(errors: Sequence[FieldError]) -> str:
    return "; ".join(str(error) for error in errors)


def _nested(errors: Sequence[FieldError]) -> dict[str, Any]:
    by_field = {
        field: [{"code": "invalid", "message": message} for message in messages]
        for field, messages in _by_field(errors).items()
    }
    return {"success": "ERROR", "errors": by_field}


_BODIES: dict[ErrorShape, Callable[[Sequence[FieldError]], Any]] = {
    "fields": _by_field,
    "list": lambda errors: [str(error) for error in errors],
    "detail": lambda errors: {"detail": _in_one_line(errors)},
    "message": lambda errors: {"message": _in_one_line(errors)},
    "nested": _nested,
}
