"""Says whether a row is left out by a filter of the mapping."""

from __future__ import annotations

from collections.abc import Sequence

from importer.mapping import ResolvedFilter
from importer.models import Problem, Row
from importer.text.normalize import normalize
from importer.transform.refusal import quoted
from importer.transform.results import Filtered
from importer.transform.texts import stripped


def filtered(row: Row, filters: Sequence[ResolvedFilter]) -> Filtered | None:
    """The row as left out by the first filter that does not take it, or None where it counts.

    A row whose filter cell was not read for sure counts.
    """
    for one in filters:
        if any(problem.column in (None, one.column.label) for problem in row.problems) or takes(one, row):
            continue
        text = stripped(row.cells[one.column.index])
        said = quoted(text) if text else "blank"
        message = f"left out by {one.label}:, the cell is {said}"
        return Filtered(row.number, Problem("filtered", message, "", row.place(one.column)))
    return None


def takes(one: ResolvedFilter, row: Row) -> bool:
    """Whether the filter takes the row."""
    return (normalize(stripped(row.cells[one.column.index])) in one.words) is not one.negated
