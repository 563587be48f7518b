"""A Dask cluster on loopback for tests: a scheduler and workers, each a process, as a data team starts them."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.patience import PATIENCE, wait_until

_QUICK: Final = {  # of Dask: what takes seconds on real machines
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "100ms",
}


def free_port() -> int:
    """Not one that the system gives to connections: while a server is down, one of its clients could get it."""
    while True:
        port = random.SystemRandom().randint(15_000, 30_000)
        with suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port


class DaskProcesses:
    """A scheduler and its workers. environment: of the workers, with their own settings of the importer."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        *,
        protocol: str = "tcp",
        options: Sequence[str] = (),
        nanny: bool = False,
    ) -> None:
        self.folder, self._environment, self._options = folder, {**environment, **_QUICK}, list(options)
        self.port = free_port()
        self.address = f"{protocol}://127.0.0.1:{self.port}"
        self._nanny = nanny
        self._supervisor: threading.Thread | None = None
        self._closing = threading.Event()
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        self._begin_scheduler()
        wait_until(self._listens, "the scheduler did not start")

    def _begin_scheduler(self) -> None:
        bare = {name: value for name, value in self._environment.items() if not name.startswith("IMPORTER_")}
        where = ["--host", self.address.rpartition(":")[0], "--port", str(self.port)]
        self.scheduler = self._start("scheduler", *where, environment=bare)

    def start_worker(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        nanny = "--nanny" if self._nanny else "--no-nanny"
        local = ["--local-directory", str(self.folder / "dask"), "--death-timeout", str(int(PATIENCE))]
        where = words or ("--host", "127.0.0.1")
        options = [self.address, *where, "--nthreads", "1", "--memory-limit", "0", nanny, *local]
        worker = self._start("worker", *options, environment={**self._environment, **environment})
        self.workers.append(worker)
        return worker

    def wait_for_workers(self, count: int) -> None:
        """Until the scheduler knows exactly so many."""
        from distributed import Client

        with Client(self.address, timeout=PATIENCE, set_as_default=False) as client:
            wait_until(lambda: len(client.nthreads()) == count, self.log()[-2000:])

    def kill_scheduler(self) -> None:
        assert self.scheduler is not None
        _end(self.scheduler)

    def kill_worker(self, number: int = 0) -> None:
        _end(self.workers[number])

    def supervise(self) -> None:
        """Start again what dies, as systemd does."""
        self._supervisor = threading.Thread(target=self._restart)
        self._supervisor.start()

    def _restart(self) -> None:
        while not self._closing.wait(0.2):
            if self.scheduler is not None and self.scheduler.poll() is not None:
                self._begin_scheduler()
            for dead in [worker for worker in self.workers if worker.poll() is not None]:
                self.workers.remove(dead)
                self.start_worker()

    def close(self) -> None:
        self._closing.set()
        if self._supervisor is not None:
            self._supervisor.join()
        for process in (*self.workers, *([self.scheduler] if self.scheduler else [])):
            _end(process)

    def log(self) -> str:
        return (self.folder / "dask.log").read_text("utf-8", "replace")

    def _start(self, kind: str, *words: str, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / "dask.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", kind, *words, "--no-dashboard", *self._options],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _listens(self) -> bool:
        assert self.scheduler is not None
        assert self.scheduler.poll() is None, self.log()
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL, for a nanny and its worker."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def dask_cluster(
    folder: Path,
    environment: Mapping[str, str],
    workers: int = 2,
    *,
    protocol: str = "tcp",
    options: Sequence[str] = (),
    nanny: bool = False,
) -> Iterator[DaskProcesses]:
    """A cluster until the block ends; the test is skipped where Dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("candidate-importer[cluster] is not installed")
    processes = DaskProcesses(folder, environment, protocol=protocol, options=options, nanny=nanny)
    try:
        processes.start_scheduler()
        for _ in range(workers):
            processes.start_worker()
        yield processes
    finally:
        processes.close()
