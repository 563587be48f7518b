"""A part of a run in a Dask worker: messages that come twice, and a lock that is taken away."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from importer.cluster import Access, Assignment, dask_part
from importer.cluster.dask_part import LOST, beginning
from importer.cluster.worker import Part, Progress, Task
from importer.ledger import PROVEN_SECONDS, Attempt, Intent, LedgerStore, LedgerUnwritable, TargetLock, open_ledger
from importer.load import LEDGER_LOST, LoadOptions
from importer.service import RecruitingService
from importer.settings import LedgerAddress
from tests.cli.conftest import Served
from tests.cluster.test_dealing import people, run_at
from tests.patience import PATIENCE, wait_until
from tests.postgres import Server
from tests.tcp_proxy import proxy_to

Serve = Callable[..., Served]
ROWS = 40


@contextmanager
def begun(served: Served, address: LedgerAddress) -> Iterator[tuple[LedgerStore, TargetLock, Assignment]]:
    """A run that has begun, its ledger and lock, and what a worker gets for it."""
    run = run_at(served.sandbox.base_url, Path("results"))
    with open_ledger(address) as ledger, ledger.lock_target(run.scope) as lock:
        ledger.begin_run(run)
        yield ledger, lock, Assignment(ledger.lend(lock), run, True, LoadOptions(concurrency=4))


def access(served: Served, address: LedgerAddress) -> Access:
    return Access(lambda: RecruitingService(served.sandbox.base_url, served.sandbox.token), address)


def refuses(ledger: LedgerStore, lock: TargetLock) -> bool:
    """Whether a process with that lock can write nothing."""
    with open_ledger(ledger.address) as other:
        other.join(lock)
        try:
            other.prove_lock()
        except LedgerUnwritable:
            return True
    return False


# --- messages -----------------------------------------------------------------------------------


def test_a_message_that_comes_twice_has_one_effect(
    serve: Serve, postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask runs a finished task again if its result was lost (#7870): the answer is the same, no row is dealt twice.

    A process without this part, also a new one of the same address, answers that it is lost, and sends nothing.
    """
    served, address = serve(), postgres.address(tmp_path / "ledger.key")
    for name, value in {
        "BASE_URL": served.sandbox.base_url,
        "TOKEN": served.sandbox.token,
        "LEDGER": address.location,
        "LEDGER_KEY_FILE": str(address.key_file),
    }.items():
        monkeypatch.setenv(f"IMPORTER_{name}", value)
    monkeypatch.chdir(tmp_path)
    with begun(served, address) as (_, _, given):
        loan, message = given.lock.loan or "", pickle.dumps(Task(tuple(people(range(2, 2 + ROWS))), is_last=True))
        assert dask_part.exchange(loan, 1, message) == LOST
        for _ in range(2):
            dask_part.begin(beginning(given))
        told = [pickle.loads(dask_part.exchange(loan, 1, message))]
        number = 1
        while not told[-1].has_ended:
            assert dask_part.exchange(loan, number, message) == pickle.dumps(told[-1])
            number += 1
            told.append(pickle.loads(dask_part.exchange(loan, number, pickle.dumps(Task(is_last=True)))))
        assert dask_part.exchange(loan, number + 2, message) == LOST
        dask_part._SEATS.clear()  # a new process
        assert dask_part.exchange(loan, number + 1, message) == LOST
        assert sorted(outcome.row for one in told for outcome in one.outcomes) == list(range(2, 2 + ROWS))
    assert len(served.accepted) == len(set(served.accepted)) == ROWS


def test_a_task_that_fails_tells_it_without_the_rows() -> None:
    """Dask would write the arguments of a task that raises to the log of its worker, with names and addresses."""
    found = pickle.loads(dask_part.begin(b"damaged"))
    assert isinstance(found, str)
    assert "UnpicklingError" in found
    assert "damaged" not in found.splitlines()[-1]


# --- the lock is taken away ---------------------------------------------------------------------


