"""A run whose rows are sent by the workers of a Dask cluster keeps every promise of a run with one process."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from importer.app.import_file import Finished, check_file, import_file
from importer.app.orders import Order
from importer.cluster.dask_client import differences
from importer.cluster.dask_cluster import DaskCluster
from importer.problems import UnusableInput
from tests.app.test_import_file import counts, finished, order_for
from tests.cli.conftest import Served
from tests.cluster.dask_processes import DaskProcesses, dask_cluster, free_port
from tests.cluster.test_local_workers import is_told_truly, people
from tests.patience import PATIENCE, wait_until
from tests.postgres import PASSWORD, Server
from tests.tcp_proxy import TcpProxy, proxy_to

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kills process groups")
Serve = Callable[..., Served]
ROWS = 60


class Cluster:
    """Workers whose settings are in the file of their user: a test sets them."""

    def __init__(self, dask: DaskProcesses, postgres: Server) -> None:
        self.dask, self._postgres = dask, postgres

    def order(self, served: Served, rows: int = ROWS, proxy: TcpProxy | None = None, **changed: object) -> Order:
        """An order with a new ledger, whose workers have the settings of the run; they reach it through the proxy."""
        location, key = self._postgres.location(), served.door.folder / "ledger.key"
        told = {"ledger": location, "ledger_key_file": key, "cluster": self.dask.address, "resend_delay_seconds": 0.2}
        theirs = location if proxy is None else location.replace(f":{self._postgres.port}/", f":{proxy.port}/")
        self.settings(
            IMPORTER_BASE_URL=served.sandbox.base_url,
            IMPORTER_TOKEN=served.sandbox.token,
            IMPORTER_LEDGER=theirs,
            IMPORTER_LEDGER_KEY_FILE=str(key),
        )
        self.whole()
        return order_for(served, rows, **{**told, **changed})

    def settings(self, **changed: str) -> None:
        """Set the workers' settings; "" removes one."""
        self._settings = {**getattr(self, "_settings", {}), **changed}
        file = self.dask.folder / "user" / "importer" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o600)
        named = ((name.removeprefix("IMPORTER_").lower(), value) for name, value in self._settings.items() if value)
        file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in named), "utf-8")

    def whole(self, workers: int = 2) -> None:
        """Start what an earlier test has killed."""
        if self.dask.scheduler is None or self.dask.scheduler.poll() is not None:
            self.dask.start_scheduler()
        alive = [worker for worker in self.dask.workers if worker.poll() is None]
        for _ in range(workers - len(alive)):
            alive.append(self.dask.start_worker())
        self.dask.workers[:] = alive
        self.dask.wait_for_workers(workers)


@pytest.fixture(scope="module")
def shared_dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("IMPORTER_")}
    folder = tmp_path_factory.mktemp("dask")
    with dask_cluster(folder, {**bare, "XDG_CONFIG_HOME": str(folder / "user")}) as dask:
        yield dask


@pytest.fixture
def cluster(shared_dask: DaskProcesses, postgres: Server) -> Cluster:
    return Cluster(shared_dask, postgres)


def begun(order: Order) -> tuple[threading.Thread, list[Finished]]:
    """An import on a thread, and what it returns."""
    done: list[Finished] = []
    thread = threading.Thread(target=lambda: done.append(finished(import_file(order))))
    thread.start()
    return thread, done


# --- the promises of every run ---


def test_the_workers_of_a_cluster_send_the_rows_of_a_run(serve: Serve, cluster: Cluster) -> None:
    """Each row once and reported as created; the next run knows them, with and without the cluster."""
    served = serve()
    order = cluster.order(served)
    assert counts(finished(import_file(order))) == {"created": ROWS}
    assert sorted(served.accepted) == people(ROWS)
    for one in (order, replace(order, settings=order.settings.model_copy(update={"cluster": None}))):
        assert counts(finished(import_file(one))) == {"already_imported": ROWS}


def test_the_rows_of_workers_that_die_are_sent_by_others(serve: Serve, cluster: Cluster) -> None:
    """All of them die with rows in flight, and others come: nobody is entered twice or forgotten, or told wrongly."""
    served = serve()
    order = cluster.order(served)
    with served.held_after(25) as go_on:
        thread, done = begun(order)
        served.wait_for(25)
        for number in range(2):
            cluster.dask.kill_worker(number)
        cluster.whole()
        go_on()
        thread.join(PATIENCE)
    assert sorted(served.accepted) == people(ROWS)
    assert is_told_truly(done[0], served, ROWS)


