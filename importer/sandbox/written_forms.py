"""The forms in which values are written: dates, e-mail addresses, phone numbers, web addresses, document IDs."""

from __future__ import annotations

import re
from datetime import date
from typing import Any
from urllib.parse import urlsplit

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EMAIL = re.compile(
    r"[^@\s,;:<>()\[\]\"\\]+@(?:[^@\s,;:<>()\[\]\"\\._-][^@\s,;:<>()\[\]\"\\.]*\.)+[^@\s,;:<>()\[\]\"\\.]{2,}"
)
_PHONE = re.compile(r"\+?[0-9 ()./-]+")
_SCHEMES = frozenset(("http", "https"))


def is_date(text: str) -> bool:
    """A day that exists, as YYYY-MM-DD."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_email(text: str) -> bool:
    """One bare address with a dotted domain, of at most 254 characters."""
    local = text.partition("@")[0]
    dotted = local.startswith(".") or local.endswith(".") or ".." in local
    return len(text) <= 254 and len(local) <= 64 and not dotted and _EMAIL.fullmatch(text) is not None


def is_phone(text: str) -> bool:
    """7 to 15 digits after an optional +, with separators."""
    return _PHONE.fullmatch(text) is not None and 7 <= sum(character.isdigit() for character in text) <= 15


def is_web_address(text: str) -> bool:
    """An http or https address with a host and without white space."""
    if any(character.isspace() for character in text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_document_number(value: Any) -> bool:
    """A document ID as an integer or a string of digits (service description 2.2)."""
    if isinstance(value, str):
        return value.isascii() and value.isdigit()
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
