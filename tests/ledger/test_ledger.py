"""What the ledger promises about intents, answers, runs and its own file."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from importer.errors import UnusableInput, UsageError
from importer.ledger import Answered, Intent, Known, Ledger, LedgerUnwritable, NotAllowed, RowState, State
from tests.ledger.given import JOB_POST, NOON, POOL, begun, intent, lead_to, record


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with begun(tmp_path) as ledger:
        yield ledger


def raw(ledger: Ledger, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(ledger.path)
    try:
        rows = connection.execute(query).fetchall()
        connection.commit()
        return rows
    finally:
        connection.close()


def test_an_intent_is_on_disk_when_intend_returns(ledger: Ledger) -> None:
    """Another process sees the open attempt as soon as the caller may send."""
    ledger.intend(intent(ledger, 2))
    assert raw(ledger, "SELECT run, row, number, state, ended_at FROM attempts") == [("run-1", 2, 1, "in_flight", None)]


def test_intents_of_many_senders_share_commits(ledger: Ledger) -> None:
    """Thirty-two senders at once all get their intent written, each once."""
    threads = [threading.Thread(target=ledger.intend, args=(intent(ledger, row),)) for row in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raw(ledger, "SELECT count(*), count(DISTINCT identity) FROM attempts") == [(32, 32)]


def test_the_database_is_as_durable_as_we_say(ledger: Ledger) -> None:
    """WAL, synchronous=FULL and foreign keys are on in the connections that write."""
    with ledger._file.transaction(writes=True) as connection:
        pragmas = [
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert pragmas == [("wal",), (2,), (1,)]


def test_the_database_itself_refuses_two_open_attempts(ledger: Ledger) -> None:
    """One open attempt for each identity, whoever writes."""
    ledger.intend(intent(ledger, 2))
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: attempts\.identity"):
        raw(ledger, "INSERT INTO attempts SELECT run, row, 2, identity, 0, NULL, NULL, state, 0 FROM attempts")


def test_an_identity_in_flight_cannot_be_intended_again(ledger: Ledger) -> None:
    """Of two rows with the same e-mail only one is ever on its way."""
    meant = intent(ledger, 2)
    ledger.intend(meant)
    with pytest.raises(NotAllowed, match=r"^no step from in_flight to in_flight$"):
        ledger.intend(meant._replace(attempt=meant.attempt._replace(row=3)))


def test_an_answer_and_the_next_intent_may_share_a_commit(ledger: Ledger) -> None:
    """A retry right after its answer is written in the right order."""
    meant = intent(ledger, 2)
    ledger.intend(meant)
    ledger.record(Answered(meant.attempt, State.PLANNED, 429))
    ledger.intend(intent(ledger, 2, number=2))
    assert raw(ledger, "SELECT number, state, status FROM attempts ORDER BY number") == [
        (1, "planned", 429),
        (2, "in_flight", None),
    ]


def test_look_up_says_what_is_known(ledger: Ledger) -> None:
    """Known identities come back with state, status, body digest, run and row; unknown ones do not."""
    meant = lead_to(ledger, State.REJECTED)
    stranger = ledger.fingerprints.identity(JOB_POST, "nobody@example.com")
    assert ledger.look_up([meant.attempt.identity, stranger]) == {
        meant.attempt.identity: Known(State.REJECTED, 500, meant.body_digest, "run-1", 2)
    }


def test_the_body_in_doubt_is_kept_until_the_doubt_is_settled(ledger: Ledger) -> None:
    """While a first body is unclear, a second one does not take its place as the one to compare a refusal with."""
    first = lead_to(ledger, State.UNCLEAR)
    ledger.intend(Intent(first.attempt._replace(number=2), ledger.fingerprints.body_digest(b"changed")))
    assert ledger.look_up([first.attempt.identity])[first.attempt.identity].body_digest == first.body_digest


# --- after a death ---


def test_what_a_dead_run_had_in_flight_is_unclear(tmp_path: Path) -> None:
    """The next run of the same scope finds an intent without an answer unclear, never new."""
    with begun(tmp_path) as dead:
        meant = lead_to(dead, State.IN_FLIGHT)
    with begun(tmp_path, "run-2") as ledger:
        assert ledger.look_up([meant.attempt.identity])[meant.attempt.identity].state is State.UNCLEAR
        assert list(ledger.row_states("run-1")) == [RowState(2, State.UNCLEAR, None, 1)]
        assert ledger.check() == ()


def test_a_run_of_another_target_is_left_alone(tmp_path: Path) -> None:
    """A run that begins does not touch what another target's run has in flight."""
    with begun(tmp_path) as ledger:
        meant = lead_to(ledger, State.IN_FLIGHT)
        ledger.begin_run(record("run-2", POOL))
        assert ledger.look_up([meant.attempt.identity])[meant.attempt.identity].state is State.IN_FLIGHT


