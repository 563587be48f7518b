"""Prepares rows, each by itself: in other processes if there are many.

Another process is a new Python that imports this module, and gets its rows through a pipe of its own. So it needs
nothing of the program that calls importer, waits for no lock, and ends with this process.
"""

from __future__ import annotations

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
_AHEAD: Final = 3  # blocks that wait for each process
_MOST_PROCESSES: Final = 8
_PIPE_SIZE: Final = 1 << 18  # bytes, of a block of wide rows; where the system has such a setting
_SECRET: Final = ("TOKEN", "LEDGER")  # in names of variables; the address of a ledger may contain a password
_PROGRAM: Final = "import sys; sys.path[:] = sys.argv[1:]; from importer.app.prepare_rows import serve; serve()"


class Prepared(NamedTuple):
    """What a row is by itself; nothing in it depends on another row, so that another process can prepare it."""

    result: ReadyCandidate | Invalid | Filtered
    seen: Seen | None = None  # of one that can be sent


def prepared(rows: Iterator[Row | Filtered], mapping: ResolvedMapping) -> Iterator[tuple[Row | Filtered, Prepared]]:
    """All rows in order, each as it is prepared."""
    is_frozen = hasattr(sys, "frozen")  # there is no Python to start, only the program itself
    here, processes = _Preparation(mapping), 1 if is_frozen else min(_cores(), _MOST_PROCESSES)
    for row in rows if processes == 1 else islice(rows, _FEW):
        yield row, here.row(row)
    block, waiting = list(islice(rows, _BLOCK)), deque[tuple[_Rows, _OtherProcess]]()
    with ExitStack() as others:
        started = [others.enter_context(closing(_OtherProcess(mapping))) for _ in range(processes if block else 0)]
        idle = deque(started * _AHEAD)
        while block or waiting:
            if block and idle:
                idle[0].send(block)
                waiting.append((block, idle.popleft()))
                block = list(islice(rows, _BLOCK))
            else:
                first, other = waiting.popleft()
                yield from zip(first, other.receive() or here.rows(first), strict=True)
                idle.append(other)


class _Preparation:
    """Prepares rows."""

    def __init__(self, mapping: ResolvedMapping) -> None:
        self._mapping, self._likely = mapping, LikelyErrors(mapping)

    def row(self, row: Row | Filtered) -> Prepared:
        if isinstance(row, Filtered):
            return Prepared(row)
        result = transform_row(row, self._mapping)
        if isinstance(result, Invalid | Filtered):
            return Prepared(result)
        return Prepared(encode(result), self._likely.look(row, result))

    def rows(self, rows: _Rows) -> list[Prepared]:
        return list(map(self.row, rows))


class _OtherProcess:
    """Another process that prepares rows. It may not start, or be killed, perhaps since memory ran out: then it gives
    no answer any more, and its rows are prepared here.
    """

    def __init__(self, mapping: ResolvedMapping) -> None:
        variables = {name: text for name, text in os.environ.items() if not any(map(name.upper().count, _SECRET))}
        folders = [str(each) or str(Path(__file__).parents[2]) for each in sys.path]  # "" may be another folder by now
        program = [sys.executable or "", "-P", "-c", _PROGRAM, *folders]
        self._process: Popen[bytes] | None = None
        with suppress(OSError):
            self._process = Popen(program, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=variables, pipesize=_PIPE_SIZE)
        self.send(mapping)

    def send(self, content: object) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                pickle.dump(content, self._process.stdin)
                self._process.stdin.flush()

    def receive(self) -> list[Prepared] | None:
        """The answer to the first rows that have none yet; None if there is none, or only a part of one."""
        if self._process is None or self._process.stdout is None:
            return None
        try:
            found: list[Prepared] = pickle.load(self._process.stdout)
        except Exception:  # noqa: BLE001 - of half an answer anything may come
            self.close()  # a later answer would be taken for this one
            return None
        return found

    def close(self) -> None:
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
        preparation, blocks = _Preparation(pickle.load(sys.stdin.buffer)), SimpleQueue[_Rows]()
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
