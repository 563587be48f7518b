"""What the library for e-mail addresses makes of one."""

from __future__ import annotations

from functools import lru_cache

from email_validator import EmailNotValidError, validate_email


def read_address(text: str) -> tuple[str, str]:
    """The address as the library writes it and "", or "" and why it is none."""
    try:
        return validate_email(text, check_deliverability=False).normalized, ""
    except EmailNotValidError as error:
        reason = str(error).rstrip(".")
        return "", reason[:1].lower() + reason[1:]


@lru_cache(maxsize=4096)
def read_domain(domain: str) -> str | None:
    """The domain as the library writes it, or None where it refuses it: of few domains are many addresses."""
    return read_address(f"a@{domain}")[0].removeprefix("a@") or None
