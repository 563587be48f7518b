"""The facts of a run, and its summary, which is stored in summary.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from importer.files import read_private
from importer.models import ID_COLUMN, IMPORT_COLUMNS, NEEDS_ATTENTION, Operation, OutcomeKind, Stop, TakenFile, Target
from importer.problems import Column, DamagedRun, Severity, file_problem
from importer.report.outcomes import SUMMARY_FILE, OutcomeText, outcome_text
from importer.text.terminal import command_line

VERSION: Final = 2
PLACES_KEPT: Final = 5  # of a group of problems


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What is known of a run in its report and in its summary.

    mapping: as the user named it; started_at, ended_at: with a time zone; warnings: full messages with their places;
    flags: those of the command, with their values, --mapping only if it was a folder; continues: the run that this one
    continues.
    """

    run: str
    source: SourceSummary
    target: Target
    mapping: str
    started_at: datetime
    ended_at: datetime | None = None
    finished: bool = False
    exit_code: int | None = None
    stopped: Stop | None = None
    sandbox: bool = False
    dry_run: bool = False
    warnings: tuple[str, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    continues: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts(RunState):
    """The facts of one run, without its rows.

    columns: those of the source, in order; delimiter: of the source, also used for the results CSVs; identity: the
    indexes of the columns of the e-mail, and those of the name; has_ids: whether created rows have the ID of their
    candidate.
    """

    columns: tuple[Column, ...]
    delimiter: str = ","
    identity: tuple[tuple[int, ...], ...] = ()
    has_ids: bool = False

    @property
    def import_columns(self) -> tuple[str, ...]:
        """The columns of ours."""
        return (*IMPORT_COLUMNS, ID_COLUMN) if self.has_ids else IMPORT_COLUMNS


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """The source, as the user named it.

    sha256: hexadecimal; reading: how the file was read, in one line; rows: how many were read, None while the run is
    not finished; blank_rows: those that were skipped, not counted as read; taken: where an inbox has moved it.
    """

    file: str
    sheet: str | None
    sha256: str
    reading: str
    rows: int | None = None
    blank_rows: int = 0
    taken: TakenFile | None = None


@dataclass(frozen=True, slots=True)
class Requests:
    """The number of requests sent for rows in this run, and how many of them were retries."""

    sent: int = 0
    retried: int = 0


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems with the same outcome, code and column and, if the service rejected the rows, the same message.

    `message`: the first one with its place and hint; `what` and `hint`: its parts. `places`: the first few; `count`:
    of all; `severity`: see Problem.
    """

    code: str
    column: str | None
    count: int
    example_row: int
    message: str
    outcome: OutcomeKind
    what: str
    hint: str
    places: tuple[str, ...]
    severity: Severity = "error"

    @property
    def is_warning(self) -> bool:
        """Whether it does not hold its rows back, but a person should check them."""
        return self.severity == "warning"

    @property
    def where(self) -> str:
        """The first places, and how many more there are: `F7, F12 and 3 more`."""
        rest = self.count - len(self.places) if len(self.places) == PLACES_KEPT else 0
        return ", ".join(self.places) + (f" and {rest:,} more" if rest else "")

    @property
    def is_to_fix(self) -> bool:
        """Whether it is why its rows need action."""
        return self.outcome in NEEDS_ATTENTION and not self.is_warning


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(RunState):
    """The summary of a run. `outcomes` has every outcome, also with 0; `files`: those of the results folder."""

    outcomes: Mapping[OutcomeKind, int]
    requests: Requests
    problems: tuple[ProblemGroup, ...]
    files: tuple[str, ...]

    def words(self, kind: OutcomeKind) -> OutcomeText:
        """The texts for an outcome."""
        return outcome_text(kind, dry_run=self.dry_run)

    def rows_of(self, *kinds: OutcomeKind) -> int:
        """How many rows have one of these outcomes."""
        return sum(self.outcomes[kind] for kind in kinds)

    def count_of(self, code: str) -> int:
        """How many rows have a problem with this code."""
        return sum(group.count for group in self.problems if group.code == code)

    @property
    def is_complete(self) -> bool:
        """Whether no row is left to be fixed or sent."""
        return not self.rows_of(*NEEDS_ATTENTION, OutcomeKind.NOT_SENT)

    @property
    def to_fix(self) -> list[ProblemGroup]:
        """Why rows need action."""
        return [group for group in self.problems if group.is_to_fix]

    @property
    def warned(self) -> list[ProblemGroup]:
        """What does not hold rows back, but should be checked."""
        return [group for group in self.problems if group.is_warning]

    @property
    def notes(self) -> list[ProblemGroup]:
        """What is only to be known."""
        return [group for group in self.problems if not (group.is_to_fix or group.is_warning)]

    def to_json(self) -> dict[str, Any]:
        """The object of summary.json; its keys, which are the field names, must stay stable."""
        moments = {"started_at": self.started_at.isoformat(), "ended_at": self.ended_at and self.ended_at.isoformat()}
        target = {self.target.key: self.target.id}
        return {"version": VERSION, **asdict(self), "target": target, **moments}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Summary:
        """The summary from its JSON object.

        Raises ValueError, KeyError, TypeError: it is not a summary, or has another version.
        """
        if values["version"] != VERSION:
            raise ValueError("it was written by another version of importer")
        read = _READER.validate_python({**values, "target": _target(values["target"])})
        if set(read.outcomes) != set(OutcomeKind):
            raise ValueError("it does not have every outcome")
        return read


_READER: Final = TypeAdapter(Summary)


def _target(values: Mapping[str, Any]) -> Target:
    operation = Operation.APPLY if "job_post" in values else Operation.ADD_TO_POOL
    return Target(operation, values["job_post" if operation is Operation.APPLY else "talent_pool"])


def write_summary(staged: Path, summary: Summary) -> None:
    """Write summary.json (UTF-8, no BOM) into a folder. Raises OSError."""
    text = json.dumps(summary.to_json(), ensure_ascii=False, indent=2)
    # A file name may not be UTF-8: then it is escaped.
    (staged / SUMMARY_FILE).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")


def read_summary(folder: Path) -> Summary:
    """The summary in a run's results folder. Raises DamagedRun: it is missing, damaged, or of another version."""
    path = folder / SUMMARY_FILE
    try:
        return Summary.from_json(json.loads(read_private(path)))
    except FileNotFoundError:
        message = "this folder does not contain a summary"
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the summary of this run cannot be read: {type(error).__name__} {error}"
    hint = f"create it again with: {command_line('report', folder.name, flags={'--out': str(folder.parent)})}"
    raise DamagedRun(file_problem("run-unreadable", message, hint, path))
