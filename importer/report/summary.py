"""A run as a whole: the facts that a report is given, and its summary, kept in the file summary.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from importer.atomic_files import read_private
from importer.models import ManyTargets, Operation, OutcomeKind, Target, TargetRun
from importer.problems import Column, DamagedRun, FilePlace, Origin, Problem
from importer.report.outcomes import SUMMARY_FILE

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of one run beside its rows: who, when, what file, how it ended.

    mapping: the path of the mapping file as the user named it; origin: the source as the user named it; sha256: of the
    source, hexadecimal; reading: one line that says how the file was read; columns: the source's own, in its order;
    delimiter: of the source, and so of the result CSVs; knows_types: it is known which cells a workbook kept as values,
    the source being a workbook or a results file of one; started_at, ended_at: with a time zone; warnings: whole
    messages with their places; blank_rows: wholly blank rows that were passed over (they are no rows read).
    """

    run: str
    target: Target | ManyTargets
    mapping: str
    origin: Origin
    sha256: str
    reading: str
    columns: tuple[Column, ...]
    started_at: datetime
    ended_at: datetime | None = None
    finished: bool = False
    exit_code: int | None = None
    stop_reason: str | None = None
    stop_hint: str | None = None
    target_title: str | None = None
    delimiter: str = ","
    sandbox: bool = False
    dry_run: bool = False
    warnings: tuple[str, ...] = ()
    blank_rows: int = 0
    knows_types: bool = False


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """The source as it was read. `rows` is the number of rows read, None while a run goes on."""

    file: str
    sheet: str | None
    sha256: str
    rows: int | None
    blank_rows: int
    reading: str


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests sent for rows in this run, and how many of them were not the first for their row."""

    sent: int = 0
    retried: int = 0


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Like problems of rows with one outcome: same code, same column and, where the service refused, same message.

    `message` is the first one whole, with its place and hint; `what` and `hint` are its parts. `places` names the
    first few, `count` counts all.
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

    @property
    def is_warning(self) -> bool:
        """Whether a person is to look at rows that were created."""
        return self.outcome is OutcomeKind.CREATED and bool(self.hint)


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why a run ended early, and what to do about it."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of a run. `outcomes` has every outcome, with 0 too; `files` are those of the results folder."""

    run: str
    finished: bool
    exit_code: int | None
    source: SourceSummary
    target: Target | ManyTargets
    target_title: str | None
    mapping: str
    outcomes: Mapping[OutcomeKind, int]
    requests: Requests
    problems: tuple[ProblemGroup, ...]
    warnings: tuple[str, ...]
    stopped: Stopped | None
    sandbox: bool
    dry_run: bool
    files: tuple[str, ...]
    started_at: datetime
    ended_at: datetime | None

    def rows_of(self, *kinds: OutcomeKind) -> int:
        """How many rows have one of these outcomes."""
        return sum(self.outcomes[kind] for kind in kinds)

    def to_json(self) -> dict[str, Any]:
        """The object of summary.json; its key names, those of the fields, are surface."""
        return {
            "version": VERSION,
            **asdict(self),
            "target": _target_json(self.target),
            "outcomes": {kind.value: self.outcomes[kind] for kind in OutcomeKind},
            "started_at": self.started_at.isoformat(),
            "ended_at": self.ended_at.isoformat() if self.ended_at else None,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Summary:
        """The summary that `to_json` made this object from.

        Raises:
            ValueError, KeyError, TypeError: it is not such an object, or of another version.
        """
        if values["version"] != VERSION:
            raise ValueError("it was written by another version of importer")
        known = {field.name: values[field.name] for field in fields(cls)}
        read = {
            "source": SourceSummary(**values["source"]),
            "target": _target(values["target"]),
            "outcomes": {kind: values["outcomes"][kind.value] for kind in OutcomeKind},
            "requests": Requests(**values["requests"]),
            "problems": tuple(_group(group) for group in values["problems"]),
            "warnings": tuple(values["warnings"]),
            "stopped": Stopped(**values["stopped"]) if values["stopped"] else None,
            "files": tuple(values["files"]),
            "started_at": datetime.fromisoformat(values["started_at"]),
            "ended_at": datetime.fromisoformat(values["ended_at"]) if values["ended_at"] else None,
        }
        return cls(**{**known, **read})


def _target_json(target: Target | ManyTargets) -> dict[str, Any]:
    if isinstance(target, Target):
        return {target.key: target.id}
    return {"runs": [{"run": one.run, one.target.key: one.target.id} for one in target.runs]}


def _target(values: Mapping[str, Any]) -> Target | ManyTargets:
    if "runs" in values:
        return ManyTargets(tuple(TargetRun(one["run"], _one_target(one)) for one in values["runs"]))
    return _one_target(values)


def _one_target(values: Mapping[str, str]) -> Target:
    if "job_post" in values:
        return Target(Operation.APPLY, values["job_post"])
    return Target(Operation.ADD_TO_POOL, values["talent_pool"])


def _group(values: Mapping[str, Any]) -> ProblemGroup:
    return ProblemGroup(
        **{**values, "outcome": OutcomeKind(values["outcome"]), "places": tuple(values["places"])},
    )


def write_summary(staged: Path, summary: Summary) -> None:
    """Write summary.json (UTF-8, no BOM) into a folder.

    Raises:
        OSError: it cannot be written.
    """
    text = json.dumps(summary.to_json(), ensure_ascii=False, indent=2)
    # JSON spells a lone surrogate as Python does, so that a file name that is no UTF-8 is escaped, not refused.
    (staged / SUMMARY_FILE).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")


def read_summary(folder: Path) -> Summary:
    """The summary in a run's results folder.

    Raises:
        DamagedRun: there is none, or it is damaged or from another version of importer.
    """
    path = folder / SUMMARY_FILE
    try:
        return Summary.from_json(json.loads(read_private(path)))
    except FileNotFoundError:
        message = "this folder does not contain a summary"
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the summary of this run cannot be read: {type(error).__name__} {error}"
    hint = f"create it again with: importer report {folder}"
    raise DamagedRun(Problem("summary-unreadable", message, hint, FilePlace(str(path))))
