"""The options of sending, and the switch that stops or pauses it."""

from __future__ import annotations

import math
import queue
import re
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeVar

from importer.problems import UsageError

Resend = Literal["now", "end", "never"]
Item = TypeVar("Item")

_FIRST_JUDGED_AT: Final = 20  # rows: a percentage of fewer means nothing
_LONGEST_WAIT: Final = 0.05  # seconds: setting the switch wakes no thread, so waits are short
_MINUTES_OF: Final = {"s": 1 / 60, "m": 1.0, "h": 60.0, "": 1.0}


@dataclass(frozen=True, slots=True)
class ErrorLimit:
    """How many rows may be rejected, failed or unconfirmed: a number, or a percentage of the rows completed so far."""

    amount: float
    is_percentage: bool = False

    @classmethod
    def parse(cls, text: str) -> ErrorLimit:
        """Read `25` or `5%`. Raises UsageError: it is neither."""
        found = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)\s*%", text.strip(), re.ASCII)
        if not found or (found[2] and float(found[2]) > 100):
            raise UsageError(
                f"{text!r} is not a valid limit for errors; use a number of rows (25) or a percentage (5%)"
            )
        return cls(float(found[1] or found[2]), is_percentage=found[2] is not None)

    def is_passed_by(self, errors: int, ended: int) -> bool:
        """Whether `errors` of `ended` rows are more than this."""
        if self.is_percentage:
            return ended >= _FIRST_JUDGED_AT and errors * 100 > self.amount * ended
        return errors > self.amount

    def __str__(self) -> str:
        return f"{self.amount:g}%" if self.is_percentage else f"{self.amount:g}"


def parse_minutes(text: str) -> float:
    """Read `15m`, `90s`, `2h`, or a number of minutes. Raises UsageError: it is none of these."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip().lower(), re.ASCII)
    if not found or not float(found[1]):
        raise UsageError(f"{text!r} is not a valid duration; write it like 15m, 90s or 2h")
    return float(found[1]) * _MINUTES_OF[found[2]]


@dataclass(frozen=True, slots=True)
class Window:
    """The time in which a run may send. ends_at: in seconds since the epoch, so that it holds for a machine that slept.

    set_by: what the user set. waits: until then the run waits for a service that is down, however long that takes.
    """

    ends_at: float
    set_by: str
    waits: bool


def parse_window(until: str | None, max_runtime: str | None, now: datetime | None = None) -> Window | None:
    """Read `06:00`, the next time that a clock shows it, and a duration like `4h` from `now`: what comes first.

    Raises UsageError: one of them is neither.
    """
    now, ends = now or datetime.now(UTC), []
    if until is not None:
        found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", until.strip(), re.ASCII)
        if found is None:
            raise UsageError(f"{until!r} is not a time of day; write it like 06:00 or 22:30")
        local = now.astimezone().replace(tzinfo=None)  # a clock on the wall, whatever summer time does that night
        end = local.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
        end += timedelta(days=1) if end <= local else timedelta()
        ends.append((end.timestamp(), f"--until {until}"))
    if max_runtime is not None:
        ends.append((now.timestamp() + parse_minutes(max_runtime) * 60, f"--max-runtime {max_runtime}"))
    return Window(*min(ends), waits=until is not None) if ends else None


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How rows are sent.

    concurrency: the maximum of requests at the same time. rate: the maximum of requests per second, spread evenly.
    resend_unconfirmed: when an unconfirmed row is sent again with the same body: at once, at the end of the run, or
    never. resend_delay: seconds between two requests for it, for `end`. max_attempts: how often an unconfirmed row is
    sent at most, as long as no other one is confirmed. give_up_after: seconds without progress after which the run
    stops; first_patience: for an address that has never responded. resend_rejected: also send rows that were rejected
    before and have not changed. window: the time in which rows may be sent; None: no limit. pool_exists: words of a
    refusal by which a pool says that it has the candidate already; "": none. out: the results folder that commands in
    hints name; "": the usual one.
    """

    concurrency: int = 8
    rate: float | None = None
    max_errors: ErrorLimit | None = None
    resend_unconfirmed: Resend = "end"
    resend_delay: float = 60.0
    max_attempts: int = 6
    give_up_after: float = 900.0
    first_patience: float = 30.0
    resend_rejected: bool = False
    window: Window | None = None
    pool_exists: str = ""
    out: str = ""

    @property
    def stall_timeout(self) -> float:
        """Seconds without progress after which the run stops: at least twice the delay of a resend."""
        if self.window is not None and self.window.waits:
            return math.inf
        return max(self.give_up_after, 2 * self.resend_delay)


class Cancellation:
    """Stops, pauses and resumes sending, from any thread or a signal handler, and tells the time of the run.

    It takes effect within 0.05 seconds. speed: of the clock, for tests; all times below are in its seconds.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed
        self._began = time.time()
        self._is_set = False
        self.is_paused = False

    def set(self) -> None:
        """Stop sending, paused or not: no new request starts, requests in flight finish, waits end."""
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def pause(self) -> None:
        """Start no new request until `resume`; requests in flight finish. A paused run does not give up."""
        self.is_paused = True

    def resume(self) -> None:
        """Continue after a `pause`; otherwise does nothing."""
        self.is_paused = False

    def now(self) -> float:
        """Seconds on a monotonic clock."""
        return time.monotonic() * self._speed

    def time(self) -> float:
        """Seconds since the epoch."""
        return self._began + (time.time() - self._began) * self._speed

    def sleep(self, until: threading.Event, seconds: float) -> None:
        """Wait for so many seconds, or until the event."""
        until.wait(seconds / self._speed)

    def collect(self, told: queue.Queue[Item], seconds: float) -> Item | None:
        """What comes next, within at most so many seconds, and less: nothing wakes this wait when the switch is set.

        Not from a SimpleQueue: its `get` with a timeout can wait forever (CPython 3.11, 3.12) if a signal arrives
        shortly before the timeout.
        """
        try:
            return told.get(timeout=min(seconds / self._speed, _LONGEST_WAIT)) if seconds else told.get_nowait()
        except queue.Empty:
            return None
