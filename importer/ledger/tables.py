"""The tables of a ledger: created and checked, the same in every database except for the names of types."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from importer.ledger.database import Connection, Database
from importer.ledger.key import create_key, foreign_key, read_key
from importer.ledger.states import Fingerprints, State
from importer.problems import FilePlace, Problem, UnusableInput, unusable_file

_VERSION: Final = 3  # no earlier one was ever released

_STATES: Final = ", ".join(f"'{state}'" for state in State)

_TABLES: Final = (
    """CREATE TABLE about (
         version INTEGER NOT NULL,
         key_check {bytes} NOT NULL
       )""",
    # If purged_at is set, source, sha256, mapping and folder are empty.
    """CREATE TABLE runs (
         run {text} NOT NULL PRIMARY KEY,
         base {text} NOT NULL,
         operation {text} NOT NULL,
         target {text} NOT NULL,
         source {text} NOT NULL,
         sha256 {text} NOT NULL,
         mapping {text} NOT NULL,
         folder {text} NOT NULL,
         started_at {text} NOT NULL,
         ended_at {text},
         exit_code INTEGER,
         purged_at {text}
       )""",
    # All times below are seconds since 1970.
    """CREATE TABLE identities (
          identity {bytes} NOT NULL PRIMARY KEY,
          state {text} NOT NULL CHECK (state IN ({states})),
          status INTEGER,
          body_digest {bytes} NOT NULL,
          run {text} NOT NULL REFERENCES runs (run),
          "row" INTEGER NOT NULL,
          updated_at FLOAT NOT NULL
        )""",
    # state: of the identity after the attempt; in_flight while it is open. after_unconfirmed: an earlier request for
    # the same identity was unconfirmed when this one was intended.
    """CREATE TABLE attempts (
          run {text} NOT NULL REFERENCES runs (run),
          "row" INTEGER NOT NULL,
          number INTEGER NOT NULL,
          identity {bytes} NOT NULL REFERENCES identities (identity),
          started_at FLOAT NOT NULL,
          ended_at FLOAT,
          status INTEGER,
          state {text} NOT NULL CHECK (state IN ({states})),
          after_unconfirmed BOOLEAN NOT NULL DEFAULT FALSE,
          PRIMARY KEY (run, "row", number)
        ){by_key}""",
    "CREATE UNIQUE INDEX one_open_attempt ON attempts (identity) WHERE ended_at IS NULL",
)


COLUMNS: Final = {
    "runs": (
        *("run", "base", "operation", "target", "source", "sha256", "mapping", "folder"),
        *("started_at", "ended_at", "exit_code", "purged_at"),
    ),
    "identities": ("identity", "state", "status", "body_digest", "run", "row", "updated_at"),
    "attempts": (
        *("run", "row", "number", "identity", "started_at", "ended_at", "status", "state", "after_unconfirmed"),
    ),
}
"""What a ledger contains, in an order in which references hold."""


def initialize_or_check(database: Database, key_file: Path) -> Fingerprints:
    """Create the tables and the key of a new ledger, or check an existing one; return the hashes made with its key.

    All in one transaction, so a crash leaves a complete ledger or none.

    Raises:
        UnusableInput: it is not a ledger, has another version, or its key is missing or belongs to another ledger.
    """
    with database.transaction(writes=True) as connection:
        tables = database.tables(connection)
        if not tables:
            create_key(key_file)
            fingerprints = Fingerprints(read_key(key_file))
            for statement in (*_TABLES, *database.more_tables):
                connection.execute(statement.format(states=_STATES, **database.types))
            connection.execute("INSERT INTO about VALUES (?, ?)", (_VERSION, fingerprints.key_check()))
            return fingerprints
        if "about" not in tables:
            raise database.not_a_ledger("it is a database of another program")
        about = connection.execute("SELECT version, key_check FROM about").fetchall()
        if len(about) != 1:
            raise database.not_a_ledger("its version is missing")
        [(version, key_check)] = about
        if version != _VERSION:
            raise _other_version(database.name, version)
        fingerprints = Fingerprints(read_key(key_file))
        if fingerprints.key_check() != key_check:
            raise foreign_key(key_file)
    return fingerprints


def _other_version(name: str, version: int) -> UnusableInput:
    is_newer = version > _VERSION
    return unusable_file(
        "ledger-version",
        f"{'a newer importer' if is_newer else 'an older importer'} wrote this ledger (its version is {version}, "
        f"this importer reads {_VERSION})",
        "update this importer, or use another ledger (--out, IMPORTER_LEDGER)"
        if is_newer
        else "use the importer that wrote it, or another ledger (--out, IMPORTER_LEDGER); with a new ledger every row "
        "is sent again and the service reports which candidates it already has",
        name,
    )


# --- invariants of a ledger --------------------------------------------------------------------

_HINT: Final = "keep a copy of the file, restore it from a backup, and report this to the developers"


@dataclass(frozen=True, slots=True)
class _Invariant:
    """The query `offenders` counts what breaks it; `message` reports the count."""

    code: str
    message: str
    offenders: str


_INVARIANTS: Final = (
    _Invariant(
        "ledger-inconsistent",
        "{count} open attempts belong to candidates that are not being sent",
        """SELECT count(*) FROM attempts JOIN identities USING (identity)
           WHERE attempts.ended_at IS NULL AND identities.state <> 'in_flight'""",
    ),
    _Invariant(
        "ledger-inconsistent",
        "{count} candidates are being sent without an open attempt",
        """SELECT count(*) FROM identities WHERE state = 'in_flight' AND NOT EXISTS (
             SELECT 1 FROM attempts WHERE attempts.identity = identities.identity AND attempts.ended_at IS NULL)""",
    ),
    _Invariant(
        "ledger-inconsistent",
        "{count} candidates have a state that differs from their last attempt",
        """SELECT count(*) FROM identities WHERE state <> COALESCE((
             SELECT state FROM attempts WHERE attempts.run = identities.run AND attempts."row" = identities."row"
             AND attempts.identity = identities.identity ORDER BY number DESC LIMIT 1), '')""",
    ),
    _Invariant(
        "ledger-inconsistent",
        "{count} attempts of finished runs are still open",
        """SELECT count(*) FROM attempts JOIN runs USING (run)
           WHERE attempts.ended_at IS NULL AND runs.ended_at IS NOT NULL""",
    ),
    _Invariant(
        "ledger-inconsistent",
        "{count} requests were sent for candidates that the service had already confirmed",
        """SELECT count(*) FROM attempts AS later JOIN attempts AS earlier USING (identity, run, "row")
           WHERE later.number > earlier.number AND earlier.status IN (201, 409)""",
    ),
)


def examine(connection: Connection, database: Database) -> tuple[Problem, ...]:
    """Every broken invariant, and what the database's own checks find."""
    place = FilePlace(database.name)
    problems = [*database.own_problems(connection, _HINT)]
    for invariant in _INVARIANTS:
        (count,) = connection.execute(invariant.offenders).fetchone()
        if count:
            problems.append(Problem(invariant.code, invariant.message.format(count=count), _HINT, place))
    if not connection.execute(database.find_index, ("one_open_attempt",)).fetchone():
        message = "the index that prevents two open attempts for one candidate is missing"
        problems.append(Problem("ledger-inconsistent", message, _HINT, place))
    return tuple(problems)
