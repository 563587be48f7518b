"""What the ledger in PostgreSQL promises in addition to `test_store.py`: lost answers, lost locks, other machines."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from importer.ledger import Answered, Ledger, LedgerUnwritable, NotAllowed, RowState, State, open_ledger
from importer.ledger.ledger import _write_changes
from importer.ledger.states import plan_group
from importer.problems import Busy, UnusableInput
from importer.settings import LedgerAddress
from tests.ledger.given import JOB_POST, NOON, begun, intend, lead_to, make_intent, problems_of, record, words_of
from tests.patience import wait_until
from tests.postgres import PASSWORD, Server
from tests.tcp_proxy import Moment, TcpProxy, proxy_to

COMMIT = b"COMMIT\0"  # as it is sent


@pytest.fixture
def address(postgres: Server, tmp_path: Path) -> LedgerAddress:
    return postgres.address(tmp_path / "ledger.key")


@pytest.fixture
def ledger(address: LedgerAddress) -> Iterator[Ledger]:
    with begun(address) as ledger:
        yield ledger


@pytest.fixture
def proxy(postgres: Server) -> Iterator[TcpProxy]:
    with proxy_to(postgres.port) as proxy:
        yield proxy


def schema_of(address: LedgerAddress) -> str:
    return address.location.rpartition("%3D")[2]


def through(proxy: TcpProxy, postgres: Server, address: LedgerAddress) -> LedgerAddress:
    return replace(address, location=postgres.location(schema_of(address), proxy.port))


def raw(postgres: Server, address: LedgerAddress, query: str) -> list[tuple[object, ...]]:
    return postgres.execute(query.format(schema=schema_of(address)))


# --- a commit whose answer is lost ---


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_lost_commit_of_an_intent_is_looked_up(
    postgres: Server, address: LedgerAddress, proxy: TcpProxy, moment: Moment
) -> None:
    """Whether the commit had arrived or not, the intent is written once, and its request may be sent."""
    with begun(through(proxy, postgres, address)) as ledger, ledger.lock_target(JOB_POST):
        proxy.cut_at = [(COMMIT, moment)]
        for row in (2, 3):
            intend(ledger, make_intent(ledger, row))
        assert (proxy.cuts, list(ledger.row_states("run-1"))) == (
            1,
            [RowState(row, State.UNCONFIRMED, None, 1) for row in (2, 3)],
        )
        assert problems_of(ledger) == []


def test_a_lost_commit_after_a_conflict_grants_no_one_twice(
    postgres: Server, address: LedgerAddress, proxy: TcpProxy
) -> None:
    """Another run wrote one of two candidates first: neither is granted, although the connection is lost there."""
    with begun(through(proxy, postgres, address)) as ledger, open_ledger(address) as other:
        other.begin_run(record("run-2"))
        ours = sorted((make_intent(ledger, row) for row in (2, 3)), key=lambda intent: intent.attempt.identity)
        theirs = ours[1]._replace(attempt=ours[1].attempt._replace(run="run-2"))
        has_written = threading.Event()

        def write_slowly(connection: Connection) -> None:
            _write_changes(connection, plan_group({}, [theirs]), {})
            has_written.set()
            time.sleep(0.5)  # meanwhile the other run tries to write both

        thread = threading.Thread(target=other.write_with, args=(write_slowly,))
        thread.start()
        has_written.wait()
        proxy.cut_at = [(COMMIT, "after")]
        with pytest.raises(NotAllowed, match=r"^no step from in_flight to in_flight$"):
            ledger.write(ours)
        thread.join()
        known = ledger.look_up([intent.attempt.identity for intent in ours])
        assert {identity: one.run for identity, one in known.items()} == {theirs.attempt.identity: "run-2"}


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_lost_commit_of_an_answer_is_looked_up(
    postgres: Server, address: LedgerAddress, proxy: TcpProxy, moment: Moment
) -> None:
    """Whether the commit had arrived or not, the answer is written once."""
    with begun(through(proxy, postgres, address)) as ledger, ledger.lock_target(JOB_POST):
        intent = make_intent(ledger, 2)
        intend(ledger, intent)
        proxy.cut_at = [(COMMIT, moment)]
        ledger.write([Answered(intent.attempt, State.CREATED, 201)])
        assert (proxy.cuts, list(ledger.row_states("run-1"))) == (1, [RowState(2, State.CREATED, 201, 1)])


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_lost_commit_of_the_start_of_a_run_is_looked_up(
    postgres: Server, address: LedgerAddress, proxy: TcpProxy, moment: Moment
) -> None:
    """Whether the commit had arrived or not, the run is recorded once; a run of another record is refused."""
    with begun(through(proxy, postgres, address)) as ledger, ledger.lock_target(JOB_POST):
        proxy.cut_at = [(COMMIT, moment)]
        ledger.begin_run(record("run-2"))
        assert (proxy.cuts, {one.run for one in ledger.runs()}) == (1, {"run-1", "run-2"})
        with pytest.raises(UnusableInput, match="duplicate key"):
            ledger.begin_run(replace(record("run-2"), started_at=NOON + timedelta(hours=1)))


def test_an_intent_that_cannot_be_looked_up_is_refused(
    postgres: Server, address: LedgerAddress, proxy: TcpProxy
) -> None:
    """If the server does not come back in time, nothing more is sent, and the next run finds what was written."""
    with begun(replace(through(proxy, postgres, address), patience=0.5)) as ledger:
        proxy.cut_at = [(COMMIT, "after")]
        proxy.is_open = False
        with pytest.raises(
            LedgerUnwritable, match=r"cannot be written \(.*\), so nothing more is sent; check the"
        ) as lost:
            intend(ledger, make_intent(ledger, 2))
        assert PASSWORD not in str(lost.value)
    with begun(address, "run-2") as ledger:
        assert list(ledger.row_states("run-1")) == [RowState(2, State.UNCONFIRMED, None, 1)]


def test_a_server_that_does_not_answer_is_left(postgres: Server, address: LedgerAddress, proxy: TcpProxy) -> None:
    """A statement without an answer ends with the connection, and the write is repeated on another one."""
    with begun(through(proxy, postgres, address)) as ledger:
        intend(ledger, make_intent(ledger, 2))
        proxy.hold()
        writing = threading.Thread(target=intend, args=(ledger, make_intent(ledger, 3)))
        writing.start()
        time.sleep(0.3)
        proxy.cut_all()
        proxy.release()
        writing.join()
        assert len(list(ledger.row_states("run-1"))) == 2
        assert problems_of(ledger) == []


# --- the server restarts ---


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_run_waits_for_a_server_that_restarts(postgres: Server, address: LedgerAddress, how: str) -> None:
    """What was reported as written is there, the lock is held again, and writing goes on."""
    with begun(address) as ledger, ledger.lock_target(JOB_POST):
        intents = [make_intent(ledger, row) for row in range(2, 10)]
        for intent in intents[:4]:
            intend(ledger, intent)
        getattr(postgres, how)()
        answer = Answered(intents[0].attempt, State.CREATED, 201)
        writing = threading.Thread(target=ledger.write, args=([answer, *intents[4:]],))
        writing.start()
        postgres.start()
        writing.join()
        assert [state.state for state in ledger.row_states("run-1")] == [State.CREATED] + [State.UNCONFIRMED] * 7
        assert problems_of(ledger) == []
        with open_ledger(address) as other, pytest.raises(Busy), other.lock_target(JOB_POST):
            pytest.fail("the lock was given twice")


# --- the lock is lost ---


def end_lock_session(postgres: Server) -> None:
    held = "SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
    query = f"SELECT pg_terminate_backend(pid) FROM ({held}) AS held"
    assert set(postgres.execute(query)) == {(True,)}  # that of an earlier test may still be ending
    wait_until(lambda: not postgres.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"))


def test_a_lost_lock_that_no_one_took_is_taken_again(postgres: Server, address: LedgerAddress) -> None:
    """The run goes on, and another one is refused."""
    with begun(address) as ledger, ledger.lock_target(JOB_POST):
        end_lock_session(postgres)
        intend(ledger, make_intent(ledger, 2))
        with open_ledger(address) as other, pytest.raises(Busy), other.lock_target(JOB_POST):
            pytest.fail("the lock was given twice")


def test_a_lock_that_another_run_took_stops_this_one(postgres: Server, address: LedgerAddress) -> None:
    """The other run may begin, and from then on this one writes neither intents, nor answers, nor its end."""
    with begun(address) as ledger, ledger.lock_target(JOB_POST):
        sent = make_intent(ledger, 2)
        intend(ledger, sent)
        end_lock_session(postgres)
        with begun(address, "run-2") as other, other.lock_target(JOB_POST):
            intend(other, make_intent(other, 2, run="run-2"))
            with pytest.raises(LedgerUnwritable, match="another run took over the target"):
                intend(ledger, make_intent(ledger, 3))
            with pytest.raises(LedgerUnwritable):
                ledger.write([Answered(sent.attempt, State.REJECTED, 400)])
            with pytest.raises(LedgerUnwritable):
                ledger.end_run("run-1", record().started_at)
            other.write([Answered(make_intent(other, 2, run="run-2").attempt, State.CREATED, 201)])
            assert problems_of(other) == []
        assert [state.state for state in other_states(address, "run-2")] == [State.CREATED]


def other_states(address: LedgerAddress, run: str) -> list[RowState]:
    with open_ledger(address) as ledger:
        return list(ledger.row_states(run))


def test_the_database_refuses_a_run_that_does_not_know_that_its_lock_is_lost(
    postgres: Server, address: LedgerAddress
) -> None:
    """A new holder draws a new owner; a commit after that is refused, whatever the session seems to be."""
    with begun(address) as ledger, ledger.lock_target(JOB_POST):
        intend(ledger, make_intent(ledger, 2))
        raw(postgres, address, "UPDATE {schema}.targets SET owner = 'somebody else'")
        with pytest.raises(LedgerUnwritable, match="another run took over the target"):
            intend(ledger, make_intent(ledger, 3))
    assert [state.row for state in other_states(address, "run-1")] == [2]


# --- parts share a target ---


def test_parts_share_a_target_and_nothing_else(address: LedgerAddress) -> None:
    """A whole run, the same part and parts of another count are refused, until the last part has ended."""
    with begun(address) as one, open_ledger(address) as two, one.lock_target(JOB_POST, (1, 2)):
        others = (None, "run is"), ((2, 2), "run is writing part 2/2"), ((1, 3), "run in 2 parts is")
        for part, who in others:
            late = open_ledger(address)
            with two.lock_target(JOB_POST, (2, 2)), late, pytest.raises(Busy, match=f"another {who}"):
                late.lock_target(JOB_POST, part).__enter__()
    with open_ledger(address) as whole, whole.lock_target(JOB_POST):
        pass


def test_a_run_beside_parts_is_refused_at_any_moment(address: LedgerAddress) -> None:
    """Parts of two counts that begin at the same time never run together."""
    begun(address).close()
    running: list[int] = []

    def run(count: int) -> None:
        with suppress(Busy), open_ledger(address) as ledger, ledger.lock_target(JOB_POST, (1, count)):
            running.append(count)
            time.sleep(0.02)
            assert set(running) == {count}
            running.remove(count)

    for _ in range(10):
        with ThreadPoolExecutor() as pool:
            list(pool.map(run, (2, 3)))


def test_a_part_that_lost_its_lock_to_others_writes_nothing(postgres: Server, address: LedgerAddress) -> None:
    """Neither after a whole run, nor after the same part began anew, nor beside parts of another count."""
    for part in (None, (2, 2), (1, 3)):
        wait_until(lambda: not postgres.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"))
        with begun(address, f"run-{part}.2of2") as ledger, ledger.lock_target(JOB_POST, (2, 2)):
            end_lock_session(postgres)
            with open_ledger(address) as other, other.lock_target(JOB_POST, part):
                pass
            with pytest.raises(LedgerUnwritable, match="another run took over the target"):
                intend(ledger, make_intent(ledger, 3, run=f"run-{part}.2of2"))


def test_a_whole_run_that_lost_its_lock_to_a_part_writes_nothing(postgres: Server, address: LedgerAddress) -> None:
    """Also after that part has ended."""
    with begun(address) as ledger, ledger.lock_target(JOB_POST):
        intend(ledger, make_intent(ledger, 2))
        end_lock_session(postgres)
        with open_ledger(address) as other, other.lock_target(JOB_POST, (1, 3)):
            pass
        with pytest.raises(LedgerUnwritable, match="another run took over the target"):
            intend(ledger, make_intent(ledger, 3))


def test_a_part_settles_what_killed_runs_left(address: LedgerAddress) -> None:
    """What the other parts of as many have in flight is theirs; no other run can be running."""
    killed = ["a.1of2", "a.2of2", "a.1of3", "a"]
    with begun(address, "a") as ledger:
        for run in killed[:-1]:
            ledger.begin_run(record(run))
        for row, run in enumerate(killed):
            intend(ledger, make_intent(ledger, row, run=run))
        ledger.begin_run(record("b.2of2"))
        identities = [make_intent(ledger, row).attempt.identity for row in range(4)]
        known = ledger.look_up(identities)
        left = State.UNCONFIRMED
        assert [known[each].state for each in identities] == [State.IN_FLIGHT, left, left, left]


# --- several processes write at the same time ---

_RACES = """
import sys
from importer.ledger import Answered, NotAllowed, State, open_ledger
from tests.ledger.given import address_of, intend, make_intent
run = sys.argv[3]
with open_ledger(address_of(sys.argv[1:3])) as ledger:
    print("ready", flush=True)
    sys.stdin.readline()
    for row in range(2, 202):
        intent = make_intent(ledger, row, run=run)
        try:
            intend(ledger, intent)
        except NotAllowed:
            continue
        ledger.write([Answered(intent.attempt, State.CREATED, 201)])
        print(row, flush=True)
