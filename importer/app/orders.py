"""What is asked for, how it can be steered while it is carried out, and what happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from importer.load import Cancellation, ErrorLimit, Stop, in_words, parse_minutes
from importer.models import Outcome, Target
from importer.problems import Problem
from importer.report import Summary
from importer.runs.row_selection import ALL_ROWS, Selection
from importer.settings import Settings

# What a front door needs of other rooms, beside what stands here.
__all__ = ["ErrorLimit", "in_words", "parse_minutes"]

Resend = Literal["now", "end", "never"]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Send to a recruiting service on this machine, with these questions and faults (JSON files)."""

    questions: Path | None = None
    faults: Path | None = None


@dataclass(frozen=True, slots=True)
class Sending:
    """How rows are sent.

    max_errors: end the run where the service refuses more. resend_unconfirmed: when a row whose answer was lost is sent
    again. resend_rejected: also rows that were refused before and did not change. rehearsal: not to the real service.
    """

    max_errors: ErrorLimit | None = None
    resend_unconfirmed: Resend = "end"
    resend_rejected: bool = False
    rehearsal: Rehearsal | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """Import the selected rows of a file (`-`: CSV from standard input) by a mapping file, or by a folder of them.

    check_first: check every row before the first is sent, however long that takes; else the first few of a long file.
    file_shown_as, mapping_shown_as: the names that reports give file and mapping, where these are private copies.
    goes_on: the run that this one goes on with, and the service that it was for: no other may get its rows.
    """

    file: Path
    mapping: Path
    settings: Settings
    selection: Selection = ALL_ROWS
    sending: Sending = Sending()
    check_first: bool = False
    file_shown_as: str | None = None
    mapping_shown_as: str | None = None
    goes_on: tuple[str, str] | None = None

    @property
    def shown_as(self) -> str:
        """The name of the file in reports."""
        return self.file_shown_as or str(self.file)


class RunControl:
    """Steers a run, from any thread or from a signal handler. new_cancellation: its switch and clock."""

    def __init__(self, new_cancellation: Callable[[], Cancellation] = Cancellation) -> None:
        self._new_cancellation = new_cancellation
        self._cancellation: Cancellation | None = None
        self.is_stopped = False
        self.is_paused = False
        self.signal: int | None = None

    @property
    def is_sending(self) -> bool:
        """Whether rows are sent now, so that a stop ends in a report."""
        return self._cancellation is not None

    def stop(self, signal: int | None = None) -> None:
        """No new row is sent, what is in flight finishes, the report is written. `signal`: which one asked for it."""
        self.signal = signal
        self.is_stopped = True
        if (cancellation := self._cancellation) is not None:
            cancellation.set()

    def pause(self) -> None:
        """No new row is sent until `resume`, what is in flight finishes. A paused run does not give up."""
        self.is_paused = True
        if (cancellation := self._cancellation) is not None:
            cancellation.pause()

    def resume(self) -> None:
        """Go on after a `pause`."""
        self.is_paused = False
        if (cancellation := self._cancellation) is not None:
            cancellation.resume()

    @property
    def stopped(self) -> Stop | None:
        """How the report tells that a person stopped the run; None where a signal did, which the exit code tells."""
        if not self.is_stopped or self.signal is not None:
            return None
        return Stop("stopped-by-user", "the run was stopped by a user", "run the same command again; it continues here")

    @contextmanager
    def sending(self) -> Iterator[Cancellation]:
        """For the run that is steered: its switch, while this is open."""
        cancellation = self._cancellation = self._new_cancellation()
        if self.is_paused:
            cancellation.pause()
        if self.is_stopped:
            cancellation.set()
        try:
            yield cancellation
        finally:
            self._cancellation = None


# --- what happens -------------------------------------------------------------------------------


class Event:
    """What happens while an order is carried out, for whoever listens: the terminal, a page, a log, a test."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ReadyRows:
    """How many rows go to a target, and how many of them can be sent; None where the file was not read to its end."""

    run: str
    target: Target
    rows: int | None
    ready: int | None


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """File, mapping and questions fit each other, and nothing was sent yet.

    reading: how the file was read, in one line. is_split: one export goes to several targets, each with its own run.
    """

    folder: Path
    service: str
    reading: str
    targets: tuple[ReadyRows, ...]
    is_split: bool


@dataclass(frozen=True, slots=True)
class Begun(Event):
    """It is the turn of a target, until `RowsEnded`. rows: None where their number is not known yet."""

    run: str
    target: Target
    rows: int | None
    is_part: bool


@dataclass(frozen=True, slots=True)
class RowEnded(Event):
    """A row has its outcome."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Paused(Event):
    """Nothing is sent for so many seconds, and why. rows: those that wait to be sent again.

    gives_up_in: seconds until the run ends if nothing changes.
    """

    reason: str
    seconds: float
    rows: int
    gives_up_in: float


@dataclass(frozen=True, slots=True)
class Resumed(Event):
    """Rows are sent again."""


@dataclass(frozen=True, slots=True)
class Stopped(Event):
    """Sending ended before the last row had its turn, and why."""

    run: str
    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class RowsEnded(Event):
    """Every row has its outcome that will get one; what follows is the report."""

    run: str


@dataclass(frozen=True, slots=True)
class ReportWritten(Event):
    """The report of a run lies in its folder."""

    folder: Path
    summary: Summary


@dataclass(frozen=True, slots=True)
class TargetBlocked(Event):
    """Nothing is sent to one of several targets, and why."""

    run: str
    target: Target
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionsDelayed(Event):
    """The service does not list its questions; they are asked for again in so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class OtherAddressesKnown(Event):
    """The ledger has runs for other addresses, and takes this one for another service."""

    address: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EarlierRunEnded(Event):
    """An earlier run for the same target was killed; its report is written now."""

    run: str


@dataclass(frozen=True, slots=True)
class EarlierRunDamaged(Event):
    """An earlier run for the same target was killed, and cannot be reported any more."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class LeftoversRemoved(Event):
    """An earlier run was killed before it sent anything; what it left is removed."""

    run: str


Listener = Callable[[Event], None]
"""Called in the thread that carries the order out, so it must not take long."""


def ignore(_: Event) -> None:
    """Listens to nothing."""
