"""What must be true of a ledger, and what is not."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from importer.models import FilePlace, Problem

_HINT = "keep the file as it is, put it back from a backup, and report this: it should not be possible"


@dataclass(frozen=True, slots=True)
class _Invariant:
    """`offenders` counts what breaks it; `message` says so of that many."""

    code: str
    message: str
    offenders: str


_INVARIANTS = (
    _Invariant(
        "ledger-open-attempt-astray",
        "{count} open attempts belong to identities that are not in flight",
        """SELECT count(*) FROM attempts JOIN identities USING (identity)
           WHERE attempts.ended_at IS NULL AND identities.state <> 'in_flight'""",
    ),
    _Invariant(
        "ledger-in-flight-without-attempt",
        "{count} identities are in flight without an open attempt",
        """SELECT count(*) FROM identities WHERE state = 'in_flight' AND NOT EXISTS (
             SELECT 1 FROM attempts WHERE attempts.identity = identities.identity AND attempts.ended_at IS NULL)""",
    ),
    _Invariant(
        "ledger-state-without-attempt",
        "{count} identities are in a state that their last attempt did not leave them in",
        """SELECT count(*) FROM identities WHERE state IS NOT (
             SELECT state FROM attempts WHERE attempts.run = identities.run AND attempts.row = identities.row
             AND attempts.identity = identities.identity ORDER BY number DESC LIMIT 1)""",
    ),
    _Invariant(
        "ledger-end-without-attempt-end",
        "{count} attempts of runs that ended are still open",
        """SELECT count(*) FROM attempts JOIN runs USING (run)
           WHERE attempts.ended_at IS NULL AND runs.ended_at IS NOT NULL""",
    ),
    _Invariant(
        "ledger-sent-after-done",
        "{count} requests were sent for candidates after the service had said that they are there",
        """SELECT count(*) FROM attempts AS later JOIN attempts AS earlier USING (identity, run, row)
           WHERE later.number > earlier.number AND earlier.status IN (201, 409)""",
    ),
    _Invariant(
        "ledger-two-may-be-open",
        "the database no longer refuses a second open attempt",
        "SELECT count(*) = 0 FROM sqlite_master WHERE type = 'index' AND name = 'one_open_attempt'",
    ),
)


def examine(connection: sqlite3.Connection, place: FilePlace) -> tuple[Problem, ...]:
    """Every invariant that is broken, and what SQLite itself finds."""
    problems = []
    for (finding,) in connection.execute("PRAGMA integrity_check"):
        if finding != "ok":
            problems.append(Problem("ledger-damaged", f"the database is damaged: {finding}", _HINT, place))
    strays = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    if strays:
        problems.append(Problem("ledger-stray-rows", f"{strays} entries refer to entries that are gone", _HINT, place))
    for invariant in _INVARIANTS:
        (count,) = connection.execute(invariant.offenders).fetchone()
        if count:
            problems.append(Problem(invariant.code, invariant.message.format(count=count), _HINT, place))
    return tuple(problems)