_INTENDS_AND_DIES = """
import os, signal, sys
from pathlib import Path
from tests.ledger.given import begun, intent
ledger = begun(Path(sys.argv[1]))
for row in range(2, 10):
    ledger.intend(intent(ledger, row))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_intents_survive_a_kill(tmp_path: Path) -> None:
    """Every intent that returned is there after kill -9."""
    ended = subprocess.run([sys.executable, "-c", _INTENDS_AND_DIES, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with begun(tmp_path, "run-2") as ledger:
        assert list(ledger.row_states("run-1")) == [RowState(row, State.UNCLEAR, None, 1) for row in range(2, 10)]


# --- runs ---


def test_row_states_give_the_last_state_and_the_last_status(ledger: Ledger) -> None:
    """Of several attempts the last state counts, and the last status that was read."""
    meant = lead_to(ledger, State.UNCLEAR, row=5)
    ledger.intend(intent(ledger, 5, number=2))
    ledger.record(Answered(meant.attempt._replace(number=2), State.UNCLEAR, None))
    lead_to(ledger, State.CREATED, row=2)
    lead_to(ledger, State.IN_FLIGHT, row=9)
    assert list(ledger.row_states("run-1")) == [
        RowState(2, State.CREATED, 500, 1),
        RowState(5, State.UNCLEAR, 500, 2, after_doubt=True),
        RowState(9, State.UNCLEAR, None, 1),
    ]
    assert list(ledger.row_states("run-0")) == []


def test_runs_are_kept(ledger: Ledger) -> None:
    """A run comes back as it was begun and ended, the newest first; one without an end is unfinished."""
    later = record("run-2", POOL, NOON + timedelta(hours=1))
    ledger.begin_run(later)
    ledger.end_run("run-2", NOON + timedelta(hours=2), 4)
    ended = replace(later, ended_at=NOON + timedelta(hours=2), exit_code=4)
    assert ledger.runs() == (ended, record())
    assert ledger.run("run-2") == ended
    assert ledger.run("run-3") is None
    assert ledger.unfinished_runs(JOB_POST) == (record(),)
    assert ledger.unfinished_runs(POOL) == ()


@pytest.mark.parametrize(("created", "state"), [(True, State.CREATED), (False, State.FAILED)], ids=["there", "absent"])
def test_a_person_settles_an_unclear_row(ledger: Ledger, created: bool, state: State) -> None:
    """What a person found is the row's state, in the ledger and in the report of its run."""
    meant = lead_to(ledger, State.UNCLEAR)
    ledger.resolve("run-1", 2, created=created)
    assert ledger.look_up([meant.attempt.identity])[meant.attempt.identity].state is state
    assert list(ledger.row_states("run-1")) == [RowState(2, state, 500, 1)]
    assert ledger.check() == ()


@pytest.mark.parametrize(
    ("run", "row", "message"),
    [
        pytest.param(
            "run-9", 2, "the ledger {path} knows no run run-9; list them with: importer runs", id="unknown run"
        ),
        pytest.param(
            "run-1", 3, "run run-1 sent nothing for row 3; see its rows with: importer show run-1", id="unknown row"
        ),
        pytest.param(
            "run-1", 2, "row 2 of run run-1 is not unclear but created; there is nothing to resolve", id="not unclear"
        ),
    ],
)
def test_only_unclear_rows_can_be_resolved(ledger: Ledger, run: str, row: int, message: str) -> None:
    """A row that is not unclear is not changed, and the person is told why."""
    lead_to(ledger, State.CREATED)
    with pytest.raises(UsageError) as caught:
        ledger.resolve(run, row, created=False)
    assert str(caught.value) == message.format(path=ledger.path)


# --- the file ---


def problem_on_opening(path: Path) -> str:
    with pytest.raises(UnusableInput) as caught:
        Ledger.open(path)
    return str(caught.value)


def test_no_ledger_is_made_by_looking(tmp_path: Path) -> None:
    """A dry run leaves no file behind."""
    assert Ledger.open_existing(tmp_path / "ledger.sqlite") is None
    assert list(tmp_path.iterdir()) == []


def test_a_newer_ledger_is_refused(tmp_path: Path) -> None:
    """A ledger of a later version is not touched."""
    with begun(tmp_path) as ledger:
        raw(ledger, "UPDATE about SET version = 7")
    path = tmp_path / "ledger.sqlite"
    assert problem_on_opening(path) == (
        f"{path}: it was written by a newer importer (ledger version 7, this one knows 2); "
        "upgrade this importer, or name another folder with --out"
    )


def test_an_older_ledger_is_taken_along(tmp_path: Path) -> None:
    """A ledger of the first version is read as it is, and is one of this version from then on."""
    with begun(tmp_path) as ledger:
        meant = lead_to(ledger, State.UNCLEAR)
    older = sqlite3.connect(tmp_path / "ledger.sqlite")
    older.executescript(
        "ALTER TABLE runs DROP COLUMN purged_at; ALTER TABLE attempts DROP COLUMN after_doubt;"
        "UPDATE about SET version = 1;"
    )
    older.close()
    with begun(tmp_path, "run-2") as ledger:
        assert ledger.look_up([meant.attempt.identity])[meant.attempt.identity].state is State.UNCLEAR
        assert list(ledger.row_states("run-1")) == [RowState(2, State.UNCLEAR, 500, 1)]
        assert raw(ledger, "SELECT version FROM about") == [(2,)]
        assert ledger.check() == ()


