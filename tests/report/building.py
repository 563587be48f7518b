"""Small runs of invented people to report on."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from importer.models import Operation, Outcome, OutcomeKind, Row, Target
from importer.problems import Column, Origin, Problem
from importer.report.summary import RunFacts, SourceSummary

ORIGIN = Origin("candidates.xlsx", "Candidates")
CSV_ORIGIN = Origin("candidates.csv")
COLUMNS = tuple(
    Column(index, letter, name)
    for index, (letter, name) in enumerate([("A", "ID"), ("B", "E-mail"), ("C", "Mobile"), ("D", "Degree 1")])
)
DEGREE = COLUMNS[3]
MOBILE = COLUMNS[2]
_ISTANBUL = timezone(timedelta(hours=3))

FACTS = RunFacts(
    run="20261121-021503-7f3a",
    target=Target(Operation.APPLY, "4f2c9a"),
    mapping="mappings/zoho.yaml",
    source=SourceSummary(ORIGIN.file, ORIGIN.sheet, "ab" * 32, "XLSX, sheet Candidates, header in row 3, 4 columns"),
    columns=COLUMNS,
    started_at=datetime(2026, 11, 21, 2, 15, 3, tzinfo=_ISTANBUL),
    ended_at=datetime(2026, 11, 21, 2, 19, 40, tzinfo=_ISTANBUL),
    finished=True,
    exit_code=0,
    identity=((1,), (0,)),
)


def facts_with(*, origin: Origin = ORIGIN, blank_rows: int = 0, **changes: object) -> RunFacts:
    source = replace(FACTS.source, file=origin.file, sheet=origin.sheet, blank_rows=blank_rows)
    return replace(FACTS, source=source, **changes)  # type: ignore[arg-type]


def row(number: int, *cells: str, origin: Origin = ORIGIN) -> Row:
    """A row of the four columns, with default cells."""
    usual = (f"{number:04d}", f"person{number}@example.com", "020 7946 0123", "Lisans")
    return Row(origin, number, cells + usual[len(cells) :])


def rows(numbers: Iterable[int]) -> Iterator[Row]:
    return (row(number) for number in numbers)


def created(numbers: Iterable[int]) -> Iterator[Outcome]:
    return (Outcome(number, OutcomeKind.CREATED, 201, attempts=1) for number in numbers)


def bad_degree(of: Row) -> Problem:
    return Problem(
        "value-unknown",
        f"{of.cells[3]!r} is not a degree that the service accepts",
        "add it under values: in mappings/zoho.yaml:41",
        of.place(DEGREE),
    )


def bad_mobile(of: Row) -> Problem:
    return Problem(
        "phone-invalid", f"{of.cells[2]!r} is not a valid phone number", "write it with its country", of.place(MOBILE)
    )


def refused(message: str, hint: str = "fix the row") -> Problem:
    return Problem("refused", message, hint)


def read_csv(path: Path, delimiter: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter, strict=True))


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
