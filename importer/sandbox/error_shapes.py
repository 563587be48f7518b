"""The shapes of an error body: the service description (part 7) shows none, so the sandbox can speak each."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from importer.sandbox.refusals import Refusal
from importer.sandbox.replies import HTML, Reply, json_reply

ErrorShape = Literal["fields", "list", "detail", "message", "nested", "html", "empty"]
ERROR_SHAPES: tuple[ErrorShape, ...] = get_args(ErrorShape)


def error_reply(status: int, refusals: Sequence[Refusal], shape: ErrorShape = "fields") -> Reply:
    """An error answer that tells every refusal, in the shape asked for."""
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
