"""What a Dask worker does for a run, with its own settings: it sends a part of the rows, or prepares some of a check.

Dask may run a task that has finished a second time, in this process or in a new one of the same address, when its
result is lost (dask/distributed #7870). So a part belongs to the process that began it, a message has a number, and the
same number gets the same answer. A process without that part answers LOST; then the rows are dealt again, through the
ledger.

No task raises: Dask would write its arguments, which are people's data, to the log of the worker.
"""

from __future__ import annotations

import pickle
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any, Final, NamedTuple

from importer import __version__
from importer.cluster.worker import Access, Assignment, Part
from importer.ledger import LedgerUnwritable, TargetLock, is_on_server, ledger_name, open_existing_ledger
from importer.load import LEDGER_LOST
from importer.problems import ImporterError, Problem, UnusableInput, unusable_file
from importer.service import PROBED, NoReply, service_of
from importer.settings import Settings, load_settings

LOST: Final = b""
"""The answer of a process that has no such part, or whose part cannot go on."""
_PAUSED_AFTER: Final = 3.0  # seconds without a message, which comes several times a second: the run may have died
_ENDED_AFTER: Final = 30.0  # seconds: the run has gone
_PROBES: Final = 3
_MOST_FUNCTIONS: Final = 8  # of checks; each has a mapping


class Terms(NamedTuple):
    """What a worker must fit: the address of the run's service, and its lock. is_healthy: the service, for the run."""

    base: str
    lock: TargetLock
    is_healthy: bool


def _told(function: Callable[..., bytes]) -> Callable[..., bytes]:
    """A task that raises nothing: a bug is an answer too."""

    @wraps(function)
    def call(*arguments: Any) -> bytes:
        try:
            return function(*arguments)
        except BaseException:  # noqa: BLE001 - raised again in the run
            return pickle.dumps(traceback.format_exc())

    return call


# --- before the first row -----------------------------------------------------------------------


@_told
def listens_at() -> bytes:
    """Where this worker can be reached; 0.0.0.0: from everywhere, whatever it tells its scheduler."""
    from distributed import get_worker

    address: str = get_worker().listen_address
    return pickle.dumps((address,))


@_told
def examine(message: bytes) -> bytes:
    """The problems for which this worker cannot send for a run."""
    terms: Terms = pickle.loads(message)
    problems: list[Problem] = []
    try:
        settings = load_settings()
    except UnusableInput as error:
        return pickle.dumps(error.problems)
    for check in (_check_service, _check_ledger):
        try:
            check(settings, terms)
        except UnusableInput as error:
            problems += error.problems
        except ImporterError as error:
            problems.append(Problem("cluster-worker-unusable", str(error)))
    return pickle.dumps(tuple(problems))


def _check_service(settings: Settings, terms: Terms) -> None:
    service = _access(settings, terms.base, 1).open_service()
    try:
        for _ in range(_PROBES):
            if not isinstance(reply := service.probe(PROBED), NoReply):
                break
    finally:
        service.close()
    if isinstance(reply, NoReply) and terms.is_healthy:
        hint = "check the network and the firewall of the worker's machine"
        message = f"the service cannot be reached from there ({reply.reason})"
        raise unusable_file("cluster-worker-unusable", message, hint, "IMPORTER_BASE_URL")
    if not isinstance(reply, NoReply) and reply.status in (401, 403):
        hint = "set the token of the run there, and start the worker again"
        message = f"the service refuses its token ({reply.status})"
        raise unusable_file("cluster-worker-unusable", message, hint, "IMPORTER_TOKEN")


def _access(settings: Settings, base: str, connections: int) -> Access:
    """The service and the ledger of this worker's settings.

    Raises:
        UnusableInput: the run sends to another service, or there is no token.
    """
    url = settings.service_url()
    if url != base:
        hint = "set it to the address of the run, and start the worker again"
        message = f"it is {url}, but the run sends to {base}"
        raise unusable_file("cluster-worker-unusable", message, hint, "IMPORTER_BASE_URL")
    return Access(service_of(settings, url, settings.access_token(), connections), settings.ledger_address)


def _check_ledger(settings: Settings, terms: Terms) -> None:
    hint = "set it to the ledger of the run, and start the worker again"
    ledger = open_existing_ledger(settings.ledger_address) if is_on_server(settings.ledger_address) else None
    with ledger or nullcontext():
        if ledger is not None:
            ledger.join(terms.lock)
            try:
                ledger.prove_lock()
            except LedgerUnwritable:  # the run has its lock, so it is in another ledger
                ledger = None
    if ledger is None:
        name = ledger_name(settings.ledger_address)
        raise unusable_file("cluster-worker-unusable", f"{name} is not the ledger of the run", hint, "IMPORTER_LEDGER")


# --- a part of a run ----------------------------------------------------------------------------


class _Seat:
    """A part in this process, and its last answer. It sends nothing, and then ends, when the run is silent."""

    def __init__(self, part: Part) -> None:
        self._part, self._lock = part, threading.Lock()
        self._number, self._answer, self._is_lost = 0, LOST, False
        self._heard_at = time.monotonic()

    def answer(self, number: int, message: bytes) -> bytes:
        with self._lock:
            self._heard_at = time.monotonic()
            if number == self._number:
                return self._answer
            if number != self._number + 1 or self._is_lost:
                return LOST
            progress = self._part.exchange(pickle.loads(message))
            self._number, self._is_lost = number, progress.stop is not None and progress.stop.code == LEDGER_LOST
            # Without its ledger this worker sends nothing, but others may go on.
            self._answer = LOST if self._is_lost else pickle.dumps(progress)
            return self._answer

    def watch(self, loan: str) -> None:
        while (silent := time.monotonic() - self._heard_at) < _ENDED_AFTER:
            if silent > _PAUSED_AFTER:
                self._part.pause()
            time.sleep(0.5)
        _SEATS.pop(loan, None)
        self._part.abandon()


_SEATS: Final[dict[str, _Seat]] = {}  # of this process, by their loans


@_told
def begin(message: bytes) -> bytes:
    """Begin a part, without rows yet."""
    version, assignment = pickle.loads(message)
    loan: str = assignment.lock.loan
    if loan in _SEATS:
        return pickle.dumps(None)
    try:
        access = _access(load_settings(), assignment.run.scope.base, assignment.options.concurrency)
    except UnusableInput:  # a new worker, which is not like those that were examined
        return LOST
    if version != __version__:
        return LOST
    seat = _SEATS[loan] = _Seat(Part(assignment, access))
    threading.Thread(target=seat.watch, args=(loan,), name="watching", daemon=True).start()
    return pickle.dumps(None)


@_told
def exchange(loan: str, number: int, message: bytes) -> bytes:
    """Give a task to a part, and return its progress."""
    seat = _SEATS.get(loan)
    return LOST if seat is None else seat.answer(number, message)


def beginning(assignment: Assignment) -> bytes:
    """The message for `begin`."""
    return pickle.dumps((__version__, assignment))


# --- preparing rows -----------------------------------------------------------------------------

_FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {}


@_told
def keep(name: str, message: bytes) -> bytes:
    """Keep a function for `compute`."""
    while len(_FUNCTIONS) >= _MOST_FUNCTIONS:
        _FUNCTIONS.pop(next(iter(_FUNCTIONS)))
    _FUNCTIONS[name] = pickle.loads(message)
    return pickle.dumps(None)


@_told
def compute(name: str, message: bytes) -> bytes:
    """What a function that was kept returns."""
    function = _FUNCTIONS.get(name)
    return LOST if function is None else pickle.dumps(function(pickle.loads(message)))