def test_a_lent_lock_is_taken_from_one_process_alone(serve: Serve, postgres: Server, tmp_path: Path) -> None:
    """The others and the run itself go on; at the end of the run, nobody has it any more."""
    with begun(serve(), postgres.address(tmp_path / "ledger.key")) as (ledger, lock, given):
        other = ledger.lend(lock)
        assert not refuses(ledger, given.lock)
        ledger.revoke(given.lock)
        assert refuses(ledger, given.lock)
        assert not refuses(ledger, other)
        ledger.prove_lock()
        location = ledger.address
    with open_ledger(location) as ledger:
        assert refuses(ledger, other)


def test_a_lock_is_taken_away_after_the_commit_that_is_under_way(
    serve: Serve, postgres: Server, tmp_path: Path
) -> None:
    """Its intents are found then; without that, the run would deal a row again that is about to be sent."""
    address = postgres.address(tmp_path / "ledger.key")
    with begun(serve(), address) as (ledger, _, given), psycopg.connect(address.location) as worker:
        worker.execute("SELECT FROM targets WHERE name = %s FOR SHARE", (given.lock.loan,))
        revoking = threading.Thread(target=ledger.revoke, args=(given.lock,))
        revoking.start()
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM targets%%'"
        wait_until(lambda: postgres.execute(waiting), "it did not wait for the commit")
        worker.commit()
        revoking.join(PATIENCE)
        assert refuses(ledger, given.lock)


def test_the_next_run_waits_for_the_workers_of_a_killed_one(serve: Serve, postgres: Server, tmp_path: Path) -> None:
    """For as long as they may send without asking; then they have no lock any more. A run that ended costs no time."""
    address = postgres.address(tmp_path / "ledger.key")
    run = run_at(serve().sandbox.base_url, tmp_path)
    with open_ledger(address) as ledger, ledger.lock_target(run.scope) as lock:
        left = ledger.lend(lock)
        postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        with open_ledger(address) as other:
            began = time.monotonic()
            with other.lock_target(run.scope):
                assert time.monotonic() - began >= PROVEN_SECONDS
                assert refuses(other, left)


def test_a_worker_that_comes_back_sends_nothing(serve: Serve, postgres: Server, tmp_path: Path) -> None:
    """Cut off from the database with intents on disk, and given up meanwhile: neither then nor later it sends more.

    Its rows are sent by the run, after the time for which it could have sent them.
    """
    served, address = serve(), postgres.address(tmp_path / "ledger.key")
    with proxy_to(postgres.port) as proxy, begun(served, address) as (ledger, _, given):
        cut = LedgerAddress(address.location.replace(f":{postgres.port}/", f":{proxy.port}/"), address.key_file, 5.0)
        part = Part(given, access(served, cut))
        rows, told = tuple(people(range(2, 2 + ROWS))), list[Progress]()
        with served.held_after(10) as go_on:
            part.exchange(Task(rows, is_last=True))
            served.wait_for(10)
            busy = "SELECT 1 FROM pg_stat_activity WHERE usename = 'tester' AND state <> 'idle'"
            wait_until(lambda: not postgres.execute(busy))  # an open transaction would be waited for
            proxy.hold()  # no word, and no end
            ledger.revoke(given.lock)
            revoked_at = time.monotonic()
            go_on()
        time.sleep(max(0.0, revoked_at + PROVEN_SECONDS - time.monotonic()))
        sent = len(served.accepted)
        proxy.release()
        wait_until(lambda: told.append(part.exchange(Task(is_last=True))) or told[-1].has_ended)  # type: ignore[func-returns-value]
        assert told[-1].stop is not None
        assert told[-1].stop.code == LEDGER_LOST
        assert len(served.accepted) == sent < ROWS
        prints = ledger.fingerprints
        known = ledger.look_up([prints.identity(given.run.scope, email) for email in served.accepted])
        assert len(known) == sent  # each has its intent, so that it is not dealt as new
        identity = prints.identity(given.run.scope, "new@example.com")
        refused = list[Exception | None]()
        with open_ledger(cut) as late:
            late.join(given.lock)
            late.write_intent(Intent(Attempt(identity, given.run.run, 99, 1), b"digest"), refused.append)
            late.flush_soon()
            wait_until(lambda: refused)
        assert isinstance(refused[0], LedgerUnwritable)
