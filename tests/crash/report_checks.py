"""Checks a run's report and the ledger against what the service accepted."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from importer.ledger import Scope, State, open_existing_ledger
from importer.settings import LedgerAddress

_FILES = {
    "201_created.csv": "created",
    "409_already_exists.csv": "already_exists",
    "400_rejected.csv": "rejected",
    "invalid.csv": "invalid",
    "failed.csv": "failed",
    "unconfirmed.csv": "unconfirmed",
    "not_sent.csv": "not_sent",
    "already_imported.csv": "already_imported",
}


@dataclass(frozen=True)
class ReportedRow:
    """One row of a report."""

    row: int
    outcome: str
    problem: str


def read_report(folder: Path) -> list[ReportedRow]:
    """The rows in the CSV files of a report."""
    found = []
    for name, outcome in _FILES.items():
        if (folder / name).is_file():
            with (folder / name).open(encoding="utf-8-sig", newline="") as file:
                found += [
                    ReportedRow(int(row["import_row"]), outcome, row["import_problem"]) for row in csv.DictReader(file)
                ]
    return found


def has_started(folder: Path) -> bool:
    """Whether a run got far enough to have sent something, so that its report must be checked."""
    if not (folder / "run.json").is_file():
        return False
    return json.loads((folder / "summary.json").read_text("utf-8"))["ended_at"] is not None


@dataclass(frozen=True)
class Truth:
    """Who was accepted before a run and during it; `preexisting` existed before any run."""

    before: frozenset[str]
    during: frozenset[str]
    preexisting: frozenset[str] = frozenset()


def report_errors(reported: Sequence[ReportedRow], emails: dict[int, str], truth: Truth) -> list[str]:
    """Every row that is missing, reported twice or reported wrongly; `emails` of the rows that may be sent."""
    errors = []
    counts = Counter(one.row for one in reported)
    errors += [f"row {row} is reported {counts[row]} times" for row in emails if counts[row] != 1]
    for one in reported:
        email = emails[one.row]
        before, during = email in truth.before, email in truth.during
        is_right = {
            "created": during or (before and "a user confirmed" in one.problem),
            "already_exists": before or during,
            "already_imported": before,
            "rejected": not before and not during,
            "invalid": not before and not during,
            "failed": not before and not during,
            "not_sent": not during,
            "unconfirmed": True,
        }[one.outcome]
        if not is_right:
            errors.append(f"row {one.row} is reported as {one.outcome}; accepted before {before}, during {during}")
        is_ours = one.outcome == "already_exists" and email not in truth.preexisting
        if is_ours and "own earlier request" not in one.problem:
            errors.append(f"row {one.row} was created by our own request, but the report does not say so")
    return errors


def ledger_errors(address: LedgerAddress, scope: Scope, emails: Sequence[str], accepted: frozenset[str]) -> list[str]:
    """Candidates that the ledger has as done, not created or never sent, and that are not; [] if there is no ledger."""
    opened = open_existing_ledger(address)
    if opened is None:
        return []
    with opened as ledger:
        names = {ledger.fingerprints.identity(scope, email): email for email in emails}
        known = {names[identity]: found.state for identity, found in ledger.look_up(list(names)).items()}
    done = {email for email, state in known.items() if state in (State.CREATED, State.ALREADY_EXISTS)}
    not_created = {email for email, state in known.items() if state in (State.PLANNED, State.FAILED, State.REJECTED)}
    errors = [f"{email} is recorded as done, but does not exist" for email in done - accepted]
    errors += [f"{email} is recorded as not created, but exists" for email in not_created & accepted]
    return errors + [f"{email} exists, but was never sent" for email in (set(emails) - set(known)) & accepted]
