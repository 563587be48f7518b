"""Reads web addresses."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from importer.transform.refusal import Refusal, quoted

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(/|$))")  # host:8080 is no scheme
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.[^\W\d_][\w-]*\.?|[0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-f:]+:[0-9a-f.:]*")
_HINT = "write it with https://"


def read_url(text: str, typed: bool) -> str | Refusal:
    """An http or https address. `linkedin.com/in/ada`, as people write it, gets https:// put before it."""
    address = text if _SCHEME.match(text) else f"https://{text.removeprefix('//')}"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return _refusal(text)
    if parts.scheme.lower() not in ("http", "https"):
        message = f"{quoted(text)} is no web address: {parts.scheme}: cannot be sent"
        return Refusal("url-unreadable", message, _HINT)
    if host is None or not _HOST.fullmatch(host) or not address.isprintable() or " " in address:
        return _refusal(text)
    return address


def _refusal(text: str) -> Refusal:
    return Refusal("url-unreadable", f"{quoted(text)} is no web address", _HINT)
