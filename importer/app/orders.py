"""Orders to import a file, their control while they run, and the events that they emit."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from importer.models import CorrectedCell, Outcome, Route, SourceOptions, Stop, TakenFile, Target
from importer.problems import UsageError
from importer.report.summary import ProblemGroup, Summary
from importer.runs.row_selection import ALL_ROWS, Selection
from importer.sending import Cancellation, ErrorLimit, LoadOptions, Paused, Resend, Window, parse_minutes, parse_window
from importer.settings import Settings

# Re-exported for the commands, together with what is defined here.
__all__ = ["ErrorLimit", "Paused", "Resend", "Window", "parse_minutes", "parse_window"]

_MAX_SKIPPED: Final = 10_000  # rows in one range


@dataclass(frozen=True, slots=True)
class SandboxSetup:
    """Send to a local sandbox with these questions and faults (JSON files)."""

    questions: Path | None = None
    faults: Path | None = None


@dataclass(frozen=True, slots=True)
class Sending(LoadOptions):
    """How the rows of an order are sent; the settings complete it. sandbox_setup: use a sandbox."""

    sandbox_setup: SandboxSetup | None = None


class Continued(NamedTuple):
    """The run whose file an order imports again, from its copy: its service, and the SHA-256 of the file."""

    run: str
    service: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Order:
    """Import the selected rows of a file with a mapping file.

    route: of a mapping that is one of a folder.
    file_shown_as, mapping_shown_as: the names of file and mapping in reports, if these are private copies.
    taken: where the file is found, if an inbox has moved it.
    continues: the run that this one continues: no other service may get its rows.
    sheet: the sheet to read, by name or number, in place of the one that the mapping names.
    reading: how the file is read, in place of what the mapping says of its own file.
    corrections: the cells of the file that are read with another text. expects: the SHA-256 of the file that was
    corrected or checked, "" for any.
    documents: where the folders of documents and the list of their IDs are, if not beside the file; by their names.
    flags: those that were given, with their values ("" for none), for the commands that the report proposes; with
    --mapping only if that is a folder, of which `mapping` is one.
    """

    file: Path
    mapping: Path
    settings: Settings
    selection: Selection = ALL_ROWS
    sending: Sending = Sending()
    file_shown_as: str | None = None
    mapping_shown_as: str | None = None
    taken: TakenFile | None = None
    continues: Continued | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    sheet: str | None = None
    reading: SourceOptions | None = None
    corrections: tuple[CorrectedCell, ...] = ()
    expects: str = ""
    documents: Mapping[str, str] = field(default_factory=dict)
    route: Route | None = None

    @property
    def shown_as(self) -> str:
        """The name of the file in reports."""
        return self.file_shown_as or str(self.file)

    def of_part(self) -> Order:
        """The same order with its share of rate and concurrency, if it is for a part."""
        part, settings = self.selection.part, self.settings
        if part is None:
            return self
        rate = None if settings.rate is None else settings.rate / part.total
        share = {"rate": rate, "concurrency": -(-settings.concurrency // part.total)}
        return replace(self, settings=settings.model_copy(update=share))


class RunControl(Cancellation):
    """Stops, pauses and resumes a run, from any thread or signal handler. is_sending: a stop ends with a report."""

    def __init__(self, speed: float = 1.0) -> None:
        super().__init__(speed)
        self.signal: int | None = None
        self.is_sending = False

    @property
    def is_stopped(self) -> bool:
        return self.is_set()

    def stop(self, by_signal: int | None = None) -> None:
        """Send no new rows, finish pending requests, write the report. by_signal: the one that caused the stop."""
        self.signal = by_signal
        self.set()

    @property
    def stopped(self) -> Stop | None:
        """The stop by a user, for the report; None after a signal, which the exit code shows."""
        if not self.is_stopped or self.signal is not None:
            return None
        return Stop("run-interrupted", "the run was stopped by a user", "run the same command again; it continues here")

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Within this context, rows are being sent."""
        self.is_sending = True
        try:
            yield
        finally:
            self.is_sending = False


def ending_signals() -> tuple[signal.Signals, ...]:
    """Those that stop a command; a closed terminal is one, unless nohup has set it to be ignored."""
    if sys.platform == "win32" or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return (signal.SIGINT, signal.SIGTERM)
    return (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# --- events -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forecast:
    """The result of checking all rows: their number, how many will be sent, and the last row number.

    groups: the rows of each candidate that has several rows. done: how many an earlier run imported. held_back: how
    many are invalid, or were rejected or unconfirmed and are not sent again; reasons: their problems, warned: the
    warnings about the others; the most frequent first.
    """

    rows: int
    ready: int
    last_row: int
    groups: tuple[tuple[int, ...], ...]
    done: int
    held_back: int
    filtered: int
    reasons: tuple[ProblemGroup, ...]
    warned: tuple[ProblemGroup, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """File, mapping and questions were checked; nothing has been sent yet.

    reading: how the file was read, in one line. sha256: of the file. warnings: those about the file or the mapping.
    """

    folder: Path
    run: str
    service: str
    target: Target
    reading: str
    dry_run: bool
    sha256: str
    forecast: Forecast
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """The rows of a plan are processed from now on; `RowsEnded` ends it."""

    run: str
    target: Target
    rows: int


@dataclass(frozen=True, slots=True)
class RowEnded:
    """A row has its outcome."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Resumed:
    """Sending continues after a pause."""


@dataclass(frozen=True, slots=True)
class RowsEnded:
    """All rows that will get an outcome have one; the report follows."""

    run: str


@dataclass(frozen=True, slots=True)
class ReportWritten:
    """The report of a run was written to its folder."""

    folder: Path
    summary: Summary


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence for a person. is_detail: it only says what is being done."""

    text: str
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class QuestionsDelayed:
    """The service does not return its questions, with the reason; the next attempt is in some seconds."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Preparing:
    """So many rows of a workbook are read, candidates checked, or documents of `total` uploaded; told now and then.

    No row has been sent yet.
    """

    what: Literal["read", "checked", "uploaded"]
    count: int
    total: int | None = None


Event = (
    Planned | Started | RowEnded | Paused | Resumed | RowsEnded | ReportWritten | Remark | QuestionsDelayed | Preparing
)
"""What happens during the execution of an order, for listeners such as the terminal."""

Listener = Callable[[Event], None]
"""Called in the thread of the run, so it must return quickly."""


def reading_file(name: str, size: int) -> Remark:
    """A file of so many bytes is being read, which takes a while."""
    return Remark(f"Reading {name} ({size / 1_000_000:,.0f} MB) ...", is_detail=True)


def ignore(_: Event) -> None:
    """A listener that does nothing."""


def refuse_to_replace(path: Path, *, force: bool) -> None:
    """Raise UsageError if a file already exists and must not be replaced."""
    if path.exists() and not force:
        raise UsageError(f"{path} already exists; choose another name with --to, or use --force to overwrite it")


def parse_row_numbers(text: str, named: str) -> tuple[int, ...]:
    """The row numbers in `3,5-7`. named: what they were given for.

    Raises UsageError: the text is not a list of row numbers.
    """
    return tuple(sorted(set(_row_numbers(text, named))))


def _row_numbers(text: str, named: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.replace(" ", "").partition("-")
        if not (
            first.isdecimal() and (last or first).isdecimal() and 0 <= int(last or first) - int(first) < _MAX_SKIPPED
        ):
            raise UsageError(f"{named} {text!r} is not a list of row numbers; write it like 3,5-7")
        yield from range(int(first), int(last or first) + 1)
