"""A run whose rows are sent by several processes of this machine keeps every promise of a run with one."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from importer.app.import_file import Finished, check_file, import_file
from importer.app.orders import ErrorLimit, RunControl, Sending
from importer.cluster import shared_among
from importer.load import LoadOptions
from tests.app.test_import_file import Listener, counts, finished, order_for
from tests.cli.conftest import Served, read_csv
from tests.crash.report_checks import Truth, read_report, report_errors
from tests.patience import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds its child processes in /proc")
Serve = Callable[..., Served]
EVERYBODY = 60


def workers_of(process: int) -> list[int]:
    """The worker processes of a run that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and b"importer.cluster.worker" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:  # it has just ended
            continue
    return sorted(found)


def people(count: int) -> list[str]:
    return sorted(f"person{number}@example.com" for number in range(count))


def is_told_truly(done: Finished, served: Served, count: int) -> bool:
    """Whether each row has one outcome, which is true."""
    emails = {row: f"person{row - 2}@example.com" for row in range(2, count + 2)}
    return report_errors(read_report(done.folder), emails, Truth(frozenset(), frozenset(served.accepted))) == []


def test_several_processes_send_the_rows_of_a_run(serve: Serve) -> None:
    """Each row once and reported as created; the processes end with the run."""
    served, done = serve(), list[Finished]()
    order = order_for(served, EVERYBODY, cluster="local:3")
    thread = threading.Thread(target=lambda: done.append(finished(import_file(order))))
    with served.held_after(30):
        thread.start()
        served.wait_for(30)
        wait_until(lambda: len(workers_of(os.getpid())) == 3)
    thread.join(PATIENCE)
    assert counts(done[0]) == {"created": EVERYBODY}
    assert sorted(served.accepted) == people(EVERYBODY)
    assert workers_of(os.getpid()) == []


def test_the_second_run_sends_nobody_again(serve: Serve) -> None:
    """What any of the processes sent is known to the next run, with or without them."""
    served = serve()
    order = order_for(served, EVERYBODY, cluster="local:2")
    finished(import_file(order))
    again = finished(import_file(replace(order, settings=order.settings.model_copy(update={"cluster": None}))))
    assert (counts(again), len(served.accepted)) == ({"already_imported": EVERYBODY}, EVERYBODY)


def test_the_rows_of_a_worker_that_dies_are_sent_by_another_one(serve: Serve) -> None:
    """Nobody is entered twice or forgotten; a request whose response was lost is told apart."""
    served = serve()
    order = order_for(served, EVERYBODY, cluster="local:2", concurrency=8)
    done: list[Finished] = []
    thread = threading.Thread(target=lambda: done.append(finished(import_file(order))))
    with served.held_after(25) as go_on:
        thread.start()
        served.wait_for(25)
        wait_until(lambda: len(workers_of(os.getpid())) == 2)
        killed = workers_of(os.getpid())
        for worker in killed:
            os.kill(worker, signal.SIGKILL)
        wait_until(lambda: len(set(workers_of(os.getpid())) - set(killed)) == 2, "no other worker was started")
        go_on()
        thread.join(PATIENCE)
    assert sorted(served.accepted) == people(EVERYBODY)
    assert is_told_truly(done[0], served, EVERYBODY)
    assert set(counts(done[0])) == {"created", "already_exists"}
    attempts = Counter(row["import_problem"] for row in read_csv(done[0].folder / "409_already_exists.csv"))
    assert list(attempts) == ["most likely created by our own earlier request, whose response was lost"]


def test_workers_that_die_again_and_again_are_made_up_for(serve: Serve) -> None:
    """The run sends what is left by itself, instead of starting processes for ever."""
    served, stopped = serve({"kind": "delay", "ms": 20, "share": 1.0, "times": 9999}), threading.Event()

    def kill_them_all() -> None:
        while not stopped.wait(0.01):
            for worker in workers_of(os.getpid()):
                os.kill(worker, signal.SIGKILL)

    thread = threading.Thread(target=kill_them_all)
    thread.start()
    try:
        done = finished(import_file(order_for(served, 20, cluster="local:2")))
    finally:
        stopped.set()
        thread.join()
    assert sorted(served.accepted) == people(20)
    assert is_told_truly(done, served, 20)


def test_a_killed_run_is_over_only_when_its_workers_have_ended(serve: Serve) -> None:
    """Until then no other run of the target begins; then nobody is entered twice."""
    served = serve()
    order = order_for(served, EVERYBODY)
    command = ("run", str(order.file), "--mapping", "mapping.yaml", "--yes", "--quiet")
    with served.held_after(20) as go_on, served.door.started(*command, "--cluster", "local:2") as process:
        served.wait_for(20)
        workers = workers_of(process.pid)
        process.kill()
        process.wait()
        assert len(workers) == 2
        busy = served(*command)
        assert (busy.code, "another run is writing to job post 4f2c9a" in busy.err) == (75, True)
        go_on()
        wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    assert len(served.accepted) < EVERYBODY, "the workers sent on without their run"
    assert served(*command).code == 0
    assert sorted(served.accepted) == people(EVERYBODY)