def test_workers_whose_run_was_killed_send_nothing(serve: Serve, cluster: Cluster) -> None:
    """What they have on the way finishes; the next run begins when they can send nothing any more, and goes on."""
    served = serve({"kind": "delay", "ms": 20, "share": 1.0, "times": 9999})
    order = cluster.order(served, 400)
    settings = {
        "IMPORTER_LEDGER": order.settings.ledger or "",
        "IMPORTER_LEDGER_KEY_FILE": str(order.settings.ledger_key_file),
        "IMPORTER_CLUSTER": cluster.dask.address,
    }
    command = ("run", str(order.file), "--mapping", "mapping.yaml", "--yes", "--quiet")
    served.killed_after(60, *command, **settings)
    assert served(*command, **settings).code == 0
    assert sorted(served.accepted) == people(400)


def test_a_run_goes_on_without_its_scheduler_and_its_workers_do_not(
    serve: Serve, cluster: Cluster, postgres: Server
) -> None:
    """It sends the rest by itself. Workers that were suspended and cut off, with rows on the way, send none later."""
    served = serve()
    with proxy_to(postgres.port) as proxy:
        order = cluster.order(served, 200, proxy)
        with served.held_after(60) as go_on:
            thread, done = begun(order)
            served.wait_for(60)
            proxy.is_open = False
            proxy.cut_all()
            for worker in cluster.dask.workers:
                os.killpg(worker.pid, signal.SIGSTOP)
            cluster.dask.kill_scheduler()
            go_on()
            thread.join(PATIENCE)
            accepted = list(served.accepted)
            proxy.is_open = True
            for worker in cluster.dask.workers:
                os.killpg(worker.pid, signal.SIGCONT)
        wait_until(lambda: all(worker.poll() is not None for worker in cluster.dask.workers), "they did not end")
    assert served.accepted == accepted
    assert sorted(accepted) == people(200)
    assert is_told_truly(done[0], served, 200)
    assert done[0].summary.exit_code == 0


def test_what_kills_a_worker_does_not_go_round_the_cluster(serve: Serve, cluster: Cluster) -> None:
    """Dask's own limit (`allowed-failures`) is not always kept (#6078): only one worker gets it, then this process."""
    cluster.order(serve(), 1)
    deadly = f"__import__('os').getpid() == {os.getpid()} or __import__('os')._exit(1)"
    with closing(DaskCluster(cluster.dask.address)) as dask:
        assert dask.helpers(eval)[0].submit(deadly).result(PATIENCE) is True
    assert sum(worker.poll() is not None for worker in cluster.dask.workers) == 1


def test_nothing_waits_for_ever_for_a_scheduler_that_hangs(serve: Serve, cluster: Cluster) -> None:
    """As a client may after many killed workers (#3196)."""
    cluster.order(serve(), 1)
    assert cluster.dask.scheduler is not None
    with closing(DaskCluster(cluster.dask.address)) as dask:
        os.killpg(cluster.dask.scheduler.pid, signal.SIGSTOP)
        try:
            with pytest.raises(OSError, match="does not answer"):
                dask.addresses()
            dask.close()
        finally:
            os.killpg(cluster.dask.scheduler.pid, signal.SIGCONT)


def test_what_earlier_runs_know_of_a_row_reaches_the_worker(serve: Serve, cluster: Cluster) -> None:
    """Workers have no results folder: the run tells them why the service rejected a row before."""
    served = serve({"kind": "refuse", "emails": ["person3@example.com"], "times": 9, "message": "no such document"})
    order = cluster.order(served, 8)
    first = finished(import_file(order))
    again = finished(import_file(order))
    assert counts(again) == {"rejected": 1, "already_imported": 7}
    assert [group.message for group in again.summary.problems] == [
        f"the service rejected this row (400: no such document) in run {first.folder.name}, and the row has not "
        "changed since; fix the row, or send it unchanged with --resend-rejected"
    ]


# --- checks ---


def test_a_check_with_a_cluster_accounts_for_every_row(serve: Serve, cluster: Cluster) -> None:
    """Its workers prepare the rows; they need no settings, and the ledger may be a file."""
    order = cluster.order(serve(), 2_100, ledger=None, ledger_key_file=None)
    cluster.settings(IMPORTER_BASE_URL="", IMPORTER_TOKEN="", IMPORTER_LEDGER="", IMPORTER_LEDGER_KEY_FILE="")
    with_it = check_file(order)
    without = check_file(replace(order, settings=order.settings.model_copy(update={"cluster": None})))
    assert counts(with_it) == counts(without) == {"not_sent": 2_100}
    assert with_it.summary.problems == without.summary.problems


