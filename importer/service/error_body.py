"""An error body of any shape becomes one readable line: the service description does not show its shape (part 7).

Seen in services of this kind: an object of lists, a list, `detail`, `message`, nested objects, an HTML page,
plain text, nothing. All is read, capped, and never trusted.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from importer.text.visible import visible

LONGEST = 500  # characters of the line
_LOOKED_AT = 8_192  # characters: some of the patterns below take long on more, and nobody puts the reason further down
_DEEPEST = 8
_MOST_PARTS = 40
# Keys that only wrap the message: they say nothing to a person.
_WRAPPERS = {
    "detail", "details", "message", "messages", "msg", "error", "errors", "content", "data", "non_field_errors",
    "description", "title", "reason",
}  # fmt: skip
_MARKERS = {"success", "status", "status_code", "code", "ok"}
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]+")
_CREDENTIAL = re.compile(r"(https?://[^\s\"'<>?]+)\?[^\s\"'<>]*|(?i:bearer)\s+\S+")


def readable(body: bytes, content_type: str = "") -> str:
    """The body as one line of at most LONGEST characters, "" where it says nothing."""
    text = body.decode("utf-8", errors="replace").strip()
    if not text:
        return ""
    if "html" in content_type.lower() or re.match(r"<(!doctype|html|head|body)\b", text, re.IGNORECASE):
        return one_line(_of_html(text[:_LOOKED_AT]))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return one_line(text)
    parts: list[str] = []
    for part in _parts(value, label="", depth=0):
        if part not in parts:
            parts.append(part)
        if len(parts) == _MOST_PARTS:
            break
    return one_line("; ".join(parts))


def _parts(value: Any, label: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        meaningful = {key: item for key, item in value.items() if key not in _MARKERS} or value
        for key, item in meaningful.items():
            inner = label if key in _WRAPPERS else f"{label}.{key}" if label else str(key)
            yield from _parts(item, inner, depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value, start=1):
            # A list of objects is a list of things: the place in it tells which one is meant.
            inner = f"{label} {number}".strip() if isinstance(item, dict) and len(value) > 1 and label else label
            yield from _parts(item, inner, depth + 1)
    elif value is not None and value != "":
        text = "yes" if value is True else "no" if value is False else str(value)
        yield f"{label}: {text}" if label else text


def _of_html(page: str) -> str:
    title = re.search(r"<title[^>]*>(.*?)</title>", page, re.IGNORECASE | re.DOTALL)
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", page, re.IGNORECASE | re.DOTALL)
    found = heading or title
    text = found.group(1) if found else re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", page)
    return "an HTML page: " + html.unescape(re.sub(r"<[^>]+>", " ", text))


def one_line(text: str) -> str:
    """The text without what is not seen, without credentials, and with at most LONGEST characters."""
    text = _CREDENTIAL.sub(lambda found: found.group(1) or "(token)", text[:_LOOKED_AT])
    text = visible(re.sub(r"\s+", " ", _UNSEEN.sub(" ", text)).strip())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
