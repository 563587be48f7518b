"""What the service answered, as a value: read generously, capped, never trusted.

Its description shows neither (part 7): an error body becomes one readable line, be it an object of lists, a list,
`detail`, `message`, nested objects, an HTML page, plain text or nothing, as seen in services of this kind. A
Retry-After is seconds or a date (RFC 9110, 10.2.3).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple

from importer.models import Operation
from importer.service.transport_api import RawReply
from importer.text.visible import visible

LONGEST_LINE = 500  # characters
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
LONGEST_RETRY_AFTER = 900.0  # seconds; a longer one would hold a nightly run for a service's slip of the pen
_ALWAYS_THERE: Final = {Operation.APPLY: "message", Operation.ADD_TO_POOL: "id"}  # in the body of a 201 (4.2, 2.5)

Clock = Callable[[], datetime]


class Reply(NamedTuple):
    """A status that was read, whatever else was wrong with the answer.

    `message` is the body as one readable line ("" where it says nothing); of a 201 only that its body could not be
    read, since a pool's record carries presigned URLs. `retry_after` is in seconds. `email` is the one that the body
    of a 201 names, as one line; "" where it names none.
    """

    status: int
    message: str = ""
    retry_after: float | None = None
    email: str = ""


def read_reply(operation: Operation, raw: RawReply, now: Clock) -> Reply:
    """The answer to a submission."""
    if raw.status == 201:
        return _created(operation, raw.body)
    return Reply(raw.status, message_of(raw), retry_after(raw, now))


def _created(operation: Operation, body: bytes) -> Reply:
    """A 201. Of its content only the e-mail is kept: a pool's record carries presigned URLs."""
    try:
        shown = json.loads(body)
    except (ValueError, RecursionError):
        shown = None
    if not isinstance(shown, dict):
        shown = {}
    as_described = _ALWAYS_THERE[operation] in shown
    email = shown.get("email")
    return Reply(
        201,
        "" if as_described else "created, but the response is not what the service description shows",
        email=one_line(email) if isinstance(email, str) else "",
    )


def message_of(raw: RawReply) -> str:
    """What the body says, for a person; of a redirect where it points to."""
    location = raw.headers.get("location")
    if 300 <= raw.status < 400 and location:
        return f"it points to {readable(location.encode())}"
    return readable(raw.body, raw.headers.get("content-type", ""))


def retry_after(raw: RawReply, now: Clock) -> float | None:
    """The seconds for which the service asks to be left alone, if it does."""
    header = raw.headers.get("retry-after")
    return seconds_to_wait(header, now()) if header is not None else None


def readable(body: bytes, content_type: str = "") -> str:
    """The body as one line of at most LONGEST_LINE characters, "" where it says nothing."""
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
    """The text without what is not seen, without credentials, and with at most LONGEST_LINE characters."""
    text = _CREDENTIAL.sub(lambda found: found.group(1) or "(token)", text[:_LOOKED_AT])
    text = visible(re.sub(r"\s+", " ", _UNSEEN.sub(" ", text)).strip())
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1].rstrip() + "…"


def seconds_to_wait(header: str, now: datetime) -> float | None:
    """The wait in seconds between 0 and LONGEST_RETRY_AFTER, or None where the header cannot be read."""
    text = header.strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text, re.ASCII):
        return min(float(text), LONGEST_RETRY_AFTER)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(max((until - now).total_seconds(), 0.0), LONGEST_RETRY_AFTER)
