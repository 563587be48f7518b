"""What happens while an order is carried out, as values for whoever listens: the terminal, a page, a log, a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from importer.load import in_words as in_words
from importer.models import Outcome, Problem, Target
from importer.report import Summary


@dataclass(frozen=True, slots=True)
class ReadyRows:
    """How many rows go to a target, and how many of them can be sent; None where the file was not read to its end."""

    run: str
    target: Target
    rows: int | None
    ready: int | None


@dataclass(frozen=True, slots=True)
class Planned:
    """File, mapping and questions fit each other, and nothing was sent yet.

    reading: how the file was read, in one line. is_split: one export goes to several targets, each with its own run.
    """

    folder: Path
    service: str
    reading: str
    targets: tuple[ReadyRows, ...]
    is_split: bool


@dataclass(frozen=True, slots=True)
class Begun:
    """It is the turn of a target, until `RowsEnded`. rows: None where their number is not known yet."""

    run: str
    target: Target
    rows: int | None
    is_part: bool


@dataclass(frozen=True, slots=True)
class RowEnded:
    """A row has its outcome."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing is sent for so many seconds, and why. rows: those that wait to be sent again.

    gives_up_in: seconds until the run ends if nothing changes.
    """

    reason: str
    seconds: float
    rows: int
    gives_up_in: float


@dataclass(frozen=True, slots=True)
class Resumed:
    """Rows are sent again."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """Sending ended before the last row had its turn, and why."""

    run: str
    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class RowsEnded:
    """Every row has its outcome that will get one; what follows is the report."""

    run: str


@dataclass(frozen=True, slots=True)
class ReportWritten:
    """The report of a run lies in its folder."""

    folder: Path
    summary: Summary


@dataclass(frozen=True, slots=True)
class TargetBlocked:
    """Nothing is sent to one of several targets, and why."""

    run: str
    target: Target
    reason: str


# --- what else a person is told -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuestionsDelayed:
    """The service does not list its questions; they are asked for again in so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class OtherAddressesKnown:
    """The ledger has runs for other addresses, and takes this one for another service."""

    address: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EarlierRunEnded:
    """An earlier run for the same target was killed; its report is written now."""

    run: str


@dataclass(frozen=True, slots=True)
class EarlierRunDamaged:
    """An earlier run for the same target was killed, and cannot be reported any more."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class LeftoversRemoved:
    """An earlier run was killed before it sent anything; what it left is removed."""

    run: str


Event = (
    Planned
    | Begun
    | RowEnded
    | Paused
    | Resumed
    | Stopped
    | RowsEnded
    | ReportWritten
    | TargetBlocked
    | QuestionsDelayed
    | OtherAddressesKnown
    | EarlierRunEnded
    | EarlierRunDamaged
    | LeftoversRemoved
)
Listener = Callable[[Event], None]
"""Called in the thread that carries the order out, so it must not take long."""


def ignore(_: Event) -> None:
    """Listens to nothing."""
