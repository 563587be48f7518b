"""Why the sandbox refuses a request, as values."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason: the field of the body that it is about ("" for the request as a whole), and what is wrong."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def quoted(value: Any) -> str:
    """A value as an error message shows it: in quotes, cut where it is long."""
    text = value if isinstance(value, str) else reprlib.repr(value)
    return f"'{text[:_LONGEST]}...'" if len(text) > _LONGEST else f"'{text}'"


def listed(words: tuple[str, ...]) -> str:
    """Words as an error message lists them."""
    return ", ".join(f"'{word}'" for word in words)
