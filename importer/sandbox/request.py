"""A request as the sandbox reads it from the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
