"""What the SQLite ledger promises in addition to `test_store.py`."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from importer.ledger import Answered, Intent, Ledger, LedgerUnwritable, State, open_ledger
from importer.problems import UnusableInput
from tests.ledger.given import begun, intend, make_intent, problems_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the ledger."""
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with begun(path) as ledger:
        yield ledger


def raw(ledger: Ledger, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(ledger.name)
    try:
        rows = connection.execute(query).fetchall()
        connection.commit()
        return rows
    finally:
        connection.close()


def intend_all(ledger: Ledger, intents: list[Intent]) -> None:
    for intent in intents:
        intend(ledger, intent)


def test_an_intent_is_on_disk_when_intend_returns(ledger: Ledger) -> None:
    """Another process sees it as soon as the caller may send."""
    intend(ledger, make_intent(ledger, 2))
    assert raw(ledger, "SELECT run, row, attempts, state FROM people") == [("run-1", 2, 1, "in_flight")]


def test_a_second_connection_of_this_process_ends_no_lock_of_the_first(ledger: Ledger) -> None:
    """Else another process that closes the ledger would remove the log that this one goes on to write (POSIX)."""
    code = "import sys; from importer.ledger import open_ledger; open_ledger(sys.argv[1]).close()"
    open_ledger(ledger.name).close()
    subprocess.run([sys.executable, "-c", code, ledger.name], check=True)
    intend(ledger, make_intent(ledger, 2))
    code = "import sys; from importer.ledger import open_ledger; print(*open_ledger(sys.argv[1]).row_states('run-1'))"
    assert "row=2" in subprocess.check_output([sys.executable, "-c", code, ledger.name], text=True)


def test_an_error_shows_no_value(ledger: Ledger) -> None:
    """An exception of the database has the statement at most, never what was to be written."""
    intend(ledger, make_intent(ledger, 2))
    raw(ledger, "DROP TABLE people")
    with pytest.raises(LedgerUnwritable) as caught:
        ledger.write([make_intent(ledger, 3, run="-".join(["run", "secret"]))])
    shown = "".join(traceback.format_exception(caught.value))
    assert ("no such table: people" in shown, "run-secret" in shown) == (True, False)


def test_intents_of_many_senders_share_commits(ledger: Ledger) -> None:
    """The intents of thirty-two threads are all written, each once."""
    threads = [threading.Thread(target=intend, args=(ledger, make_intent(ledger, row))) for row in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raw(ledger, "SELECT count(*) FROM people") == [(32,)]


def test_the_database_settings_are_durable(ledger: Ledger) -> None:
    """WAL, synchronous=FULL and foreign keys are on in the connections that write."""
    names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")

    def pragmas(connection: Connection) -> list[object]:
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert ledger.write_with(pragmas) == ["wal", 2, 1, 1]


def test_an_answer_and_the_next_intent_may_share_a_commit(ledger: Ledger) -> None:
    """A retry right after its answer is written in the right order."""
    intent = make_intent(ledger, 2)
    intend(ledger, intent)
    ledger.write([Answered(intent.attempt, State.PLANNED, 429), make_intent(ledger, 2, number=2)])
    assert raw(ledger, "SELECT attempts, state, status FROM people") == [(2, "in_flight", 429)]


# --- the file ---


def problem_on_opening(path: Path) -> str:
    with pytest.raises(UnusableInput) as caught:
        open_ledger(path)
    return str(caught.value)


def test_a_newer_ledger_is_refused(path: Path) -> None:
    """A ledger of a later version is not changed."""
    with begun(path) as ledger:
        raw(ledger, "UPDATE about SET version = 9")
    assert problem_on_opening(path) == (
        f"{path}: a newer importer wrote this ledger (its version is 9, this importer reads 8); "
        "update this importer, or use another ledger (--out, IMPORTER_LEDGER)"
    )


def test_an_older_ledger_is_refused(path: Path) -> None:
    """A ledger of a version before the first release is reported, and not changed."""
    with begun(path) as ledger:
        raw(ledger, "UPDATE about SET version = 2")
    assert problem_on_opening(path) == (
        f"{path}: an older importer wrote this ledger (its version is 2, this importer reads 8); name a new one with "
        "IMPORTER_LEDGER, also to purge or forget what is in this results folder; then every row is sent again, and "
        "the service reports which candidates it already has"
    )


def test_damage_of_an_open_ledger_is_reported(ledger: Ledger) -> None:
    """An error of SQLite becomes a problem with path and hint, not a traceback."""
    raw(ledger, "DROP TABLE people")
    with pytest.raises(UnusableInput) as caught:
        list(ledger.row_states("run-1"))
    assert str(caught.value) == f"{ledger.name}: it cannot be written (no such table: people), {_UNWRITABLE}"


_PUT_BACK = (
    "so nothing is sent; restore it from a backup; if you move it away instead, every row is sent again and the "
    "service reports which candidates it already has"
)


def test_a_file_that_is_not_a_database_is_refused(path: Path) -> None:
    """Another file with the ledger's name is not changed."""
    path.write_bytes(b"This is not a database. " * 100)
    before = path.read_bytes()
    assert problem_on_opening(path) == (f"{path}: it is not a readable database (file is not a database), {_PUT_BACK}")
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    """Another program's SQLite file is not changed."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name)")
    connection.close()
    assert problem_on_opening(path) == (
        f"{path}: it is not a readable database (it is a database of another program), {_PUT_BACK}"
    )


@pytest.mark.parametrize("change", ["DELETE FROM about", "INSERT INTO about SELECT * FROM about"])
def test_a_ledger_without_a_version_is_refused(path: Path, change: str) -> None:
    """The meaning of its tables is unknown."""
    with begun(path) as ledger:
        raw(ledger, change)
    assert problem_on_opening(path) == (f"{path}: it is not a readable database (its version is missing), {_PUT_BACK}")


_UNWRITABLE = "so nothing is sent; free disk space or get write permission there, or choose another folder with --out"


def test_a_name_with_a_meaning_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`:memory:` would keep nothing."""
    monkeypatch.chdir(tmp_path)
    with begun(":memory:"):
        pass
    with open_ledger(":memory:") as ledger:
        assert [one.run for one in ledger.runs()] == ["run-1"]


def test_a_path_in_a_file_is_reported(tmp_path: Path) -> None:
    """A ledger that cannot be created is an unusable setting."""
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "ledger.sqlite"
    assert problem_on_opening(path) == f"{path}: it cannot be written (File exists), {_UNWRITABLE}"


@pytest.mark.skipif(os.getuid() == 0, reason="the superuser writes anywhere")
def test_a_read_only_folder_is_reported(tmp_path: Path) -> None:
    """A folder without write permission is an unusable setting."""
    tmp_path.chmod(0o500)
    assert problem_on_opening(path) == f"{path}: it cannot be written (Permission denied), {_UNWRITABLE}"


def test_a_deleted_ledger_stops_sending(ledger: Ledger) -> None:
    """An intent is never written to a file that was deleted."""
    Path(ledger.name).unlink()
    with pytest.raises(LedgerUnwritable) as caught:
        intend(ledger, make_intent(ledger, 2))
    assert str(caught.value) == (
        f"the ledger {ledger.name} cannot be written (the file was moved or deleted), so nothing more is sent; "
        "put it back: another one does not know what was sent, then run the same command again"
    )


# --- a full disk ---


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(folder: Path) -> None:
    with (folder / "other").open("wb", buffering=0) as other, contextlib.suppress(OSError):
        while other.write(bytes(4096)):
            pass


def test_a_full_disk_stops_sending(small_disk: Path) -> None:
    """On a full disk nothing more is sent, and what was in flight is unconfirmed; the ledger is intact."""
    with begun(small_disk / "ledger.sqlite") as ledger:
        in_flight = [make_intent(ledger, row) for row in range(2, 34)]
        for intent in in_flight:
            intend(ledger, intent)
        fill(small_disk)
        with pytest.raises(LedgerUnwritable, match="its disk is almost full"):
            intend(ledger, make_intent(ledger, 99))
        with pytest.raises(LedgerUnwritable):
            ledger.write([Answered(intent.attempt, State.CREATED, 201) for intent in in_flight])
        assert [state.state for state in ledger.row_states("run-1")] == [State.UNCONFIRMED] * 32
        assert problems_of(ledger) == []


def test_a_file_that_cannot_grow_stops_sending_and_loses_no_answer(path: Path, ledger: Ledger) -> None:
    """A failed write is reported, no more intents are written, and the answers still are."""
    in_flight = [make_intent(ledger, row) for row in range(2, 34)]
    intend_all(ledger, in_flight)

    def let_it_not_grow(connection: Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    ledger.read_with(let_it_not_grow)
    with pytest.raises(LedgerUnwritable, match=r"cannot be written \(database or disk is full\)"):
        intend_all(ledger, [make_intent(ledger, row) for row in range(100, 1000)])
    with pytest.raises(LedgerUnwritable):
        ledger.write([Answered(intent.attempt, State.CREATED, 201) for intent in in_flight])
    assert [state.state for state in ledger.row_states("run-1")][:32] == [State.CREATED] * 32
    assert problems_of(ledger) == []
