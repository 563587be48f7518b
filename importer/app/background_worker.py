"""Runs a long computation in a second process, so that preparing rows and sending them do not delay each other.

Python runs one thread at a time: while a candidate is prepared, no response is handled. The worker is started by
forking, on Linux only and with at least two processors; elsewhere the work is done in this process.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from importer.problems import Problem, UnusableInput
from importer.processes import ending_signals, lower_priority

T = TypeVar("T")
A = TypeVar("A")
A_contra = TypeVar("A_contra", contravariant=True)
B = TypeVar("B")
Work = Callable[..., Iterator[T]]
"""Yields items: without arguments all by itself, with helpers by having them compute the most of it."""

_BATCH_SIZE: Final = 64  # items in one message: a few hundred kilobytes
_PIPE_BYTES: Final = 1 << 20  # of the pipe's buffer, so that the worker can work ahead
_SET_PIPE_SIZE: Final = 1031  # F_SETPIPE_SZ, which Python names on Linux only
_SWITCH_SECONDS: Final = 0.0005  # between threads; with Python's 5 ms, helpers would wait for their next item


class BackgroundWorker(Generic[T]):
    """The items that `work` yields, in order, computed by another process.

    The process starts at once, as a copy of this one, with no open files except those that `work` opens itself. If it
    dies (for example when memory runs out), this process computes the rest: `work` must yield the same items again.
    helpers: other processes that `work` is called with; they are closed with this one.
    """

    def __init__(self, work: Work[T], helpers: Sequence[Helper[Any, Any]] = ()) -> None:
        self._work, self._helpers = work, helpers
        context = get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        with suppress(OSError):  # a larger buffer is only an optimization
            _enlarge_pipe(sender)
        self._process = context.Process(target=_serve, args=(work, sender, helpers), daemon=True)
        with _interrupts_deferred():
            self._process.start()
            sender.close()
            atexit.register(self.close)

    def __iter__(self) -> Iterator[T]:
        """Raises UnusableInput if the work did. Can only be iterated once."""
        given = 0
        while True:
            try:
                message = pickle.loads(self._receiver.recv_bytes())
            except (EOFError, OSError):
                yield from islice(self._work(), given, None)
                return
            if isinstance(message, tuple):
                raise UnusableInput(message)
            if not message:
                return
            given += len(message)
            yield from message

    def close(self) -> None:
        """Kill the worker. Can be called repeatedly."""
        atexit.unregister(self.close)
        self._receiver.close()
        self._process.kill()
        self._process.join()
        for helper in self._helpers:
            helper.close()


class Helping(Protocol[A_contra, B]):
    """Computes a function elsewhere, or here if that is not possible."""

    def submit(self, question: A_contra, /) -> Future[B]: ...

    def close(self) -> None: ...


# --- a process that answers: what is submitted goes to it through a pipe ---


class AnsweringProcess(Generic[A, B]):
    """This end of the pipe. The process answers in order, with `answer_all`; `end` kills it."""

    def __init__(self, connection: Connection, end: Callable[[], object]) -> None:
        self.connection = connection
        self._end = end
        self._thread = ThreadPoolExecutor(1)  # its thread starts with the first question, also in a forked process

    def submit(self, question: A) -> Future[B]:
        """The answer, or EOFError or OSError if the process has ended."""
        return self._thread.submit(self.ask, question)

    def ask(self, question: A) -> B:
        self.connection.send_bytes(pickle.dumps(question, pickle.HIGHEST_PROTOCOL))
        answer: B = pickle.loads(self.connection.recv_bytes())
        return answer

    def close(self) -> None:
        """Kill the process, and return when it has ended. Can be called repeatedly."""
        self._end()
        self._thread.shutdown(cancel_futures=True)
        self.connection.close()


def answer_all(connection: Connection, function: Callable[[A], B]) -> None:
    """In the other process: answer until the end that asks is closed, or its process has ended."""
    with suppress(EOFError, OSError):
        while True:
            question: A = pickle.loads(connection.recv_bytes())
            connection.send_bytes(pickle.dumps(function(question), pickle.HIGHEST_PROTOCOL))


# --- a function that another process computes ---


class Helper(AnsweringProcess[A, B]):
    """A function that another process computes; if that process dies, this one does.

    The process starts at once, as a copy of this one.
    """

    def __init__(self, function: Callable[[A], B]) -> None:
        self._function = function
        connection, other_end = get_context("fork").Pipe()
        self._process = get_context("fork").Process(target=_answer, args=(function, other_end), daemon=True)
        with _interrupts_deferred():
            self._process.start()
            other_end.close()
        super().__init__(connection, self._kill)

    def ask(self, question: A) -> B:
        try:
            return super().ask(question)
        except (EOFError, OSError):
            return self._function(question)

    def _kill(self) -> None:
        self._process.kill()
        self._process.join()


def computed_by(helpers: Sequence[Helping[A, B]], items: Iterable[A]) -> Iterator[tuple[A, B]]:
    """Each item with what a helper computed of it, in order; the helpers work at the same time, a few items ahead.

    Raises UnusableInput if `items` does, after the items before it.
    """
    pending: deque[tuple[A, Future[B]]] = deque()
    error = None
    try:
        for item, helper in zip(items, cycle(helpers), strict=False):
            pending.append((item, helper.submit(item)))
            if len(pending) > 2 * len(helpers):
                earlier, future = pending.popleft()
                yield earlier, future.result()
    except UnusableInput as raised:
        error = raised
    for item, future in pending:
        yield item, future.result()
    if error is not None:
        raise error


def begin_in_background(work: Work[T], functions: Sequence[Callable[[Any], Any]] = ()) -> BackgroundWorker[T] | None:
    """Start the work, with a helper for each function; None where it would not help or is not possible."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return None
    helpers: list[Helper[Any, Any]] = []
    try:
        for function in functions:
            helpers.append(Helper(function))
        return BackgroundWorker(work, helpers)
    except OSError:  # no resources for another process
        for helper in helpers:
            helper.close()
        return None


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Delay Ctrl-C: Python prints and ignores one that arrives during a fork, and the run would continue."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if received:
        signal.raise_signal(signal.SIGINT)


