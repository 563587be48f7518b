"""What a run may choose about sending."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from importer.errors import UsageError

Settling = Literal["now", "later", "never"]


@dataclass(frozen=True, slots=True)
class ErrorLimit:
    """How many rows may end as rejected, failed or unclear: a number, or a percentage of the rows ended so far."""

    amount: float
    is_percentage: bool = False

    # A percentage of a few rows says nothing.
    _FIRST_JUDGED_AT = 20

    @classmethod
    def parse(cls, text: str) -> ErrorLimit:
        """Read `25` or `5%`.

        Raises:
            UsageError: it is neither.
        """
        found = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)\s*%", text.strip(), re.ASCII)
        if not found or (found[2] and float(found[2]) > 100):
            raise UsageError(f"{text!r} is no limit for errors; give a number of rows (25) or a percentage (5%)")
        return cls(float(found[1] or found[2]), is_percentage=found[2] is not None)

    def is_passed_by(self, errors: int, ended: int) -> bool:
        """Whether `errors` of `ended` rows are more than this."""
        if self.is_percentage:
            return ended >= self._FIRST_JUDGED_AT and errors * 100 > self.amount * ended
        return errors > self.amount

    def __str__(self) -> str:
        return f"{self.amount:g}%" if self.is_percentage else f"{self.amount:g}"


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How rows are sent.

    in_flight: the most requests at the same time. rate: the most requests a second, spread evenly.
    settle: when a row whose request may have arrived is sent again with the same bytes: at once, at the end of the
    run, or not at all. settle_after: seconds between the two, for `later`. settle_tries: how often, at most.
    pause: seconds to wait before the service is probed when its answers are not clear.
    again: send rows that were rejected before even if they are unchanged.
    retry_budget: how many repetitions a run may send for each row, on the whole; 100 are always allowed.
    """

    in_flight: int = 8
    rate: float | None = None
    max_errors: ErrorLimit | None = None
    settle: Settling = "later"
    settle_after: float = 60.0
    settle_tries: int = 3
    pause: float = 30.0
    again: bool = False
    retry_budget: float = 1.0
