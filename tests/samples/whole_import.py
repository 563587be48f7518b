"""Reads and transforms a sample: its submissions, and the outcomes of rows that are not sent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from importer.extract import ReadingLimits, open_sheet
from importer.mapping import read_mapping, resolve
from importer.models import Operation, Outcome, OutcomeKind, Submission, Target
from importer.service import RecruitingService
from importer.settings import WireFormat
from importer.transform import Duplicates, Filtered, Invalid, transform_row


@dataclass(frozen=True)
class Prepared:
    """Every row of a file: a submission, or the outcome of a row that is not sent."""

    target: Target
    submissions: tuple[Submission, ...]
    outcomes: tuple[Outcome, ...]


def prepare(file: Path, mapping_file: Path, service: RecruitingService) -> Prepared:
    """Read and transform every row, with the current questions of the service."""
    mapping = read_mapping(mapping_file)
    sheet = open_sheet(file, mapping.source, ReadingLimits())
    asks = mapping.target.operation is Operation.APPLY
    questions = service.questions(mapping.target.id) if asks else ()
    resolved = resolve(mapping, sheet.columns, questions, WireFormat())
    duplicates = Duplicates(resolved)
    submissions: list[Submission] = []
    outcomes: list[Outcome] = []
    for row in sheet.rows():
        result = transform_row(row, resolved)
        if isinstance(result, Filtered):
            outcomes.append(Outcome(row.number, OutcomeKind.FILTERED, problems=(result.problem,)))
            continue
        problems = result.problems if isinstance(result, Invalid) else ()
        if result.email and (duplicate := duplicates.check(row, result.email, ready=not problems)):
            problems += (duplicate,)
        if problems or isinstance(result, Invalid):
            outcomes.append(Outcome(row.number, OutcomeKind.INVALID, problems=problems))
        else:
            submissions.append(result)
    return Prepared(mapping.target, tuple(submissions), tuple(outcomes))
