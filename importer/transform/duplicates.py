"""Finds rows of one file that are about the same e-mail address."""

from __future__ import annotations

import hashlib

from importer.mapping.resolved import ResolvedMapping
from importer.models import Application, PoolCandidate, Problem, Row


class Duplicates:
    """Remembers the e-mail of each row that is sent: as a hash, so that a million rows fit into memory.

    The service takes one application for each person and job post, and one candidate for each e-mail and pool
    (service description, part 8), so that the first row wins and each later one is a problem.
    """

    def __init__(self, mapping: ResolvedMapping) -> None:
        self._columns = mapping.candidate.email.columns
        self._first_row: dict[int, int] = {}

    def check(self, row: Row, body: Application | PoolCandidate) -> Problem | None:
        """The problem of a row whose e-mail an earlier row has, or None; then the row is remembered."""
        digest = hashlib.blake2b(body.email.casefold().encode(), digest_size=16).digest()
        first = self._first_row.setdefault(int.from_bytes(digest), row.number)
        if first == row.number:
            return None
        message = f"the e-mail is the same as in row {first}, which is used"
        column = next((column for column in self._columns if row.cells[column.index].strip()), None)
        return Problem("duplicate-email", message, "remove one of the two rows", row.place(column))
