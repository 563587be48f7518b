"""An answer of the sandbox as a value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

JSON = "application/json"
HTML = "text/html; charset=utf-8"


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