# --- what is not right ---


def problems_of(order: Order) -> list[str]:
    """What a run says instead of sending."""
    with pytest.raises(UnusableInput) as error:
        import_file(order)
    return [str(problem).replace(str(order.settings.ledger_key_file), "KEY") for problem in error.value.problems]


def test_settings_of_a_worker_that_differ_are_reported(serve: Serve, cluster: Cluster, postgres: Server) -> None:
    """All of them at once, with the workers that have them; nothing is sent."""
    served = serve()
    order = cluster.order(served)
    other = postgres.location()
    cluster.settings(IMPORTER_BASE_URL="http://127.0.0.1:9", IMPORTER_LEDGER=other)
    address, ledger = problems_of(order)
    assert address.startswith("worker tcp://127.0.0.1:")
    assert "IMPORTER_BASE_URL: it is http://127.0.0.1:9, but the run sends to http://127.0.0.1:" in address
    assert "IMPORTER_LEDGER: postgresql://tester@127.0.0.1:" in ledger
    assert "is not the ledger of the run; set it to the ledger of the run, and start the worker again" in ledger
    cluster.settings(IMPORTER_BASE_URL=served.sandbox.base_url, IMPORTER_TOKEN="", IMPORTER_LEDGER="")
    token, ledger = problems_of(order)
    assert "IMPORTER_TOKEN: the access token is not set" in token
    assert "results/ledger.sqlite is not the ledger of the run" in ledger
    cluster.settings(IMPORTER_TOKEN="wr0ng", IMPORTER_LEDGER=order.settings.ledger or "")
    (token,) = problems_of(order)
    assert "IMPORTER_TOKEN: the service refuses its token (401)" in token
    assert served.accepted == []


def test_a_worker_with_another_key_or_another_importer_is_reported(
    serve: Serve, cluster: Cluster, tmp_path: Path
) -> None:
    """Each would send people again whom another one has sent, or do something else with a row."""
    served = serve()
    order = cluster.order(served)
    (tmp_path / "other.key").write_bytes(bytes(32))
    finished(import_file(order))
    cluster.settings(IMPORTER_LEDGER_KEY_FILE=str(tmp_path / "other.key"))
    (key,) = problems_of(order)
    assert "other.key: this key file belongs to another ledger" in key
    (tmp_path / "candidate_importer-9.9.dist-info").mkdir()
    (tmp_path / "candidate_importer-9.9.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: candidate-importer\nVersion: 9.9\n"
    )
    odd = cluster.dask.start_worker(PYTHONPATH=str(tmp_path))
    cluster.dask.wait_for_workers(3)
    (version,) = problems_of(order)
    os.killpg(odd.pid, signal.SIGKILL)
    assert "it has importer 9.9, and this machine 0.1.0; install the same importer and Python" in version


def test_a_worker_that_other_machines_can_reach_needs_certificates(serve: Serve, cluster: Cluster) -> None:
    """Dask listens on every network unless it is told not to, also for a scheduler on this machine."""
    order = cluster.order(serve())
    odd = cluster.dask.start_worker("--name", "odd")
    cluster.dask.wait_for_workers(3)
    (problem,) = problems_of(order)
    os.killpg(odd.pid, signal.SIGKILL)
    assert problem.endswith(
        ": other machines can reach it, and it asks for no certificate; start it with --host 127.0.0.1; or use tls:// "
        "with certificates, see docs/cluster.md"
    )


def test_workers_are_compared_by_what_they_run() -> None:
    """No importer, another Python, and an address on the network without encryption; many workers in one line."""

    def told(python: str = "3.12.1.final.0", importer: str | None = "0.1.0") -> dict[str, dict[str, str | None]]:
        return {"host": {"python": python}, "packages": {"candidate-importer": importer}}

    workers = {f"tcp://127.0.0.1:{port}": told(importer=None) for port in range(1, 6)}
    workers |= {"tls://192.0.2.7:9": told("3.11.9.final.0"), "tcp://192.0.2.7:8": told(), "tls://192.0.2.7:7": told()}
    hint = "install the same importer and Python on every worker; on other machines, start it with certificates"
    assert [str(one) for one in differences(told("3.12.4.final.0"), workers)] == [
        f"worker tcp://127.0.0.1:1, tcp://127.0.0.1:2, tcp://127.0.0.1:3 and 2 more: it has no importer; {hint}",
        f"worker tls://192.0.2.7:9: it runs Python 3.11, and this machine 3.12; {hint}",
        f"worker tcp://192.0.2.7:8: what is sent to it is not encrypted; {hint}",
    ]


