"""The tables of a ledger in SQLite: made, brought up to date, checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from importer.ledger.key import adopt_key, create_key, foreign_key, key_path, read_key
from importer.ledger.states import Fingerprints, State
from importer.problems import FilePlace, Problem, UnusableInput
from importer.sqlite_file import Connection, SqliteFile, not_a_database

_VERSION: Final = 2

_STATES: Final = ", ".join(f"'{state}'" for state in State)

_TABLES: Final = (
    """CREATE TABLE about (
         version INTEGER NOT NULL,
         key_check BLOB NOT NULL
       )""",
    # Since purged_at, source, hash, mapping and folder are empty.
    """CREATE TABLE runs (
         run VARCHAR NOT NULL PRIMARY KEY,
         base VARCHAR NOT NULL,
         operation VARCHAR NOT NULL,
         target VARCHAR NOT NULL,
         source VARCHAR NOT NULL,
         sha256 VARCHAR NOT NULL,
         mapping VARCHAR NOT NULL,
         folder VARCHAR NOT NULL,
         started_at VARCHAR NOT NULL,
         ended_at VARCHAR,
         exit_code INTEGER,
         purged_at VARCHAR
       )""",
    # updated_at, as every time below: seconds since 1970.
    f"""CREATE TABLE identities (
          identity BLOB NOT NULL PRIMARY KEY,
          state VARCHAR NOT NULL CHECK (state IN ({_STATES})),
          status INTEGER,
          body_digest BLOB NOT NULL,
          run VARCHAR NOT NULL REFERENCES runs (run),
          "row" INTEGER NOT NULL,
          updated_at FLOAT NOT NULL
        )""",
    # state: what the attempt left its identity in; in_flight while it is open. after_doubt: an earlier request for
    # the same identity was in doubt when this one was intended.
    f"""CREATE TABLE attempts (
          run VARCHAR NOT NULL REFERENCES runs (run),
          "row" INTEGER NOT NULL,
          number INTEGER NOT NULL,
          identity BLOB NOT NULL REFERENCES identities (identity),
          started_at FLOAT NOT NULL,
          ended_at FLOAT,
          status INTEGER,
          state VARCHAR NOT NULL CHECK (state IN ({_STATES})),
          after_doubt BOOLEAN NOT NULL DEFAULT 0,
          PRIMARY KEY (run, "row", number)
        ) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX one_open_attempt ON attempts (identity) WHERE ended_at IS NULL",
)

# What leads from each version to the next. A step is never changed once it was released; a new one is added.
_MIGRATIONS: Final[dict[int, tuple[str, ...]]] = {
    1: (
        "ALTER TABLE runs ADD COLUMN purged_at VARCHAR",
        "ALTER TABLE attempts ADD COLUMN after_doubt BOOLEAN NOT NULL DEFAULT 0",
    ),
}


def initialize_or_check(file: SqliteFile) -> Fingerprints:
    """Make the tables and the key of a new ledger, or check an old one and bring it up to date.

    All in one transaction: after a crash the ledger is the old one, or none. Gives what identities are made with.

    Raises:
        UnusableInput: it is no ledger, was written by a newer importer, or its key is gone or another's.
    """
    path = file.path
    with file.transaction(writes=True) as connection:
        adopt_key(path)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            create_key(key_path(path))
            fingerprints = Fingerprints(read_key(key_path(path)))
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES (?, ?)", (_VERSION, fingerprints.key_check()))
            return fingerprints
        if "about" not in tables:
            raise not_a_database(path, "it is a database of another program")
        about = connection.execute("SELECT version, key_check FROM about").fetchall()
        if len(about) != 1:
            raise not_a_database(path, "its version is missing")
        [(version, key_check)] = about
        if version > _VERSION:
            raise _newer(path, version)
        fingerprints = Fingerprints(read_key(key_path(path)))
        if fingerprints.key_check() != key_check:
            raise foreign_key(key_path(path))
        for step in range(version, _VERSION):
            for statement in _MIGRATIONS[step]:
                connection.execute(statement)
            connection.execute("UPDATE about SET version = ?", (step + 1,))
    return fingerprints


def _newer(path: Path, version: int) -> UnusableInput:
    return UnusableInput(
        Problem(
            "ledger-too-new",
            f"a newer importer wrote this ledger (its version is {version}, this importer reads {_VERSION})",
            "update this importer, or choose another folder with --out",
            FilePlace(str(path)),
        )
    )


# --- what must be true of a ledger --------------------------------------------------------------

_HINT: Final = "keep a copy of the file, restore it from a backup, and report this to the developers"


@dataclass(frozen=True, slots=True)
class _Invariant:
    """`offenders` counts what breaks it; `message` says so of that many."""

    code: str
    message: str
    offenders: str


_INVARIANTS: Final = (
    _Invariant(
        "ledger-attempt-state-mismatch",
        "{count} open attempts belong to candidates that are not being sent",
        """SELECT count(*) FROM attempts JOIN identities USING (identity)
           WHERE attempts.ended_at IS NULL AND identities.state <> 'in_flight'""",
    ),
    _Invariant(
        "ledger-attempt-missing",
        "{count} candidates are being sent without an open attempt",
        """SELECT count(*) FROM identities WHERE state = 'in_flight' AND NOT EXISTS (
             SELECT 1 FROM attempts WHERE attempts.identity = identities.identity AND attempts.ended_at IS NULL)""",
    ),
    _Invariant(
        "ledger-state-mismatch",
        "{count} candidates have a state that differs from their last attempt",
        """SELECT count(*) FROM identities WHERE state IS NOT (
             SELECT state FROM attempts WHERE attempts.run = identities.run AND attempts.row = identities.row
             AND attempts.identity = identities.identity ORDER BY number DESC LIMIT 1)""",
    ),
    _Invariant(
        "ledger-attempt-not-closed",
        "{count} attempts of finished runs are still open",
        """SELECT count(*) FROM attempts JOIN runs USING (run)
           WHERE attempts.ended_at IS NULL AND runs.ended_at IS NOT NULL""",
    ),
    _Invariant(
        "ledger-sent-after-final",
        "{count} requests were sent for candidates that the service had already confirmed",
        """SELECT count(*) FROM attempts AS later JOIN attempts AS earlier USING (identity, run, row)
           WHERE later.number > earlier.number AND earlier.status IN (201, 409)""",
    ),
    _Invariant(
        "ledger-index-missing",
        "the index that prevents two open attempts for one candidate is missing",
        "SELECT count(*) = 0 FROM sqlite_master WHERE type = 'index' AND name = 'one_open_attempt'",
    ),
)


def examine(connection: Connection, path: Path) -> tuple[Problem, ...]:
    """Every invariant that is broken, and what SQLite itself finds."""
    place = FilePlace(str(path))
    problems = []
    for (finding,) in connection.execute("PRAGMA integrity_check"):
        if finding != "ok":
            problems.append(Problem("ledger-damaged", f"the database is damaged: {finding}", _HINT, place))
    strays = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    if strays:
        problems.append(
            Problem("ledger-references-broken", f"{strays} entries refer to entries that do not exist", _HINT, place)
        )
    for invariant in _INVARIANTS:
        (count,) = connection.execute(invariant.offenders).fetchone()
        if count:
            problems.append(Problem(invariant.code, invariant.message.format(count=count), _HINT, place))
    return tuple(problems)