def _enlarge_pipe(sender: Connection) -> None:
    import fcntl  # not available on every system

    fcntl.fcntl(sender.fileno(), _SET_PIPE_SIZE, _PIPE_BYTES)


def _serve(work: Work[T], sender: Connection, helpers: Sequence[Helper[Any, Any]]) -> None:
    """In the worker: do the work, and end with the parent process."""
    _become_a_child(sender, *(helper.connection for helper in helpers))
    sys.setswitchinterval(_SWITCH_SECONDS)
    with suppress(BrokenPipeError):
        for message in _messages(work(*helpers)):
            sender.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    os._exit(0)  # skip the parent's exit handlers


def _answer(function: Callable[[A], B], connection: Connection) -> None:
    """In a helper: compute until the other end is closed."""
    _become_a_child(connection)
    answer_all(connection, function)
    os._exit(0)


def _become_a_child(*kept: Connection) -> None:
    # Signals are for the parent, which finishes and then ends the worker; if it dies, the next message fails.
    for number in ending_signals():
        signal.signal(number, signal.SIG_IGN)
    lower_priority()
    gc.freeze()  # never finalize objects that were copied from the parent
    _close_files(*(connection.fileno() for connection in kept))


def _messages(items: Iterator[T]) -> Iterator[list[T] | tuple[Problem, ...]]:
    """Batches of items; at the end an empty one, or the problems that ended the work."""
    batch: list[T] = []
    last: list[T] | tuple[Problem, ...] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == _BATCH_SIZE:
                yield batch
                batch = []
    except UnusableInput as error:
        last = error.problems
    if batch:
        yield batch
    yield last


def _close_files(*kept: int) -> None:
    """Close the inherited files: they include locks, which would otherwise outlive the run."""
    are_open = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    for number in are_open:  # not every possible number: the limit may be a billion
        if number > 2 and number not in kept:
            with suppress(OSError):  # the one that the directory listing used
                os.close(number)