def test_a_cluster_that_cannot_be_used_is_a_clear_problem(
    serve: Serve, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No scheduler, no workers, a scheduler that speaks otherwise, a ledger that others cannot reach, no library."""
    served = serve()
    order = cluster.order(served)

    def changed(**settings: object) -> Order:
        return replace(order, settings=order.settings.model_copy(update=settings))

    nobody = f"tcp://127.0.0.1:{free_port()}"
    (problem,) = problems_of(changed(cluster=nobody))
    assert problem.startswith(f"{nobody}: no Dask scheduler responds at this address (Timed out trying to connect to ")
    assert problem.endswith(
        "start it with: dask scheduler; check host, port and firewall, and whether it was started for tls://"
    )
    (problem,) = problems_of(changed(ledger=None, ledger_key_file=None))
    assert problem.startswith("IMPORTER_LEDGER: the machines of a cluster need one ledger, in PostgreSQL; this one is")
    with dask_cluster(tmp_path, {**os.environ}, workers=0) as empty:
        (problem,) = problems_of(changed(cluster=empty.address))
    assert (
        problem == f"{empty.address}: this Dask cluster has no workers; start at least one: dask worker {empty.address}"
    )
    monkeypatch.setitem(sys.modules, "distributed", None)
    (problem,) = problems_of(order)
    assert problem == (
        "--cluster: the library for Dask clusters is not installed; run: pip install 'candidate-importer[cluster]'"
    )


WRONG = [
    pytest.param("tcp://192.0.2.7:8786", "tcp:// is for a Dask cluster on this machine only", id="not encrypted"),
    pytest.param("scheduler:8786", "write it like local:4", id="no protocol"),
    pytest.param("tls://scheduler", "write it like local:4", id="no port"),
    pytest.param("tls://scheduler:1/x", "write it like local:4", id="a path"),
]


@pytest.mark.parametrize(("address", "reason"), WRONG)
def test_an_address_that_cannot_be_meant_is_refused(serve: Serve, address: str, reason: str) -> None:
    """Whoever reaches a port of Dask can run programs there, so beyond this machine both sides need certificates."""
    ran = serve()("run", "people.csv", "--mapping", "mapping.yaml", "--cluster", address)
    assert (ran.code, reason in ran.err) == (3, True)


def test_the_sandbox_is_for_this_machine(serve: Serve, cluster: Cluster) -> None:
    """The workers of other machines cannot reach it."""
    order = cluster.order(serve(), 2)
    ran = serve()("run", str(order.file), "--mapping", "mapping.yaml", "--sandbox", "--cluster", cluster.dask.address)
    assert ran.code == 2
    assert "--sandbox is for this machine only" in ran.err


# --- secrets ---


def test_no_secret_is_sent_to_the_cluster(serve: Serve, cluster: Cluster) -> None:
    """Neither token, key nor password of the run is in the memory of the scheduler, through which all messages go.

    The canary is found there: a candidate that is being sent.
    """
    served = serve()
    order = cluster.order(served)
    key = served.door.folder / "ledger.key"
    assert cluster.dask.scheduler is not None
    with served.held_after(20) as go_on:
        thread, _ = begun(order)
        served.wait_for(20)
        found = _memory_of(cluster.dask.scheduler.pid)
        go_on()
        thread.join(PATIENCE)
    assert b"person" in found
    for secret in (served.sandbox.token.encode(), PASSWORD.replace(" ", "%20").encode(), key.read_bytes()):
        assert secret not in found


def _memory_of(process: int) -> bytes:
    """What a process of this user can write to."""
    found = []
    with Path(f"/proc/{process}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            words = line.split()
            if words[1].startswith("rw") and (len(words) < 6 or words[5] == "[heap]"):
                start, end = (int(number, 16) for number in words[0].split("-"))
                try:
                    memory.seek(start)
                    found.append(memory.read(end - start))
                except OSError:
                    continue
    return b"".join(found)
