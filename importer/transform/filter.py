"""Says whether a row is left out by the mapping's `where`."""

from __future__ import annotations

from importer.mapping.fold import fold
from importer.mapping.resolved import ResolvedFilter
from importer.models import Problem, Row
from importer.transform.refusal import quoted
from importer.transform.results import Filtered
from importer.transform.texts import stripped


def filtered(row: Row, where: ResolvedFilter | None) -> Filtered | None:
    """The row as left out, or None where it counts. A row whose filter cell was not read for sure counts."""
    if where is None or any(p.column in (None, where.column.label) for p in row.problems):
        return None
    text = stripped(row.cells[where.column.index])
    if (fold(text) in where.words) is not where.negated:
        return None
    said = quoted(text) if text else "blank"
    problem = Problem("filtered", f"left out by where:, the cell is {said}", "", row.place(where.column))
    return Filtered(row.number, problem)
