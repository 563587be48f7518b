"""Reads e-mail addresses."""

from __future__ import annotations

import re
from functools import lru_cache

from email_validator import EmailNotValidError, validate_email

from importer.transform.refusal import Refusal, quoted

_HINT = "write one address like name@example.com"
# Nearly every address is of this form, whose first part needs no more checks than these.
_PLAIN = re.compile(r"([A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)@([A-Za-z0-9.-]+)")
_LONGEST_PLAIN = 64  # of the whole address: far below the limits that the library keeps


def read_email(text: str, typed: bool) -> str | Refusal:
    """The address with its domain in lower case; no look-up is made."""
    plain = _PLAIN.fullmatch(text) if len(text) <= _LONGEST_PLAIN else None
    domain = _domain(plain.group(2)) if plain else None
    if plain and domain:
        return f"{plain.group(1)}@{domain}"
    try:
        return validate_email(text, check_deliverability=False).normalized
    except EmailNotValidError as error:
        reason = str(error).rstrip(".")
        reason = reason[:1].lower() + reason[1:]
        return Refusal("email-unreadable", f"{quoted(text)} is no e-mail address: {reason}", _HINT)


@lru_cache(maxsize=4096)
def _domain(domain: str) -> str | None:
    """The domain as the library writes it, or None where it refuses it: of few domains are many addresses."""
    try:
        return validate_email(f"a@{domain}", check_deliverability=False).normalized.removeprefix("a@")
    except EmailNotValidError:
        return None