"""


def test_of_two_processes_that_intend_the_same_people_one_gets_each(address: LedgerAddress) -> None:
    """Each identity, new or known, is sent by one of them, and none is intended again after it was created."""
    with begun(address) as ledger:
        ledger.begin_run(record("run-0"))
        for row in range(2, 202, 2):
            intend(ledger, make_intent(ledger, row, run="run-0"))
        for row in range(2, 202, 2):
            ledger.write([Answered(make_intent(ledger, row, run="run-0").attempt, State.PLANNED, 429)])
        ledger.begin_run(record("run-2"))
        commands = [[sys.executable, "-c", _RACES, *words_of(address), run] for run in ("run-1", "run-2")]
        pipe = subprocess.PIPE
        processes = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for command in commands]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        outputs = _race(processes)
        assert [process.returncode for process in processes] == [0, 0]
        assert sorted(int(row) for rows in outputs for row in rows) == list(range(2, 202))
        assert problems_of(ledger) == []


def _race(processes: list[subprocess.Popen[str]]) -> list[list[str]]:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate()[0].split() for process in processes]


# --- its address, server and key ---


def problem_on_opening(address: LedgerAddress) -> str:
    with pytest.raises(UnusableInput) as caught:
        open_ledger(address)
    message = str(caught.value)
    assert PASSWORD not in message
    assert "s3cret" not in message
    return message


def test_a_server_that_does_not_respond_is_reported(postgres: Server, address: LedgerAddress) -> None:
    """The message has the address without its password, and the reason."""
    with proxy_to(postgres.port) as proxy:
        proxy.is_open = False
        message = problem_on_opening(through(proxy, postgres, address))
        name = f"postgresql://tester@127.0.0.1:{proxy.port}/ledgers"
    assert message.startswith(f"{name}: the server cannot be used (")
    assert message.endswith(
        "), so nothing is sent; check IMPORTER_LEDGER, the server, the network, and the user and password"
    )


def test_a_refused_password_is_reported(postgres: Server, address: LedgerAddress) -> None:
    """With what the server says, and without the password."""
    wrong = address.location.replace(PASSWORD.replace(" ", "%20"), "s3cret-but-wrong")
    message = problem_on_opening(replace(address, location=wrong))
    assert 'FATAL:  password authentication failed for user "tester"' in message


def test_a_missing_permission_is_reported(postgres: Server, address: LedgerAddress) -> None:
    """A user who may not create tables learns it before anything is sent."""
    postgres.execute(f"ALTER SCHEMA {schema_of(address)} OWNER TO postgres")
    postgres.execute(f"GRANT USAGE ON SCHEMA {schema_of(address)} TO tester")
    assert problem_on_opening(address) == (
        f"postgresql://tester@127.0.0.1:{postgres.port}/ledgers: it cannot be written (permission denied for schema "
        f"{schema_of(address)}), so nothing is sent; ask the owner of the database for a schema in which this user may "
        "create, read and write tables"
    )


def test_a_database_of_another_program_is_refused(postgres: Server, address: LedgerAddress) -> None:
    """Its tables are not changed."""
    raw(postgres, address, "CREATE TABLE {schema}.recipes (name TEXT)")
    assert problem_on_opening(address) == (
        f"postgresql://tester@127.0.0.1:{postgres.port}/ledgers: it is not a readable ledger (it is a database of "
        "another program), so nothing is sent; create a database or a schema for the ledger alone, and name it in "
        "IMPORTER_LEDGER"
    )
    assert not address.key_file or not address.key_file.exists()


@pytest.mark.parametrize(("version", "which"), [(9, "a newer"), (2, "an older")])
def test_another_version_is_refused(postgres: Server, address: LedgerAddress, version: int, which: str) -> None:
    """A ledger of another version is not changed."""
    open_ledger(address).close()
    raw(postgres, address, f"UPDATE {{schema}}.about SET version = {version}")
    assert f": {which} importer wrote this ledger (its version is {version}" in problem_on_opening(address)


def test_a_server_that_is_not_durable_is_refused(postgres: Server, address: LedgerAddress) -> None:
    """With fsync off, a confirmed intent could be lost; with synchronous_commit off, it is turned on."""
    postgres.stop()
    postgres.start("fsync=off")
    try:
        message = problem_on_opening(address)
    finally:
        postgres.stop()
        postgres.start()
    assert message == (
        f"postgresql://tester@127.0.0.1:{postgres.port}/ledgers: this server can lose what it has confirmed (fsync or "
        "synchronous_commit is off), so nothing is sent; set fsync = on in its configuration, or use another server"
    )
    postgres.execute("ALTER DATABASE ledgers SET synchronous_commit = off", database="postgres")
    try:
        with open_ledger(address) as ledger:
            shown = ledger.write_with(lambda connection: connection.scalar(text("SHOW synchronous_commit")))
            assert shown == "on"
    finally:
        postgres.execute("ALTER DATABASE ledgers RESET synchronous_commit", database="postgres")


@pytest.mark.parametrize(
    "location",
    [
        pytest.param("postgresql://me:s3cret@word@db.example.com/ledger", id="at sign"),
        pytest.param("postgresql://me:s3cret/word@db.example.com/ledger", id="slash"),
        pytest.param("postgresql://me:s3cret%@db.example.com/ledger", id="percent sign"),
        pytest.param("postgresql://me:s3cret:word/db", id="no host"),
    ],
)
def test_an_address_that_is_not_valid_is_not_repeated(tmp_path: Path, location: str) -> None:
    """It may have a part of the password where the host should be."""
    assert problem_on_opening(LedgerAddress(location, tmp_path / "key")).startswith(
        "IMPORTER_LEDGER: it is not a valid address of a PostgreSQL database; write it like postgresql://"
    )


def test_a_key_file_is_required(address: LedgerAddress) -> None:
    """Every machine must know people by the same key."""
    assert problem_on_opening(replace(address, key_file=None)) == (
        "IMPORTER_LEDGER_KEY_FILE: a ledger in PostgreSQL needs the file with its key, the same on every machine; "
        "set it to the path of that file; with a new ledger the file is created"
    )


def test_a_ledger_is_opened_with_its_own_key_only(address: LedgerAddress, tmp_path: Path) -> None:
    """Without it, or with another one, every candidate would look new."""
    open_ledger(address).close()
    missing, other = replace(address, key_file=tmp_path / "missing"), replace(address, key_file=tmp_path / "other")
    (tmp_path / "other").write_bytes(bytes(32))
    assert f"{missing.key_file}: the key of the ledger cannot be read" in problem_on_opening(missing)
    assert f"{other.key_file}: this key file belongs to another ledger" in problem_on_opening(other)
    assert not (tmp_path / "missing").exists()


_WITHOUT_THE_DRIVER = """
import sys
sys.modules["psycopg"] = None
from importer.ledger import open_ledger
from importer.problems import UnusableInput
from tests.ledger.given import address_of
try:
    open_ledger(address_of(sys.argv[1:]))
except UnusableInput as error:
    print(error)
"""


def test_without_its_library_the_remedy_is_shown(tmp_path: Path) -> None:
    """The message says what to install."""
    address = LedgerAddress("postgresql://db.example.com/ledger", tmp_path / "key")
    shown = subprocess.check_output([sys.executable, "-c", _WITHOUT_THE_DRIVER, *words_of(address)], text=True)
    assert shown == (
        "IMPORTER_LEDGER: the library for PostgreSQL is not installed; run: pip install "
        "'candidate-importer[postgres]'\n"
    )


def test_names_are_removed_while_another_run_writes(address: LedgerAddress, ledger: Ledger) -> None:
    """VACUUM waits for no one for long: it is done, or reported as not done."""
    lead_to(ledger, State.IN_FLIGHT)
    with open_ledger(address) as other:
        assert other.scrub()
