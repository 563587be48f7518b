"""Makes a row into what is sent, or into all that is wrong with it."""

from __future__ import annotations

from importer.mapping import ResolvedMapping
from importer.models import Application, CellPlace, PoolCandidate, Problem, Row
from importer.transform.body import body_reader
from importer.transform.filter import filtered
from importer.transform.results import Filtered, Invalid


def transform_row(row: Row, mapping: ResolvedMapping) -> Application | PoolCandidate | Filtered | Invalid:
    """The body of the request for a row (service description 4.2 or 4.3), or why there is none.

    Pure: opens no file, sends nothing, reads no clock. Never raises for what cells hold.
    """
    left_out = filtered(row, mapping.filters)
    if left_out is not None:
        return left_out
    found: list[Problem] = []
    body = body_reader(mapping).read(row, found)
    # A cell that reading could not make sense of is told once, by the room that saw it first.
    seen = [problem for problem in row.problems if not _is_of_no_matter(problem, mapping)]
    told = {problem.place for problem in seen}
    problems = [*seen, *(problem for problem in found if problem.place not in told)]
    return Invalid(row.number, tuple(dict.fromkeys(problems))) if problems else body


def _is_of_no_matter(problem: Problem, mapping: ResolvedMapping) -> bool:
    """Whether it is in a cell that nothing takes: an error value in a column of remarks holds up no candidate."""
    place = problem.place
    return isinstance(place, CellPlace) and place.column is not None and place.column.index in mapping.unread