def test_a_stop_ends_every_worker_and_the_run_goes_on_later(serve: Serve) -> None:
    """Rows in flight finish, the others are not sent; the same order sends them."""
    served, control = serve({"kind": "delay", "ms": 5, "share": 1.0, "times": 9999}), RunControl()
    order = order_for(served, 200, cluster="local:2", concurrency=4)
    done = finished(import_file(order, Listener(30, control.stop), control))
    assert done.summary.exit_code == 5
    assert counts(done).keys() == {"created", "not_sent"}
    assert is_told_truly(done, served, 200)
    assert finished(import_file(order)).summary.exit_code == 0
    assert sorted(served.accepted) == people(200)


def test_a_pause_holds_every_worker(serve: Serve) -> None:
    """Once the requests in flight have finished, nothing is sent until the run is resumed."""
    served, control = serve(), RunControl()
    listener = Listener(20, control.pause)
    order, done = order_for(served, 400, cluster="local:2"), list[Finished]()
    thread = threading.Thread(target=lambda: done.append(finished(import_file(order, listener, control))))
    thread.start()
    wait_until(lambda: control.is_paused)
    numbers: list[int] = []
    wait_until(lambda: numbers.append(listener.rows) or numbers[-30:].count(numbers[-1]) == 30)  # type: ignore[func-returns-value]
    assert len(served.accepted) < 400
    control.resume()
    thread.join(PATIENCE)
    assert counts(done[0]) == {"created": 400}


def test_the_limit_of_errors_holds_for_all_workers_together(serve: Serve) -> None:
    """A percentage too, of which no worker alone can know when it is passed."""
    emails = [f"person{number}@example.com" for number in range(0, 600, 4)]
    messages = [{"kind": "refuse", "emails": emails[n::7], "times": 1, "message": f"reason {n}"} for n in range(7)]
    served = serve(*messages, {"kind": "delay", "ms": 5, "share": 1.0, "times": 9999})
    order = replace(
        order_for(served, 600, cluster="local:2", concurrency=4), sending=Sending(max_errors=ErrorLimit.parse("10%"))
    )
    done = finished(import_file(order))
    assert (done.summary.exit_code, done.summary.stopped and done.summary.stopped.code) == (5, "too-many-errors")
    assert counts(done)["not_sent"] > 300


def test_a_wrong_mapping_is_found_by_the_first_worker_alone(serve: Serve) -> None:
    """Ten rows with the same rejection stop the run, not ten of each worker."""
    emails = [f"person{number}@example.com" for number in range(100)]
    served = serve({"kind": "refuse", "emails": emails, "times": 9, "message": "no such document"})
    done = finished(import_file(order_for(served, 100, cluster="local:4", concurrency=4)))
    assert (done.summary.stopped and done.summary.stopped.code) == "rejection-repeated"
    assert counts(done)["rejected"] < 2 * 10


def test_concurrency_and_rate_are_shared() -> None:
    """Together the workers send no more than the run may; there are never more workers than requests."""
    options = LoadOptions(concurrency=8, rate=30.0, max_errors=ErrorLimit(5))
    shares = shared_among(3, options, is_rate_shared=False)
    assert [(one.concurrency, one.rate) for one in shares] == [(3, 10.0), (3, 10.0), (2, 10.0)]
    assert len(shared_among(5, LoadOptions(concurrency=2), is_rate_shared=False)) == 2
    assert {one.rate for one in shared_among(3, options, is_rate_shared=True)} == {30.0}


def test_the_token_of_a_worker_is_neither_in_its_command_nor_in_its_environment(serve: Serve) -> None:
    """Other users of the machine can see the one, and child processes inherit the other."""
    served, found = serve({"kind": "delay", "ms": 10, "share": 1.0, "times": 9999}), list[bytes]()

    def look() -> None:
        for worker in workers_of(os.getpid()):
            found.extend(Path(f"/proc/{worker}/{name}").read_bytes() for name in ("cmdline", "environ"))

    finished(import_file(order_for(served, EVERYBODY, cluster="local:2"), Listener(20, look)))
    assert len(found) == 4
    assert not any(served.sandbox.token.encode() in one for one in found)


def test_a_check_with_several_processes_accounts_for_every_row(serve: Serve) -> None:
    """However many processes prepare the rows of a long file."""
    assert counts(check_file(order_for(serve(), 2_100, cluster="local:3"))) == {"not_sent": 2_100}
