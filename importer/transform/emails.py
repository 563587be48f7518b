"""Reads e-mail addresses."""

from __future__ import annotations

from email_validator import EmailNotValidError, validate_email

from importer.transform.refusal import Refusal, quoted

_HINT = "write one address like name@example.com"


def read_email(text: str, typed: bool) -> str | Refusal:
    """The address with its domain in lower case; no look-up is made."""
    try:
        return validate_email(text, check_deliverability=False).normalized
    except EmailNotValidError as error:
        reason = str(error).rstrip(".")
        reason = reason[:1].lower() + reason[1:]
        return Refusal("email-unreadable", f"{quoted(text)} is no e-mail address: {reason}", _HINT)
