"""A worker sends its part of a run's rows with a Loader of its own, and reports what became of them: both ends."""

from __future__ import annotations

import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Final, NamedTuple, TypeVar

from importer.answering_process import AnsweringProcess, answer_all
from importer.child_process import child_environment, python_command
from importer.ledger import Address, RunRecord, TargetLock, open_ledger
from importer.load import Cancellation, Loader, LoadOptions, RequestAnswered, Waiting
from importer.models import Outcome, OutcomeKind, ReadyCandidate, Stop
from importer.problems import Problem, UnusableInput
from importer.service import RecruitingService

ERRORS: Final = (OutcomeKind.REJECTED, OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED)
"""The outcomes that count for --max-errors."""

T = TypeVar("T")
_POLL: Final = 0.1  # seconds: the longest time without an answer to the run
_MANY: Final = 32  # outcomes that are worth an answer


@dataclass(frozen=True, slots=True)
class Access:
    """What a worker needs to send. It has the token, so it never leaves a machine."""

    open_service: Callable[[], RecruitingService] = field(repr=False)
    ledger: Address = field(repr=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a worker must know before its first row. It has no secrets. options: with its share of the rate."""

    lock: TargetLock
    run: RunRecord
    has_answered: bool
    options: LoadOptions


class Task(NamedTuple):
    """More rows for a worker, and how the run stands. is_last: no more rows will follow.

    rejected: the outcomes of those that earlier runs sent, and that the service rejected, with their run and row then.
    """

    candidates: tuple[ReadyCandidate, ...] = ()
    rejected: tuple[tuple[tuple[str, int], Outcome], ...] = ()
    is_last: bool = False
    is_paused: bool = False
    is_cancelled: bool = False
    stop: Stop | None = None


class Progress(NamedTuple):
    """What became of a worker's rows since its last answer, and how it stands.

    unread: rows that it has not begun with. waiting: what all of its rows wait for, if they do. problems, bug: what
    ended it, other than a stop.
    """

    outcomes: tuple[Outcome, ...] = ()
    answered: tuple[RequestAnswered, ...] = ()
    unread: int = 0
    is_busy: bool = False
    is_suspended: bool = False
    waiting: Waiting | None = None
    stop: Stop | None = None
    learned_rate: float | None = None
    has_ended: bool = False
    problems: tuple[Problem, ...] = ()
    bug: str = ""


class LocalWorker(AnsweringProcess[Task, Progress]):
    """A new process with a part of a run. It starts at once; access and assignment go through its pipe.

    The files of the lock stay open in it, so that the target is locked as long as it may send, also if this process is
    killed. It has its own session, so that Ctrl-C reaches only this process.

    Raises:
        OSError: there are no resources for another process.
    """

    def __init__(self, assignment: Assignment, access: Access) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            end = theirs.fileno()
            self.process = subprocess.Popen(
                python_command("from importer.cluster.worker import main; main()", str(end)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=child_environment() | _variables_of_libpq(),
                pass_fds=(end, *assignment.lock.files),
                start_new_session=True,
            )
            connection = Connection(ours.detach())
        super().__init__(connection, self._kill)
        connection.send_bytes(pickle.dumps((assignment, access), pickle.HIGHEST_PROTOCOL))

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _variables_of_libpq() -> dict[str, str]:
    """PGPASSFILE, PGSSLROOTCERT and so on: a worker connects to a ledger in PostgreSQL as this process does."""
    return {name: value for name, value in os.environ.items() if re.fullmatch("PG[A-Z]+", name)}


# --- in the worker ------------------------------------------------------------------------------


class Part:
    """The part of a run that one worker sends, on a thread of its own, which begins with the first task."""

    def __init__(self, assignment: Assignment, access: Access) -> None:
        self._assignment, self._access = assignment, access
        self._cancellation = Cancellation()
        self._loader: Loader | None = None
        self._unread: deque[ReadyCandidate] = deque()
        self._rejected: dict[tuple[str, int], Outcome] = {}
        self._few = 0  # rows: with so few unread, more are wanted
        self._is_last = False
        self._outcomes: deque[Outcome] = deque()
        self._answered: deque[RequestAnswered] = deque()
        self._waiting: tuple[Waiting, float] | None = None  # until when, on the clock of the run
        self._has_ended = False
        self._problems: tuple[Problem, ...] = ()
        self._bug = ""
        self._stop: Stop | None = None
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sending", daemon=True)

    def exchange(self, task: Task) -> Progress:
        """Take a task, and answer as soon as there is something to report, or a moment later."""
        if task.is_paused:
            self._cancellation.pause()
        else:
            self._cancellation.resume()
        if task.is_cancelled:
            self._cancellation.set()
        self._stop = self._stop or task.stop
        if self._stop is not None and self._loader is not None:
            self._loader.end(self._stop)
        self._rejected.update(task.rejected)  # first: the rows need it
        self._unread.extend(task.candidates)
        self._few = len(self._unread) // 4
        self._is_last = task.is_last
        if self._thread.ident is None:
            self._thread.start()
        self._news.wait(_POLL)
        self._news.clear()
        return self._progress()

    def pause(self) -> None:
        """Send nothing new until the next task."""
        self._cancellation.pause()

    def abandon(self) -> None:
        """The run has gone: send nothing new, record the responses that still arrive, and end."""
        self._cancellation.set()
        self._is_last = True
        if self._thread.ident is not None:
            self._thread.join()

    def _progress(self) -> Progress:
        has_ended, loader = self._has_ended, self._loader  # first: then nothing follows what is taken below
        outcomes, answered = _taken(self._outcomes), _taken(self._answered)
        if loader is None:
            return Progress(unread=len(self._unread), has_ended=has_ended, problems=self._problems, bug=self._bug)
        waiting = None
        if self._waiting is not None and (loader.is_suspended or not loader.is_busy):
            reported, until = self._waiting
            waiting = reported._replace(seconds=until - self._cancellation.now())
        return Progress(
            outcomes,
            answered,
            len(self._unread),
            loader.is_busy or bool(self._unread),
            loader.is_suspended,
            waiting,
            loader.stop,
            loader.learned_rate,
            has_ended,
            self._problems,
            self._bug,
        )

    # --- on the thread of this part ---

    def _work(self) -> None:
        try:
            self._send()
        except UnusableInput as error:
            self._problems = error.problems
        except BaseException:  # noqa: BLE001 - raised again in the run
            self._bug = traceback.format_exc()
        self._has_ended = True
        self._news.set()

    def _send(self) -> None:
        given = self._assignment
        service = self._access.open_service()
        try:
            with open_ledger(self._access.ledger) as ledger:
                ledger.join(given.lock)
                loader = Loader(
                    service,
                    ledger,
                    given.run,
                    options=given.options,
                    probe=service.is_healthy,
                    has_answered=given.has_answered,
                    earlier=lambda run, row: self._rejected.pop((run, row), None),
                    on_waiting=self._note_waiting,
                    on_answer=self._answered.append,
                    cancellation=self._cancellation,
                )
                self._loader = loader
                if self._stop is not None:
                    loader.end(self._stop)
                for outcome in loader.load(self._candidates()):
                    self._outcomes.append(outcome)
                    if len(self._outcomes) >= _MANY or outcome.kind in ERRORS:  # the run may have to stop
                        self._news.set()
        finally:
            service.close()

    def _candidates(self) -> Iterator[ReadyCandidate | None]:
        while True:
            is_last = self._is_last  # before the rows, which may arrive together with it
            if self._unread:
                yield self._unread.popleft()
            elif is_last:
                return
            else:
                yield None
            if len(self._unread) <= self._few and not is_last:
                self._news.set()

    def _note_waiting(self, waiting: Waiting | None) -> None:
        self._waiting = (waiting, self._cancellation.now() + waiting.seconds) if waiting is not None else None
        self._news.set()


def _taken(queue: deque[T]) -> tuple[T, ...]:
    return tuple(queue.popleft() for _ in range(len(queue)))


def main() -> None:
    """A worker on this machine, until the run closes its end of the pipe, or has died."""
    for number in (signal.SIGINT, signal.SIGTERM):  # they are for the run, which ends its workers
        signal.signal(number, signal.SIG_IGN)
    connection = Connection(int(sys.argv[1]))
    try:
        part = Part(*pickle.loads(connection.recv_bytes()))
    except EOFError:  # the run has gone
        return
    answer_all(connection, part.exchange)
    part.abandon()
