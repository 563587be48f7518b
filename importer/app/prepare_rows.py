"""Prepares rows, each by itself: on all cores if there are many.

Each other process is a new Python that imports this module, and gets its rows through a pipe of its own. So it needs
nothing of the program that calls importer, waits for no lock, and ends with this process.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen
from typing import Final, NamedTuple

from importer.mapping import ResolvedMapping
from importer.models import ReadyCandidate, Row
from importer.transform import Filtered, Invalid, LikelyErrors, Seen, encode, transform_row

_Rows = list[Row | Filtered]
_FEW: Final = 2_000  # rows that are prepared in less time than it takes to start other processes
_BLOCK: Final = 64  # rows that another process prepares at once
_AHEAD: Final = 4  # blocks that wait for each other process
_MOST_WAITING: Final = 2 * _AHEAD  # times the other processes, all blocks that wait for the first of them
_MOST_PROCESSES: Final = 8
_PIPE_SIZE: Final = 1 << 18  # bytes, of a block of wide rows; where the system has such a setting
_SECRET: Final = ("TOKEN", "LEDGER")  # in names of variables; the address of a ledger may contain a password
_PROGRAM: Final = "import sys; sys.path[:] = sys.argv[1:]; from importer.app.prepare_rows import serve; serve()"


class Prepared(NamedTuple):
    """What a row is by itself; nothing in it depends on another row, so that another process can prepare it."""

    result: ReadyCandidate | Invalid | Filtered
    seen: Seen | None = None  # of one that can be sent


def prepared(rows: Iterator[Row | Filtered], mapping: ResolvedMapping) -> Iterator[tuple[Row | Filtered, Prepared]]:
    """All rows in order, each as it is prepared. This process prepares rows too, rather than wait for another one."""
    is_frozen = hasattr(sys, "frozen")  # there is no Python to start, only the program itself
    here, count = _ThisProcess(mapping), 0 if is_frozen else min(_cores(), _MOST_PROCESSES) - 1
    for row in islice(rows, _FEW) if count else rows:
        yield row, here.row(row)
    block, waiting = list(islice(rows, _BLOCK)), deque[tuple[_Rows, _ThisProcess | _OtherProcess]]()
    with ExitStack() as others:
        started = [others.enter_context(closing(_OtherProcess(mapping))) for _ in range(count if block else 0)]
        idle = deque(started * _AHEAD)
        while block or waiting:
            if block and (idle or (len(waiting) < _MOST_WAITING * count and not waiting[0][1].has_answered)):
                process = idle.popleft() if idle else here
                process.send(block)
                waiting.append((block, process))
                block = list(islice(rows, _BLOCK))
            else:
                first, process = waiting.popleft()
                yield from zip(first, process.receive() or here.rows(first), strict=True)
                if isinstance(process, _OtherProcess):
                    idle.append(process)


class _ThisProcess:
    """Prepares rows at once."""

    def __init__(self, mapping: ResolvedMapping) -> None:
        self._mapping, self._likely, self._answers = mapping, LikelyErrors(mapping), deque[list[Prepared]]()

    def row(self, row: Row | Filtered) -> Prepared:
        if isinstance(row, Filtered):
            return Prepared(row)
        result = transform_row(row, self._mapping)
        if isinstance(result, Invalid | Filtered):
            return Prepared(result)
        return Prepared(encode(result), self._likely.look(row, result))

    def rows(self, rows: _Rows) -> list[Prepared]:
        return list(map(self.row, rows))

    def send(self, rows: _Rows) -> None:
        self._answers.append(self.rows(rows))

    @property
    def has_answered(self) -> bool:
        return True

    def receive(self) -> list[Prepared]:
        return self._answers.popleft()


class _OtherProcess:
    """Another process that prepares rows. It may not start, or be killed, perhaps since memory ran out: then it gives
    no answer any more, and its rows are prepared here.
    """

    def __init__(self, mapping: ResolvedMapping) -> None:
        variables = {name: text for name, text in os.environ.items() if not any(map(name.upper().count, _SECRET))}
        folders = [str(each) or str(Path(__file__).parents[2]) for each in sys.path]  # "" may be another folder by now
        program = [sys.executable or "", "-P", "-c", _PROGRAM, *folders]
        self._process: Popen[bytes] | None = None
        self._answers = SimpleQueue[list[Prepared] | None]()
        atexit.register(self.close)  # if an error ends the program: the thread that reads must end before Python does
        try:
            self._process = Popen(program, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=variables, pipesize=_PIPE_SIZE)
            threading.Thread(target=self._read, daemon=True).start()
        except (OSError, RuntimeError):  # RuntimeError: no further thread can be started
            self.close()
            self._answers.put(None)
        self.send(mapping)

    def send(self, content: object) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                pickle.dump(content, self._process.stdin)
                self._process.stdin.flush()

    def _read(self) -> None:
        """Take its answers as they come, in a thread: so that it is known which have come."""
        process = self._process
        with suppress(Exception):  # of half an answer anything may come
            while process is not None and process.stdout is not None:
                self._answers.put(pickle.load(process.stdout))
        self._answers.put(None)

    @property
    def has_answered(self) -> bool:
        return not self._answers.empty()

    def receive(self) -> list[Prepared] | None:
        """The answer to the first rows that have none yet; None if there is none, or only a part of one."""
        answer = self._answers.get()
        if answer is None:
            self.close()  # a later answer would be taken for this one
            self._answers.put(None)
        return answer

    def close(self) -> None:
        atexit.unregister(self.close)
        if self._process is not None:
            self._process.kill()
            with suppress(OSError), self._process:  # closes its pipes, and waits
                pass
            self._process = None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- in another process -----------------------------------------------------------------------------------


def serve() -> None:
    """Read the mapping, and answer each block of rows; until the other process has ended, or closes its pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for the rows
    try:
        answers = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # what a library prints is no answer
        preparation, blocks = _ThisProcess(pickle.load(sys.stdin.buffer)), SimpleQueue[_Rows]()
        threading.Thread(target=_receive, args=(blocks,)).start()
        while True:
            pickle.dump(preparation.rows(blocks.get()), answers)
            answers.flush()
    finally:
        os._exit(1)


def _receive(blocks: SimpleQueue[_Rows]) -> None:
    """At all times, so that the two processes never wait for each other to read."""
    try:
        while True:
            blocks.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(1)
