"""Parses what the service description does not specify (part 7): tolerant, capped, never trusted.

An error body becomes one readable line; common forms are an object of lists, a list, `detail`, `message`, nested
objects, an HTML page, plain text, or nothing. A Retry-After is seconds or a date (RFC 9110, 10.2.3). The `options` of a
question (2.1) are one string, which is split.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from importer.service.transport import RawReply
from importer.text.normalize import visible

LONGEST_LINE = 500  # characters
_LOOKED_AT = 8_192  # characters: the patterns below are slow on longer texts, and the reason is never further down
_DEEPEST = 8
_MOST_PARTS = 40
# Keys that only wrap the message and mean nothing to a person.
_WRAPPERS = {
    "detail", "details", "message", "messages", "msg", "error", "errors", "content", "data", "non_field_errors",
    "description", "title", "reason",
}  # fmt: skip
_MARKERS = {"success", "status", "status_code", "code", "ok"}
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]+")
_CREDENTIAL = re.compile(r"(https?://[^\s\"'<>?]+)\?[^\s\"'<>]*|(?i:bearer)\s+(?!token\b)\S+")
LONGEST_RETRY_AFTER = 900.0  # seconds; a longer one is probably an error of the service and would delay a nightly run
A_PAGE = "an HTML page"
_SEPARATORS = ("\n", ";", "|", ",")  # of options, tried in this order after a JSON array


def message_of(raw: RawReply) -> str:
    """The message in the body, for a person; for a redirect its address."""
    location = raw.headers.get("location")
    if 300 <= raw.status < 400 and location:
        return f"redirects to {readable(location.encode())}"
    return readable(raw.body, raw.headers.get("content-type", ""))


def retry_after(raw: RawReply) -> float | None:
    """The Retry-After in seconds, if there is one."""
    header = raw.headers.get("retry-after")
    return seconds_to_wait(header, datetime.now(UTC)) if header is not None else None


def readable(body: bytes, content_type: str = "") -> str:
    """The body as one line of at most LONGEST_LINE characters, or ""."""
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
            # In a list of objects, the position shows which one is meant.
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
    return f"{A_PAGE}: " + html.unescape(re.sub(r"<[^>]+>", " ", text))


def one_line(text: str) -> str:
    """The text without invisible characters and credentials, at most LONGEST_LINE characters."""
    text = _CREDENTIAL.sub(lambda found: found.group(1) or "(token)", text[:_LOOKED_AT])
    text = visible(re.sub(r"\s+", " ", _UNSEEN.sub(" ", text)).strip())
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1].rstrip() + "…"


def seconds_to_wait(header: str, now: datetime) -> float | None:
    """The wait in seconds, from 1 to LONGEST_RETRY_AFTER, or None if the header is not valid.

    None also for 0 and a time that is over: taken literally, they ask for requests without a pause.
    """
    text = header.strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text, re.ASCII):
        seconds = float(text)
    else:
        try:
            until = parsedate_to_datetime(text)
        except (ValueError, TypeError, OverflowError):
            return None
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        seconds = (until - now).total_seconds()
    return min(max(seconds, 1.0), LONGEST_RETRY_AFTER) if seconds > 0 else None


def split_options(text: str | None, separator: str | None = None) -> tuple[str, ...]:
    """The options of a choice question in order, stripped, without blank ones.

    A declared separator is the only one used. Otherwise: a JSON array (of texts, numbers, or objects with a label,
    text, value, name or title), or else the first of _SEPARATORS that occurs.
    """
    if text is None or not text.strip():
        return ()
    if separator is None:
        listed = _json_options(text)
        if listed is not None:
            return listed
        separator = next((one for one in _SEPARATORS if one in text.strip()), "\n")
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _json_options(text: str) -> tuple[str, ...] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # deeply nested brackets
        return None
    if not isinstance(value, list):
        return None
    return tuple(name for name in map(_option_text, value) if name)


def _option_text(value: object) -> str:
    if isinstance(value, dict):
        for key in ("label", "text", "value", "name", "title"):
            if isinstance(value.get(key), str):
                return str(value[key]).strip()
    return str(value).strip()
