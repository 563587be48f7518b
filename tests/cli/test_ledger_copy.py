"""`importer ledger copy`: a ledger goes to a server and back, whole, and the old one is as it was."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from importer.ledger import State, open_ledger
from importer.settings import LedgerAddress
from tests.cli.conftest import FrontDoor, Served
from tests.cli.test_run import RUN, people
from tests.ledger.given import JOB_POST, NOON, begun, lead_to, record
from tests.postgres import PASSWORD, Server

Serve = Callable[..., Served]


@pytest.fixture
def location(postgres: Server, front_door: FrontDoor) -> str:
    """An empty schema, by an address without a password, which is in the environment."""
    front_door.environment["PGPASSWORD"] = PASSWORD
    return postgres.location(with_password=False)


def filled(address: LedgerAddress) -> None:
    """A ledger with every state, in two runs."""
    with begun(address) as ledger:
        for row, state in enumerate(State, start=2):
            lead_to(ledger, state, row)
        ledger.begin_run(record("run-2"))
        ledger.end_run("run-2", NOON, 4)


def test_a_ledger_goes_to_a_server_and_back(front_door: FrontDoor, location: str) -> None:
    """All runs, candidates and requests, with the same key; what to set from then on is shown."""
    folder = front_door.folder
    filled(LedgerAddress(str(folder / "ledger.sqlite")))
    key = {"IMPORTER_LEDGER_KEY_FILE": str(folder / "ledger.key")}
    there = front_door("ledger", "copy", "ledger.sqlite", location, **key)
    assert (there.code, there.out.splitlines()) == (
        0,
        [
            "Copied 2 runs, 7 candidates and 7 requests. Both ledgers have the same content.",
            "From now on, set everywhere:",
            f"  IMPORTER_LEDGER={location}",
            f"  IMPORTER_LEDGER_KEY_FILE={folder / 'ledger.key'}",
            "Then move ledger.sqlite away: it will not know what is sent from now on.",
        ],
    )
    back = front_door("ledger", "copy", location, "again.sqlite", **key)
    assert back.code == 0, back.err
    name = location.partition("?")[0]
    assert f"Then move {name} away" in " ".join(back.out.split())
    with open_ledger(folder / "ledger.sqlite") as before, open_ledger(folder / "again.sqlite") as after:
        assert after.runs() == before.runs()
        for run in ("run-1", "run-2"):
            assert list(after.row_states(run)) == list(before.row_states(run))
            assert sorted(after.current_states(run)) == sorted(before.current_states(run))
        identity = before.fingerprints.identity(JOB_POST, "person2@example.com")
        assert after.fingerprints.key_check() == before.fingerprints.key_check()
        assert after.look_up([identity]) == before.look_up([identity])


def test_a_copied_ledger_sends_nothing_again(serve: Serve, postgres: Server) -> None:
    """After the move, the same command on the server finds every row imported."""
    served = serve()
    people(served.door.folder, 4)
    assert served(*RUN).code == 0
    location = postgres.location(with_password=False)
    settings = {"IMPORTER_LEDGER_KEY_FILE": str(served.door.folder / "kept.key"), "PGPASSWORD": PASSWORD}
    assert served("ledger", "copy", "results/ledger.sqlite", location, **settings).code == 0
    again = served(*RUN, "--json", IMPORTER_LEDGER=location, **settings)
    assert (again.counts, len(served.accepted)) == ({"already_imported": 4}, 4)


def test_a_ledger_that_is_not_empty_is_not_changed(front_door: FrontDoor, location: str) -> None:
    """Two ledgers cannot be joined."""
    folder = front_door.folder
    filled(LedgerAddress(str(folder / "ledger.sqlite")))
    key = {"IMPORTER_LEDGER_KEY_FILE": str(folder / "ledger.key")}
    for expected in (0, 3):
        ran = front_door("ledger", "copy", "ledger.sqlite", location, **key)
        assert ran.code == expected
    assert "this ledger is not empty, so nothing was copied" in ran.err


def test_another_key_is_not_mixed_in(front_door: FrontDoor, location: str) -> None:
    """A key file of another ledger is refused before anything is written."""
    folder = front_door.folder
    filled(LedgerAddress(str(folder / "ledger.sqlite")))
    (folder / "other.key").write_bytes(bytes(32))
    ran = front_door("ledger", "copy", "ledger.sqlite", location, IMPORTER_LEDGER_KEY_FILE=str(folder / "other.key"))
    assert (ran.code, "this key file belongs to another ledger" in ran.err) == (3, True)


def test_a_damaged_ledger_is_not_copied(front_door: FrontDoor, location: str) -> None:
    """The copy is checked before it is kept: nothing is in it, and it can be used for another copy."""
    folder = front_door.folder
    filled(LedgerAddress(str(folder / "ledger.sqlite")))
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as connection, connection:
        connection.execute("UPDATE attempts SET state = 'created' WHERE state = 'rejected'")
    key = {"IMPORTER_LEDGER_KEY_FILE": str(folder / "ledger.key")}
    ran = front_door("ledger", "copy", "ledger.sqlite", location, **key)
    message = "nothing was kept (1 candidates have a state that differs from their last attempt)"
    assert (ran.code, message in " ".join(ran.err.split())) == (3, True)
    assert front_door("runs", IMPORTER_LEDGER=location, **key).code == 0
    filled(LedgerAddress(str(folder / "good.sqlite"), folder / "ledger.key"))
    assert front_door("ledger", "copy", "good.sqlite", location, **key).code == 0


def test_a_ledger_in_use_is_not_copied(front_door: FrontDoor) -> None:
    """While a run holds a target, its ledger changes."""
    folder = front_door.folder
    filled(LedgerAddress(str(folder / "ledger.sqlite")))
    with open_ledger(folder / "ledger.sqlite") as ledger, ledger.lock_target(JOB_POST):
        ran = front_door("ledger", "copy", "ledger.sqlite", "copy.sqlite")
    assert (ran.code, "another run is writing to" in ran.err) == (75, True)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        pytest.param("none.sqlite", "copy.sqlite", "none.sqlite: there is no ledger here", id="nothing there"),
        pytest.param("a.sqlite", "postgresql://me:s3cret@db.example.com/x", "can see a password", id="password"),
        pytest.param("a.sqlite", "postgresql://db.example.com/x?password=s3cret", "can see a password", id="parameter"),
        pytest.param(
            "a.sqlite", "mysql://db.example.com/x", "must be a SQLite file or a PostgreSQL", id="another type"
        ),
    ],
)
def test_what_cannot_be_copied_is_reported(front_door: FrontDoor, source: str, target: str, message: str) -> None:
    """Before anything is created; without the password."""
    ran = front_door("ledger", "copy", source, target)
    assert ran.code in (2, 3)
    assert message in " ".join(ran.err.split())
    assert "s3cret" not in ran.err
    assert not (Path(front_door.folder) / "copy.sqlite").exists()
