"""Reads e-mail addresses."""

from __future__ import annotations

import re

from importer.transform.refusal import Refusal, quoted

_HINT = "write one address like name@example.com"
# Nearly every address is of this form, whose first part needs no more checks than these.
_PLAIN = re.compile(r"([A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)@([A-Za-z0-9.-]+)")
_LONGEST_PLAIN = 64  # of the whole address: far below the limits that the library keeps


def read_email(text: str, typed: bool) -> str | Refusal:
    """The address with its domain in lower case; no look-up is made."""
    from importer.transform import email_library  # it takes a while to load: see `load_meanwhile`

    plain = _PLAIN.fullmatch(text) if len(text) <= _LONGEST_PLAIN else None
    domain = email_library.read_domain(plain.group(2)) if plain else None
    if plain and domain:
        return f"{plain.group(1)}@{domain}"
    address, refused = email_library.read_address(text)
    return address or Refusal("email-unreadable", f"{quoted(text)} is no e-mail address: {refused}", _HINT)
