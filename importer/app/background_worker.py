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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from importer.child_process import lower_priority
from importer.problems import Problem, UnusableInput

T = TypeVar("T")
Work = Callable[..., Iterator[T]]
"""Yields items: without an argument all by itself, with another worker from what that one yields."""

_BATCH_SIZE: Final = 64  # items in one message: a few hundred kilobytes
_PIPE_BYTES: Final = 1 << 20  # of the pipe's buffer, so that the worker can work ahead
_SET_PIPE_SIZE: Final = 1031  # F_SETPIPE_SZ, which Python names on Linux only


class BackgroundWorker(Generic[T]):
    """The items that `work` yields, in order, computed by another process.

    The process starts at once, as a copy of this one, with no open files except those that `work` opens itself. If it
    dies (for example when memory runs out), this process computes the rest: `work` must yield the same items again.
    source: another worker, whose items this one takes; it is closed with this one.
    """

    def __init__(self, work: Work[T], source: BackgroundWorker[Any] | None = None) -> None:
        self._work, self._source = work, source
        context = get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        with suppress(OSError):  # a larger buffer is only an optimization
            _enlarge_pipe(sender)
        self._process = context.Process(target=_serve, args=(work, sender, source), daemon=True)
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
        if self._source is not None:
            self._source.close()

    @property
    def number(self) -> int:
        """The file number of its pipe, which another worker reads."""
        return self._receiver.fileno()


def begin_in_background(work: Work[T], source: BackgroundWorker[Any] | None = None) -> BackgroundWorker[T] | None:
    """Start the work; None where it would not help or is not possible."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return None
    try:
        return BackgroundWorker(work, source)
    except OSError:  # no resources for another process
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


def _serve(work: Work[T], sender: Connection, source: BackgroundWorker[Any] | None) -> None:
    """In the worker: do the work, and end with the parent process."""
    # Signals are for the parent, which finishes and then ends the worker; if it dies, the next message fails.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    lower_priority()
    gc.freeze()  # never finalize objects that were copied from the parent
    _close_files(sender.fileno(), *([source.number] if source else []))
    with suppress(BrokenPipeError):
        for message in _messages(work(source) if source else work()):
            sender.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    os._exit(0)  # skip the parent's exit handlers


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
