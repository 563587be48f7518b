"""Requests and answers as values: the paths of the service, and the shapes of an error body."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, get_args

JSON = "application/json"
HTML = "text/html; charset=utf-8"

ErrorShape = Literal["fields", "list", "detail", "message", "nested", "html", "empty"]
"""The shapes of an error body: the service description (part 7) shows none, so the sandbox can speak each."""
ERROR_SHAPES: tuple[ErrorShape, ...] = get_args(ErrorShape)


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request: the path without its query, header names in lower case, the body taken out of its framing.

    `too_large`: the body was over the cap and was thrown away. `keep_alive`: the client wants to go on.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    keep_alive: bool = True
    too_large: bool = False


class Operation(StrEnum):
    """What the sandbox can do."""

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
    """What a path (without its query) means; None for a path that the service does not have."""
    for pattern, operation, methods in _PATHS:
        found = pattern.fullmatch(path)
        if found:
            return Route(operation, found[1], methods)
    return None


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, body and headers of one HTTP answer; Content-Length, Date and Connection are added on the wire."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


def json_reply(status: int, value: Any) -> Reply:
    """An answer with a JSON body."""
    return Reply(status, json.dumps(value).encode())


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason: the field of the body that it is about ("" for the request as a whole), and what is wrong."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def error_reply(status: int, refusals: Sequence[Refusal], shape: ErrorShape = "fields") -> Reply:
    """An error answer with every refusal, in the shape asked for."""
    if shape == "empty":
        return Reply(status)
    if shape == "html":
        items = "".join(f"<li>{html.escape(str(refusal))}</li>" for refusal in refusals)
        page = f"<!doctype html><html><head><title>Error {status}</title></head><body><ul>{items}</ul></body></html>"
        return Reply(status, page.encode("utf-8", "backslashreplace"), HTML)
    return json_reply(status, _BODIES[shape](refusals))


def _by_field(refusals: Sequence[Refusal]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for refusal in refusals:
        fields.setdefault(refusal.field or "detail", []).append(refusal.message)
    return fields


def _in_one_line(refusals: Sequence[Refusal]) -> str:
    return "; ".join(str(refusal) for refusal in refusals)


def _nested(refusals: Sequence[Refusal]) -> dict[str, Any]:
    errors = {
        field: [{"code": "invalid", "message": message} for message in messages]
        for field, messages in _by_field(refusals).items()
    }
    return {"success": "ERROR", "errors": errors}


_BODIES: dict[ErrorShape, Callable[[Sequence[Refusal]], Any]] = {
    "fields": _by_field,
    "list": lambda refusals: [str(refusal) for refusal in refusals],
    "detail": lambda refusals: {"detail": _in_one_line(refusals)},
    "message": lambda refusals: {"message": _in_one_line(refusals)},
    "nested": _nested,
}
