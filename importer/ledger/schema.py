"""The tables of a ledger are created with its key, or checked."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, inspect, select

from importer.ledger.database import Database
from importer.ledger.key import create_key, foreign_key, read_key
from importer.ledger.states import Fingerprints, State
from importer.ledger.tables import TABLES, VERSION, about, people, runs
from importer.problems import FilePlace, Problem, UnusableInput, unusable_file


def initialize_or_check(database: Database, key_file: Path, *, must_exist: bool) -> Fingerprints | None:
    """Create the tables and the key of a new ledger, or check an existing one; return the hashes made with its key.

    All in one transaction, so a crash leaves a complete ledger or none. must_exist: return None instead of creating it.

    Raises:
        UnusableInput: it is not a ledger, has another version, or its key is missing or belongs to another ledger.
    """
    return database.write(lambda connection: _initialized(connection, database, key_file, must_exist=must_exist))


def _initialized(
    connection: Connection, database: Database, key_file: Path, *, must_exist: bool
) -> Fingerprints | None:
    database.keep_others_from_creating(connection)
    tables = inspect(connection).get_table_names()
    if not tables:
        if must_exist:
            return None
        create_key(key_file)
        fingerprints = Fingerprints(read_key(key_file))
        TABLES.create_all(connection, checkfirst=False)
        connection.execute(about.insert(), {"version": VERSION, "key_check": fingerprints.key_check()})
        return fingerprints
    if about.name not in tables:
        raise database.not_a_ledger("it is a database of another program")
    found = connection.execute(select(about)).all()
    if len(found) != 1:
        raise database.not_a_ledger("its version is missing")
    if found[0].version != VERSION:
        raise _other_version(database.name, found[0].version)
    fingerprints = Fingerprints(read_key(key_file))
    if fingerprints.key_check() != found[0].key_check:
        raise foreign_key(key_file)
    return fingerprints


def _other_version(name: str, version: int) -> UnusableInput:
    is_newer = version > VERSION
    return unusable_file(
        "ledger-version",
        f"{'a newer importer' if is_newer else 'an older importer'} wrote this ledger (its version is {version}, "
        f"this importer reads {VERSION})",
        "update this importer, or use another ledger (--out, IMPORTER_LEDGER)"
        if is_newer
        else "use the importer that wrote it, or another ledger (--out, IMPORTER_LEDGER); with a new ledger every row "
        "is sent again and the service reports which candidates it already has",
        name,
    )


_HINT: Final = "keep a copy of the file, restore it from a backup, and report this to the developers"


def examine(connection: Connection, database: Database) -> tuple[Problem, ...]:
    """What is wrong with a ledger: what its database finds, and rows that no run can settle any more."""
    place = FilePlace(database.name)
    problems = [*database.own_problems(connection, _HINT)]
    left = people.c.state == State.IN_FLIGHT.value, runs.c.ended_at.is_not(None)
    count = connection.scalar(select(func.count()).select_from(people.join(runs)).where(*left))
    if count:
        message = f"{count} candidates are being sent by runs that have ended"
        problems.append(Problem("ledger-inconsistent", message, _HINT, place))
    return tuple(problems)
