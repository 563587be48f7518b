"""The file summary.json: rows are counted and like problems grouped while they pass by, then the summary is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from importer.atomic_files import read_private
from importer.errors import DamagedRun
from importer.models import CREATED_EMAILS, CREATED_OTHER_EMAIL, NOT_GOOD, FilePlace, OutcomeKind, Problem
from importer.report.outcomes import SUMMARY_FILE
from importer.report.reported_row import ReportedRow, Unaccounted, place_in_list
from importer.report.summary import ProblemGroup, Requests, RunFacts, SourceSummary, Stopped, Summary

# A service that puts the row's own values into its messages must not make a group, and memory, of each row.
MOST_GROUPS: Final = 500
_PLACES_KEPT: Final = 5

# Their messages are the service's words or tell of the connection: like codes do not mean like causes.
_GROUPED_BY_MESSAGE: Final = frozenset(NOT_GOOD) - {OutcomeKind.INVALID}
# Of a value that no table or question knows, each is a group of its own: a person adds them to the table one by one.
# And each created row whose response names somebody else is looked at by itself.
_GROUPED_BY_VALUE: Final = frozenset({"value-unknown", "choice-unknown", CREATED_OTHER_EMAIL, CREATED_EMAILS})


class SummaryFile:
    """Counts what becomes of the rows, and writes summary.json; a ReportWriter, and the one who makes the summary."""

    files = (SUMMARY_FILE,)

    def __init__(self, staged: Path) -> None:
        self._folder = staged
        self._rows = 0
        self._outcomes = dict.fromkeys(OutcomeKind, 0)
        self._sent = 0
        self._retried = 0
        self._groups: dict[_Key, _Group] = {}

    def add(self, reported: ReportedRow) -> None:
        """Count one row."""
        outcome = reported.outcome
        self._rows += 1
        self._outcomes[outcome.kind] += 1
        self._sent += outcome.attempts
        self._retried += max(outcome.attempts - 1, 0)
        for problem in outcome.problems:
            self._add_problem(problem, reported)

    def _add_problem(self, problem: Problem, reported: ReportedRow) -> None:
        key = self._key(problem, reported.outcome.kind)
        group = self._groups.setdefault(key, _Group(problem, reported.row.number))
        group.count += 1
        if len(group.places) < _PLACES_KEPT:
            group.places.append(place_in_list(problem.place, reported.row))

    def _key(self, problem: Problem, outcome: OutcomeKind) -> _Key:
        by_message = outcome in _GROUPED_BY_MESSAGE or problem.code in _GROUPED_BY_VALUE
        message = problem.message if by_message else None
        key = _Key(outcome, problem.code, problem.column, message)
        if key in self._groups or len(self._groups) < MOST_GROUPS:
            return key
        return _Key(outcome, problem.code, problem.column, None)

    def summary(self, facts: RunFacts, files: Iterable[str], *, rows_are_read: bool = True) -> Summary:
        """What the rows add up to; `files` are those of the report. Without `rows_are_read` a run is only beginning.

        Raises:
            Unaccounted: not every row was counted once, a bug of ours.
        """
        counted = sum(self._outcomes.values())
        if counted != self._rows:
            raise Unaccounted(f"{self._rows} rows were read, but {counted} outcomes counted")
        groups = [group.as_problem_group(key) for key, group in self._groups.items()]
        stopped = facts.stop_reason is not None
        return Summary(
            run=facts.run,
            finished=facts.finished,
            exit_code=facts.exit_code,
            source=SourceSummary(
                file=facts.origin.file,
                sheet=facts.origin.sheet,
                sha256=facts.sha256,
                rows=self._rows if rows_are_read else None,
                blank_rows=facts.blank_rows,
                reading=facts.reading,
            ),
            target=facts.target,
            target_title=facts.target_title,
            mapping=facts.mapping,
            outcomes=dict(self._outcomes),
            requests=Requests(self._sent, self._retried),
            # The largest first, then by the row where they first occur.
            problems=tuple(sorted(groups, key=lambda group: (-group.count, group.example_row))),
            warnings=facts.warnings,
            stopped=Stopped(facts.stop_reason or "", facts.stop_hint or "") if stopped else None,
            sandbox=facts.sandbox,
            dry_run=facts.dry_run,
            files=tuple(files),
            started_at=facts.started_at,
            ended_at=facts.ended_at,
        )

    def finish(self, summary: Summary, folder: Path) -> None:
        """Write summary.json (UTF-8, no BOM).

        Raises:
            OSError: it cannot be written.
        """
        text = json.dumps(summary.to_json(), ensure_ascii=False, indent=2)
        # JSON spells a lone surrogate as Python does, so that a file name that is no UTF-8 is escaped, not refused.
        (self._folder / SUMMARY_FILE).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class _Key:
    outcome: OutcomeKind
    code: str
    column: str | None
    message: str | None


@dataclass(slots=True)
class _Group:
    """A group that still grows; the first problem in it is its example."""

    example: Problem
    example_row: int
    count: int = 0
    places: list[str] = field(default_factory=list)

    def as_problem_group(self, key: _Key) -> ProblemGroup:
        return ProblemGroup(
            code=key.code,
            column=key.column,
            count=self.count,
            example_row=self.example_row,
            message=str(self.example),
            outcome=key.outcome,
            what=self.example.message,
            hint=self.example.hint,
            places=tuple(self.places),
        )


def read_summary(folder: Path) -> Summary:
    """The summary in a run's results folder.

    Raises:
        DamagedRun: there is none, or it is damaged or from another version of importer.
    """
    path = folder / SUMMARY_FILE
    try:
        return Summary.from_json(json.loads(read_private(path)))
    except FileNotFoundError:
        message = "there is no summary in this folder"
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the summary of this run cannot be read: {type(error).__name__} {error}"
    hint = f"write it again: importer report {folder}"
    raise DamagedRun(Problem("summary-unreadable", message, hint, FilePlace(str(path))))
