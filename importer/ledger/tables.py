"""The tables of a ledger: created and checked, the same in every database except for the names of types."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from importer.ledger.database import Connection, Database
from importer.ledger.key import create_key, foreign_key, read_key
from importer.ledger.states import Fingerprints, State
from importer.problems import FilePlace, Problem, UnusableInput, unusable_file

_VERSION: Final = 4  # no earlier one was ever released

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
    # updated_at: seconds since 1970. status: the last one received. attempts: requests of that run for the row.
    """CREATE TABLE people (
          identity {bytes} NOT NULL PRIMARY KEY,
          state {text} NOT NULL CHECK (state IN ({states})),
          status INTEGER,
          body_digest {bytes} NOT NULL,
          run {text} NOT NULL REFERENCES runs (run),
          "row" INTEGER NOT NULL,
          after_unconfirmed BOOLEAN NOT NULL,
          attempts INTEGER NOT NULL,
          updated_at FLOAT NOT NULL
        ){by_key}""",
    'CREATE INDEX people_of_run ON people (run, "row")',
)


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
        "{count} candidates are being sent by runs that have ended",
        """SELECT count(*) FROM people JOIN runs USING (run)
           WHERE state = 'in_flight' AND runs.ended_at IS NOT NULL""",
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
    return tuple(problems)
