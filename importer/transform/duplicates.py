"""Finds rows of one file that are about the same e-mail address."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Protocol

from importer.mapping import Repeated, ResolvedMapping
from importer.models import Application, PoolCandidate, Problem, Row

_SECRET = secrets.token_bytes(16)  # of this process: what is kept for an e-mail tells nobody else which one it was


class RemembersRows(Protocol):
    """Remembers the first row that came with each key: a dict, or what needs less memory."""

    def setdefault(self, key: bytes, row: int, /) -> int: ...


class Duplicates:
    """Remembers the e-mail of each row that is sent, as a keyed hash.

    The service takes one application for each person and job post, and one candidate for each e-mail and pool
    (service description, part 8), so that the first row wins and each later one is a problem; or, where the mapping
    says `duplicates: error`, each of them is.
    """

    def __init__(
        self,
        mapping: ResolvedMapping,
        repeated: Mapping[bytes, int] | None = None,
        first_rows: RemembersRows | None = None,
    ) -> None:
        """`repeated`: what an earlier look at all rows found, so that the first of like rows is known too."""
        self._columns = mapping.candidate.email.columns
        self._none_wins = mapping.repeated is Repeated.ERROR
        self._first_row: RemembersRows = {} if first_rows is None else first_rows
        self._known = repeated or {}
        self.repeated: dict[bytes, int] = {}  # the second row of each e-mail that several rows have

    def check(self, row: Row, body: Application | PoolCandidate) -> Problem | None:
        """The problem of a row whose e-mail another row has, or None; then the row is remembered."""
        key = hashlib.blake2b(body.email.casefold().encode(), digest_size=16, key=_SECRET).digest()
        first = self._first_row.setdefault(key, row.number)
        if first != row.number:
            self.repeated.setdefault(key, row.number)
            return self._problem(row, first)
        second = self._known.get(key) if self._none_wins else None
        return self._problem(row, second) if second is not None else None

    def _problem(self, row: Row, other: int) -> Problem:
        which = "and neither is sent" if self._none_wins else "which is used"
        message = f"the e-mail is the same as in row {other}, {which}"
        column = next((column for column in self._columns if row.cells[column.index].strip()), None)
        return Problem("duplicate-email", message, "remove one of the two rows", row.place(column))