def test_a_ledger_damaged_while_it_is_open_is_told(ledger: Ledger) -> None:
    """What SQLite finds wrong in the middle is a message with the path and what to do, and no traceback."""
    raw(ledger, "DROP TABLE attempts")
    for ask in (lambda: list(ledger.row_states("run-1")), ledger.check):
        with pytest.raises(UnusableInput) as caught:
            ask()
        assert str(caught.value) == f"{ledger.path}: it cannot be written (no such table: attempts), {_UNWRITABLE}"


_PUT_BACK = (
    "and without it nothing is sent; put it back from a backup, or move it away: "
    "then every row is sent again and the service tells which it has already"
)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """Some other file under the ledger's name is not touched."""
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"Dear diary, this is no database at all. " * 100)
    before = path.read_bytes()
    assert problem_on_opening(path) == (
        f"{path}: it is not a database that we can read (file is not a database), {_PUT_BACK}"
    )
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    """Another program's SQLite file is not written into."""
    path = tmp_path / "ledger.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name)")
    connection.close()
    assert problem_on_opening(path) == (
        f"{path}: it is not a database that we can read (a database of something else), {_PUT_BACK}"
    )


@pytest.mark.parametrize("change", ["DELETE FROM about", "INSERT INTO about SELECT * FROM about"])
def test_a_ledger_that_does_not_say_its_version_is_refused(tmp_path: Path, change: str) -> None:
    """Nobody knows what its tables mean."""
    with begun(tmp_path) as ledger:
        raw(ledger, change)
    path = tmp_path / "ledger.sqlite"
    assert problem_on_opening(path) == (
        f"{path}: it is not a database that we can read (it does not say its version), {_PUT_BACK}"
    )


_UNWRITABLE = (
    "and without it nothing is sent; make room or give yourself the right to write there, "
    "or name another folder with --out"
)


def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    """A ledger that cannot be made is an unusable setting."""
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "ledger.sqlite"
    assert problem_on_opening(path) == f"{path}: it cannot be written (File exists), {_UNWRITABLE}"


@pytest.mark.skipif(os.getuid() == 0, reason="the superuser writes anywhere")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    """A folder without the right to write is an unusable setting."""
    tmp_path.chmod(0o500)
    path = tmp_path / "ledger.sqlite"
    assert problem_on_opening(path) == f"{path}: it cannot be written (Permission denied), {_UNWRITABLE}"


def test_a_ledger_that_is_gone_stops_sending(ledger: Ledger) -> None:
    """An intent is never written into a file that nobody will find again."""
    ledger.path.unlink()
    with pytest.raises(LedgerUnwritable) as caught:
        ledger.intend(intent(ledger, 2))
    assert str(caught.value) == (
        f"the ledger {ledger.path} cannot be written (the file was moved or deleted), so nothing more is sent; "
        "make room or mend the disk, then run the same command again"
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


def test_a_full_disk_stops_sending_and_loses_no_answer(small_disk: Path) -> None:
    """When nothing fits any more, the answers on their way are recorded and no intent is."""
    with begun(small_disk) as ledger:
        on_their_way = [intent(ledger, row) for row in range(2, 34)]
        for meant in on_their_way:
            ledger.intend(meant)
        fill(small_disk)
        with pytest.raises(LedgerUnwritable, match="there is hardly any room left on its disk"):
            ledger.intend(intent(ledger, 99))
        for meant in on_their_way:
            ledger.record(Answered(meant.attempt, State.CREATED, 201))
        with pytest.raises(LedgerUnwritable):
            ledger.flush()
        assert [state.state for state in ledger.row_states("run-1")] == [State.CREATED] * 32
        assert ledger.check() == ()


# --- the doctor ---

_KEEP = "keep the file as it is, put it back from a backup, and report this: it should not be possible"


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        pytest.param(
            "UPDATE identities SET state = 'created'",
            "1 open attempts belong to identities that are not in flight",
            id="open attempt astray",
        ),
        pytest.param(
            "UPDATE attempts SET ended_at = 1",
            "1 identities are in flight without an open attempt",
            id="in flight without attempt",
        ),
        pytest.param(
            "UPDATE attempts SET state = 'created'",
            "1 identities are in a state that their last attempt did not leave them in",
            id="state without attempt",
        ),
        pytest.param(
            "UPDATE runs SET ended_at = '2026-03-01'",
            "1 attempts of runs that ended are still open",
            id="open after the end",
        ),
        pytest.param("DROP INDEX one_open_attempt", "the database no longer refuses a second open attempt", id="index"),
        pytest.param("DELETE FROM runs", "2 entries refer to entries that are gone", id="stray"),
    ],
)
def test_the_doctor_finds_what_is_wrong(ledger: Ledger, harm: str, message: str) -> None:
    """Each broken invariant is told with the ledger's path."""
    lead_to(ledger, State.IN_FLIGHT)
    assert ledger.check() == ()
    raw(ledger, harm)
    assert f"{ledger.path}: {message}; {_KEEP}" in [str(problem) for problem in ledger.check()]
