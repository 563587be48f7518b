"""Reads a Retry-After header: seconds or a date (RFC 9110, 10.2.3), capped, never in the past."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 900.0  # seconds; a longer one would hold a nightly run for a service's slip of the pen


def seconds_to_wait(header: str, now: datetime) -> float | None:
    """The wait in seconds between 0 and LONGEST, or None where the header cannot be read."""
    text = header.strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text, re.ASCII):
        return min(float(text), LONGEST)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(max((until - now).total_seconds(), 0.0), LONGEST)
