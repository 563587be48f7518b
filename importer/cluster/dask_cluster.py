"""The workers of a Dask cluster, as a run uses them: each sends a part of its rows, or prepares some."""

from __future__ import annotations

import asyncio
import pickle
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Final, Generic, TypeVar

from importer.cluster import dask_part
from importer.cluster.dask_client import DaskClient, loaded, of_workers
from importer.cluster.dask_part import Terms
from importer.cluster.worker import Assignment, Progress, Task
from importer.ledger import LedgerStore, TargetLock
from importer.problems import Problem, UnusableInput

A = TypeVar("A")
B = TypeVar("B")


class DaskCluster(DaskClient):
    """The workers of a cluster.

    patience: seconds to wait for another worker when all are dead: systemd or a nanny starts it again in less.
    """

    patience: Final = 30.0

    def __init__(self, address: str) -> None:
        """Raises UnusableInput, see `DaskClient`."""
        super().__init__(address)
        self._given: Counter[str] = Counter()  # how often a worker was given a part
        self._used: set[str] = set()

    def examine(self, base: str, lock: TargetLock, *, is_healthy: bool) -> None:
        """Whether every worker can send to a service and write under a lock. is_healthy: whether the service is.

        Raises:
            UnusableInput: with every problem.
        """
        message = pickle.dumps(Terms(base, lock, is_healthy))
        try:
            addresses = self.addresses()
        except OSError as error:
            raise self.unreachable(error) from None
        asked = {one: self.submit(self.ask(one, dask_part.examine, message)) for one in addresses}
        found: dict[Problem, list[str]] = {}
        silent: dict[Problem, list[str]] = {}
        for address, answer in asked.items():
            try:
                for problem in loaded(answer.result()):
                    found.setdefault(problem, []).append(address)
            except OSError as error:  # it has just died; one that comes later is examined when it gets a part
                problem = Problem("cluster-worker-unusable", f"it cannot be asked ({error})", "see its log")
                silent.setdefault(problem, []).append(address)
        if sum(map(len, silent.values())) == len(asked):
            found |= silent
        if found:
            raise UnusableInput([of_workers(problem, which) for problem, which in found.items()])

    def start(self, assignment: Assignment, ledger: LedgerStore) -> DaskWorker:
        """A worker with a part of a run: one that has none, and that had one least often.

        Raises:
            OSError: there is none.
            LedgerUnwritable
        """
        free = [one for one in self.addresses() if one not in self._used]
        if not free:
            raise ConnectionError(f"{self.address} has no free worker")
        address = min(free, key=lambda one: self._given[one])
        assignment = replace(assignment, lock=ledger.lend(assignment.lock))
        self._given[address] += 1
        self._used.add(address)
        return DaskWorker(self, address, assignment, ledger, lambda: self._used.discard(address))

    def helpers(self, function: Callable[[A], B]) -> Sequence[DaskHelper[A, B]]:
        """One for each worker; the function, with all it has, must be a value."""
        with suppress(OSError):
            return [DaskHelper(self, one, function) for one in self.addresses()]
        return ()


class DaskWorker:
    """A part of a run on a worker of a Dask cluster, see `dealing.Worker`.

    `close` cannot end it: no signal reaches another machine, and the network may be what is broken. Its lock is taken
    away instead, see postgres_locks.
    """

    def __init__(
        self,
        cluster: DaskCluster,
        address: str,
        assignment: Assignment,
        ledger: LedgerStore,
        on_closed: Callable[[], None],
    ) -> None:
        self._cluster, self._address, self._ledger, self._on_closed = cluster, address, ledger, on_closed
        self._assignment = assignment
        self._number = 0
        self._has_ended = False

    def submit(self, task: Task) -> Future[Progress]:
        self._number += 1
        return self._cluster.submit(self._ask(self._number, task))

    async def _ask(self, number: int, task: Task) -> Progress:
        cluster, loan = self._cluster, self._assignment.lock.loan
        if number == 1:
            loaded(await cluster.ask(self._address, dask_part.begin, dask_part.beginning(self._assignment)))
        message = pickle.dumps(task)
        progress: Progress = loaded(await cluster.ask(self._address, dask_part.exchange, loan, number, message))
        self._has_ended = progress.has_ended
        return progress

    def close(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._ledger.revoke(self._assignment.lock)
        self._on_closed()


class DaskHelper(Generic[A, B]):
    """A function that a worker computes; if that is not possible, this process does."""

    def __init__(self, cluster: DaskCluster, address: str, function: Callable[[A], B]) -> None:
        self._cluster, self._address, self._function = cluster, address, function
        self._name = uuid.uuid4().hex
        self._is_kept = cluster.submit(cluster.ask(address, dask_part.keep, self._name, pickle.dumps(function)))

    def submit(self, question: A) -> Future[B]:
        return self._cluster.submit(self._ask(question))

    async def _ask(self, question: A) -> B:
        with suppress(OSError):
            loaded(await asyncio.wrap_future(self._is_kept))
            message = pickle.dumps(question)
            found: B = loaded(await self._cluster.ask(self._address, dask_part.compute, self._name, message))
            return found
        return await asyncio.get_running_loop().run_in_executor(None, self._function, question)

    def close(self) -> None:
        self._is_kept.cancel()
