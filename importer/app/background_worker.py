"""Does a long piece of work in a process beside this one, so that sending and sorting do not wait for each other.

Python runs one thread at a time: where a candidate is made ready, no answer is taken. The work is begun by forking, on
Linux only and where there is a second processor; elsewhere it is done where it is asked for.
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
from typing import Final, Generic, TypeVar

from importer.child_process import lower_priority
from importer.problems import Problem, UnusableInput

T = TypeVar("T")
Work = Callable[[], Iterator[T]]

_IN_A_MESSAGE: Final = 64  # items: some hundred kilobytes
_ROOM: Final = 1 << 20  # bytes of the pipe, by which the other process works ahead
_SET_PIPE_SIZE: Final = 1031  # F_SETPIPE_SZ, which Python names on Linux only


class BackgroundWorker(Generic[T]):
    """What `work` yields, in its order, made by another process.

    It is begun at once, in a copy of this process as it is now, with no open file but those that `work` opens itself.
    Should it die (a machine short of memory picks a victim), the rest is made here: `work` must yield the same again.
    """

    def __init__(self, work: Work[T]) -> None:
        self._work = work
        context = get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        with suppress(OSError):  # more room is worth something, and less is no harm
            _widen(sender)
        self._process = context.Process(target=_serve, args=(work, sender), daemon=True)
        with _interrupted_later():
            self._process.start()
            sender.close()
            atexit.register(self.close)

    def __iter__(self) -> Iterator[T]:
        """Raises UnusableInput where the work did. May be asked for once."""
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
        """End it, wherever it is. May be called again."""
        atexit.unregister(self.close)
        self._receiver.close()
        self._process.kill()
        self._process.join()


def begin_in_background(work: Work[T]) -> BackgroundWorker[T] | None:
    """Begin the work, or None where that would bring nothing or cannot be done."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return None
    try:
        return BackgroundWorker(work)
    except OSError:  # no room for one more process
        return None


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Have a Ctrl-C wait: one that comes in the middle of a fork Python prints and forgets, and the run would go on."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


def _widen(sender: Connection) -> None:
    import fcntl  # not there on every system

    fcntl.fcntl(sender.fileno(), _SET_PIPE_SIZE, _ROOM)


def _serve(work: Work[T], sender: Connection) -> None:
    """In the other process: do the work, and end with this one."""
    # Signals are for the run, which finishes what it has begun and then ends us; should it die, the next message does.
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, signal.SIG_IGN)
    lower_priority()
    gc.freeze()  # nothing of what was copied is ours to close
    _let_go_of_files(sender.fileno())
    with suppress(BrokenPipeError):
        for message in _messages(work()):
            sender.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    os._exit(0)  # what the copied process would do at its end is not ours to do


def _messages(items: Iterator[T]) -> Iterator[list[T] | tuple[Problem, ...]]:
    """Lists of items; at the end an empty one, or the problems that ended the work, after every item before them."""
    batch: list[T] = []
    last: list[T] | tuple[Problem, ...] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == _IN_A_MESSAGE:
                yield batch
                batch = []
    except UnusableInput as error:
        last = error.problems
    if batch:
        yield batch
    yield last


def _let_go_of_files(kept: int) -> None:
    """Among them are locks, which would outlive the run in us."""
    are_open = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    for number in are_open:  # and not every number that one could have: the limit may be a billion
        if number > 2 and number != kept:
            with suppress(OSError):  # the one that the listing itself had open
                os.close(number)
