"""What can go wrong in a database, whichever it is: one class for each reaction."""

from __future__ import annotations


class DatabaseError(Exception):
    """The database cannot be read or written. `is_damaged`: it is not a database, or a damaged one."""

    def __init__(self, reason: str, *, is_damaged: bool = False) -> None:
        super().__init__(reason)
        self.is_damaged = is_damaged


class ConstraintError(DatabaseError):
    """A write violates a constraint of the tables: a bug of ours."""
