"""The golden folder of a sample: the expected requests and outcomes."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from importer.models import Outcome, Submission


@dataclass(frozen=True)
class GoldenRequest:
    """The expected body of the request for a row."""

    row: int
    body: dict[str, Any]

    @classmethod
    def of(cls, submission: Submission) -> GoldenRequest:
        return cls(submission.row, submission.payload())


@dataclass(frozen=True)
class GoldenOutcome:
    """The expected outcome of a row; `status` is "" where no response was read, `problems` are the codes."""

    row: int
    outcome: str
    status: str
    problems: str

    @classmethod
    def of(cls, outcome: Outcome) -> GoldenOutcome:
        codes = " ".join(problem.code for problem in outcome.problems)
        return cls(outcome.row, outcome.kind.value, str(outcome.status or ""), codes)


def read_requests(folder: Path) -> list[GoldenRequest]:
    """The requests in row order."""
    with (folder / "requests.jsonl").open(encoding="utf-8") as lines:
        return [GoldenRequest(**json.loads(line)) for line in lines]


def write_requests(folder: Path, requests: Iterable[GoldenRequest]) -> None:
    """One JSON line for each request."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "requests.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(request), ensure_ascii=False) + "\n" for request in requests)


def read_bodies(folder: Path) -> list[dict[str, Any]]:
    """The bodies that the service must have accepted, by e-mail address."""
    bodies: list[dict[str, Any]] = json.loads((folder / "accepted.json").read_text(encoding="utf-8"))
    return bodies


def write_bodies(folder: Path, bodies: Iterable[dict[str, Any]]) -> None:
    """An indented JSON list."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(sorted(bodies, key=lambda body: str(body["email"])), ensure_ascii=False, indent=1)
    (folder / "accepted.json").write_text(text + "\n", encoding="utf-8")


def read_messages(folder: Path) -> list[str]:
    """The messages that the import must print, in order."""
    return (folder / "messages.txt").read_text(encoding="utf-8").splitlines()


def write_messages(folder: Path, lines: Iterable[str]) -> None:
    """One line for each warning and problem."""
    (folder / "messages.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


OUTCOMES = "outcomes.csv"  # with a service that follows its description
OUTCOMES_WITH_FAULTS = "outcomes_with_demo_faults.csv"


def read_outcomes(folder: Path, name: str = OUTCOMES) -> list[GoldenOutcome]:
    """The outcomes in row order."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return [GoldenOutcome(**{**record, "row": int(record["row"])}) for record in csv.DictReader(file)]


def write_outcomes(folder: Path, outcomes: Iterable[GoldenOutcome], name: str = OUTCOMES) -> None:
    """One CSV line for each row of the source."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(GoldenOutcome)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(outcome) for outcome in outcomes)
