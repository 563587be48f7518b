"""An answer becomes the bytes of an HTTP/1.1 response."""

from __future__ import annotations

import time
from email.utils import formatdate
from http import HTTPStatus

from importer.sandbox.replies import Reply

_REASONS = {status.value: status.phrase for status in HTTPStatus}


def render_head(reply: Reply, *, keep_alive: bool) -> bytes:
    """The status line and headers, with the blank line that ends them."""
    lines = [
        f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Unknown')}",
        f"Date: {_date(int(time.time()))}",
        f"Content-Length: {len(reply.body)}",
    ]
    if reply.body:
        lines.append(f"Content-Type: {reply.content_type}")
    lines += [f"{name}: {value}" for name, value in reply.headers]
    lines.append("Connection: keep-alive" if keep_alive else "Connection: close")
    return "\r\n".join((*lines, "\r\n")).encode("latin-1")


_dates: dict[int, str] = {}


def _date(second: int) -> str:
    """The Date header; written once a second, as formatting it costs more than the rest of the head."""
    if second not in _dates:
        _dates.clear()
        _dates[second] = formatdate(second, usegmt=True)
    return _dates[second]
