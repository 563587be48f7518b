"""A submission as the bytes that are sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from importer.models import ReadyCandidate, Submission


def encode(submission: Submission) -> ReadyCandidate:
    """The submission with its request body (4.2, 4.3) as JSON; equal rows give equal bytes."""
    return ReadyCandidate(submission.row, submission.email, _ENCODER.encode(submission.payload()).encode("ascii"))


def _plain(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in a request body")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_plain, check_circular=False)
