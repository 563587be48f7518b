"""Brings each row together with its outcome, in one pass over both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from importer.models import Outcome, Row
from importer.report.reported import ReportedRow


class Unaccounted(AssertionError):
    """A row has no outcome, or an outcome no row: a bug of ours, never the user's."""


def pair(rows: Iterable[Row], outcomes: Iterable[Outcome]) -> Iterator[ReportedRow]:
    """Each row with its outcome; both must come in ascending order of row number. Memory stays flat.

    Raises:
        Unaccounted: not every row has exactly one outcome.
    """
    waiting = iter(outcomes)
    for row in rows:
        outcome = next(waiting, None)
        if outcome is None or outcome.row > row.number:
            raise Unaccounted(f"row {row.number} of {row.origin.file} has no outcome")
        if outcome.row < row.number:
            raise _left_over(outcome)
        yield ReportedRow(row, outcome)
    outcome = next(waiting, None)
    if outcome is not None:
        raise _left_over(outcome)


def _left_over(outcome: Outcome) -> Unaccounted:
    return Unaccounted(f"the outcome {outcome.kind} of row {outcome.row} has no row, or the row has a second outcome")
