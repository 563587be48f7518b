"""How rows are dealt: by workers that say what the test wants, and by two parts of one run that have the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from importer.cluster import Access, Assignment, ClusterLoader
from importer.cluster.worker import Part, Progress, Task
from importer.ledger import Attempt, Intent, RunRecord, Scope, TargetLock, open_ledger
from importer.load import Loader, LoadOptions, Waiting
from importer.models import Operation, Outcome, OutcomeKind, ReadyCandidate, Target
from importer.service import RecruitingService
from tests.cli.conftest import Served
from tests.patience import wait_until

Serve = Callable[..., Served]
WAITING = Waiting("the service refuses too many requests (429)", 5.0, 3, 900.0)


def people(rows: range) -> Iterator[ReadyCandidate]:
    for row in rows:
        email = f"person{row}@example.com"
        body = {"email": email, "first_name": "Ada", "last_name": "Nr", "cv": "7001", "source_platform": "legacy"}
        yield ReadyCandidate(row, email, json.dumps(body).encode())


class Scripted:
    """A worker that creates every row at once, or as `says` has it for its number and how often it was asked."""

    started: list[Scripted]

    def __init__(self, given: Assignment, *, started: list[Scripted], says: Callable[[int, int], Progress]) -> None:
        self.tasks: list[Task] = []
        self._number, self._says = len(started), says
        started.append(self)

    def submit(self, task: Task) -> Future[Progress]:
        self.tasks.append(task)
        created = tuple(Outcome(one.row, OutcomeKind.CREATED, 201, 1) for one in task.candidates)
        answer: Future[Progress] = Future()
        said = self._says(self._number, len(self.tasks))
        is_over = task.is_last and not said.is_suspended
        answer.set_result(said._replace(outcomes=created, has_ended=is_over))
        return answer

    def close(self) -> None:
        pass


def run_at(base_url: str, folder: Path) -> RunRecord:
    scope = Scope(base_url, Target(Operation.ADD_TO_POOL, "17"))
    return RunRecord("run-1", scope, "a.csv", "ab" * 32, "m.yaml", str(folder), datetime.now(UTC))


def assignment(served: Served, folder: Path, **options: float) -> Assignment:
    run = run_at(served.sandbox.base_url, folder)
    return Assignment(TargetLock(), run, True, LoadOptions(concurrency=4, **options))  # type: ignore[arg-type]


def access(served: Served, folder: Path) -> Access:
    connect = partial(RecruitingService, served.sandbox.base_url, served.sandbox.token)
    return Access(connect, folder / "ledger.sqlite")


def test_while_the_service_refuses_one_worker_the_others_pause(serve: Serve, tmp_path: Path) -> None:
    """The pause is reported once with its seconds, then its end; the others go on after it."""
    served = serve()
    given, keys = assignment(served, tmp_path), access(served, tmp_path)
    started, reported = list[Scripted](), list[Waiting | None]()

    def says(worker: int, asked: int) -> Progress:
        is_refused = worker == 0 and 4 <= asked < 7
        return Progress(is_suspended=is_refused, waiting=WAITING if is_refused else None)

    with open_ledger(keys.ledger) as ledger, closing(keys.open_service()) as service:
        alone = Loader(service, ledger, given.run)
        start = partial(Scripted, started=started, says=says)
        loader = ClusterLoader(start, [given] * 3, ledger, alone, on_waiting=reported.append)
        outcomes = list(loader.load(people(range(2, 10_000))))
    assert sorted(outcome.row for outcome in outcomes) == list(range(2, 10_000))
    assert reported == [WAITING, None]
    assert not any(task.is_paused for task in started[0].tasks)
    for other in started[1:]:
        paused = [task.is_paused for task in other.tasks]
        assert (paused[0], any(paused), paused[-1]) == (False, True, False)


def test_rows_that_two_workers_have_are_sent_once(serve: Serve, tmp_path: Path) -> None:
    """A worker that was taken for dead and is alive can send nobody a second time: the ledger refuses it."""
    served = serve({"kind": "delay", "ms": 10, "share": 1.0, "times": 9999})
    given, rows = assignment(served, tmp_path, resend_delay=0.2), tuple(people(range(2, 62)))
    keys = access(served, tmp_path)
    with open_ledger(keys.ledger) as ledger, ledger.lock_target(given.run.scope):
        ledger.begin_run(given.run)
        parts = [Part(given, keys), Part(given, keys)]
        told = [part.exchange(Task(rows, is_last=True)) for part in parts]
        wait_until(lambda: told.extend(part.exchange(Task(is_last=True)) for part in parts) or told[-1].has_ended)  # type: ignore[func-returns-value]
        wait_until(lambda: told.append(parts[0].exchange(Task(is_last=True))) or told[-1].has_ended)  # type: ignore[func-returns-value]
    assert len(served.accepted) == len(set(served.accepted)) == len(rows)


def test_a_row_that_a_dead_worker_had_in_flight_waits_for_its_delay(serve: Serve, tmp_path: Path) -> None:
    """It is sent again after it, as a second attempt; the 409 to it is told apart."""
    served = serve()
    given, keys = assignment(served, tmp_path, resend_delay=0.3), access(served, tmp_path)
    (row,) = people(range(2, 3))
    with (
        open_ledger(keys.ledger) as ledger,
        ledger.lock_target(given.run.scope),
        closing(keys.open_service()) as service,
    ):
        ledger.begin_run(given.run)
        identity = ledger.fingerprints.identity(given.run.scope, row.email)
        intent = Intent(Attempt(identity, "run-1", 2, 1), ledger.fingerprints.body_digest(row.body))
        ledger.write_intent(intent, lambda _: None)
        ledger.flush()
        service.start(given.run.scope.target, row.body, lambda _: None)
        served.wait_for(1)
        began = datetime.now(UTC)
        alone = Loader(service, ledger, given.run, options=given.options)
        (outcome,) = ClusterLoader(lambda _: _Dead(), [given], ledger, alone).load([row])
        requests = ledger.requests("run-1", 2)
    assert (outcome.kind, outcome.attempts, outcome.status) == (OutcomeKind.ALREADY_EXISTS, 2, 409)
    assert [problem.code for problem in outcome.problems] == ["created-by-earlier-request"]
    assert (requests[1].started_at - began).total_seconds() >= 0.3
    assert len(served.accepted) == 1


def test_a_worker_without_news_counts_as_dead(serve: Serve, tmp_path: Path) -> None:
    """It is ended, and its rows are sent in another way: a run never waits for ever."""
    served = serve()
    given, keys, silent = assignment(served, tmp_path), access(served, tmp_path), list[_Silent]()

    def start(_: Assignment) -> _Silent:
        silent.append(_Silent())
        return silent[-1]

    with (
        open_ledger(keys.ledger) as ledger,
        ledger.lock_target(given.run.scope),
        closing(keys.open_service()) as service,
    ):
        ledger.begin_run(given.run)
        alone = Loader(service, ledger, given.run, options=given.options)
        outcomes = list(ClusterLoader(start, [given] * 2, ledger, alone, no_news=0.1).load(people(range(2, 22))))
    assert [outcome.kind for outcome in outcomes] == [OutcomeKind.CREATED] * 20
    assert silent
    assert all(worker.is_closed for worker in silent)


class _Silent:
    is_closed = False

    def submit(self, task: Task) -> Future[Progress]:
        return Future()

    def close(self) -> None:
        self.is_closed = True


class _Dead:
    def submit(self, task: Task) -> Future[Progress]:
        answer: Future[Progress] = Future()
        answer.set_exception(EOFError())
        return answer

    def close(self) -> None:
        pass
