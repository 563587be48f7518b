"""Holds what a run's report says of each row against the truth."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from importer.ledger import Scope, State, open_ledger

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
class Told:
    """One row of a report."""

    row: int
    outcome: str
    problem: str


def told_in(folder: Path) -> list[Told]:
    """What the CSV files of a report say of each row."""
    found = []
    for name, outcome in _FILES.items():
        if (folder / name).is_file():
            with (folder / name).open(encoding="utf-8-sig", newline="") as file:
                found += [Told(int(row["import_row"]), outcome, row["import_problem"]) for row in csv.DictReader(file)]
    return found


def has_begun(folder: Path) -> bool:
    """Whether a run came so far that it might have sent something: its report is to be checked."""
    if not (folder / "run.json").is_file():
        return False
    return json.loads((folder / "summary.json").read_text("utf-8"))["ended_at"] is not None


@dataclass(frozen=True)
class Truth:
    """Whom the service accepted before a run, and whom while it went on; `strangers` were there before any run."""

    before: frozenset[str]
    during: frozenset[str]
    strangers: frozenset[str] = frozenset()


def untrue(told: Sequence[Told], emails: dict[int, str], truth: Truth) -> list[str]:
    """Every row that is missing, told twice, or told as what it is not; `emails` by row, of rows that may be sent."""
    faults = []
    counts = Counter(one.row for one in told)
    faults += [f"row {row} is told {counts[row]} times" for row in emails if counts[row] != 1]
    for one in told:
        email = emails[one.row]
        before, during = email in truth.before, email in truth.during
        is_so = {
            "created": during or (before and "a user confirmed" in one.problem),
            "already_exists": before or during,
            "already_imported": before,
            "rejected": not before and not during,
            "invalid": not before and not during,
            "failed": not before and not during,
            "not_sent": not during,
            "unconfirmed": True,
        }[one.outcome]
        if not is_so:
            faults.append(f"row {one.row} is told as {one.outcome}; accepted before {before}, during {during}")
        is_ours = one.outcome == "already_exists" and email not in truth.strangers
        if is_ours and "own earlier request" not in one.problem:
            faults.append(f"row {one.row} is there by our own attempt, and is not told so")
    return faults


def untrue_in_ledger(path: Path, scope: Scope, emails: Sequence[str], accepted: frozenset[str]) -> list[str]:
    """Everybody whom the ledger knows as done, absent or never sent, and who is not."""
    with open_ledger(path) as ledger:
        names = {ledger.fingerprints.identity(scope, email): email for email in emails}
        known = {names[identity]: found.state for identity, found in ledger.look_up(list(names)).items()}
    done = {email for email, state in known.items() if state in (State.CREATED, State.ALREADY_EXISTS)}
    absent = {email for email, state in known.items() if state in (State.PLANNED, State.FAILED, State.REJECTED)}
    faults = [f"{email} is known as done, and is not there" for email in done - accepted]
    faults += [f"{email} is recorded as not created, and is there" for email in absent & accepted]
    return faults + [f"{email} is there, and was never sent" for email in (set(emails) - set(known)) & accepted]
