"""Named points in the life of a run, seen from outside of the importer's code; kills its own process at one of them.

Nothing is planted in the code that is tested. The points lie in what it stands on: transactions of Python's sqlite3,
sockets that a POST goes through, and the files that Python's audit events tell of. So they stay where they are when the
importer is rebuilt above them, and a step that is added there is a point as well. What a transaction is about is told
by the tables that it writes to: see `_ABOUT`.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# What a transaction is called by its writes, the first that fits; others are called by file, verb and table.
_ABOUT = (
    ({("insert", "runs")}, "the run's beginning"),
    ({("update", "runs")}, "the run's end"),
    ({("insert", "attempts")}, "an intent"),
    ({("update", "attempts")}, "an answer"),
    ({("insert", "outcomes")}, "an outcome in the journal"),
)
LEAVES, HALF, LEFT, HEARD = (
    "before the request leaves",
    "when half of the request has left",
    "after the request left",
    "after it was heard of",
)
ROW_LIFE = (
    "before the commit of an intent",
    "after the commit of an intent",
    LEAVES,
    HALF,
    LEFT,
    HEARD,
    "before the commit of an answer",
    "after the commit of an answer",
    "before the commit of an outcome in the journal",
    "after the commit of an outcome in the journal",
)
"""The points that every row comes by, in this order; with `AGAIN` before them once a row is sent a second time."""

RUN_LIFE = (
    "before the commit of the run's beginning",
    "after the commit of the run's beginning",
    "before the commit of the run's end",
    "after the commit of the run's end",
    "before renaming to run.json",
    "before renaming to summary.json",
)
"""The points that every run comes by."""

AGAIN = "again: "
STEPS, KILLED = "steps.txt", "killed.txt"


class _Wire:
    """Counts the points that are passed, and kills at one; without a name it writes them all to a file instead."""

    def __init__(self, folder: Path, name: str | None, hit: int) -> None:
        self._name = name
        self._left = hit
        self._lock = threading.Lock()
        self._file = os.open(folder / (KILLED if name else STEPS), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.in_flight = 0
        self._bodies: set[int] = set()
        self._again = ""

    def open_request(self, body: bytes) -> None:
        with self._lock:
            self.in_flight += 1
            if hash(body) in self._bodies:
                self._again = AGAIN
            self._bodies.add(hash(body))

    def close_request(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def passes(self, name: str) -> None:
        with self._lock:
            full = self._again + name if name in ROW_LIFE else name
            line = f"{full}\t{self.in_flight}\n".encode()
            if self._name is None:
                os.write(self._file, line)
                return
            self._left -= full == self._name
            if self._left == 0:
                os.write(self._file, line)
                os.kill(os.getpid(), signal.SIGKILL)


def arm(folder: Path, name: str | None, hit: int = 1) -> None:
    """Kill this process when it comes by the point of that name for the n-th time.

    Without a name, write to steps.txt each point that it comes by, and how many requests are under way then.
    """
    wire = _Wire(folder, name, hit)
    _watch_databases(wire)
    _watch_sockets(wire)
    _watch_files(wire, str(folder))


# --- transactions -------------------------------------------------------------------------------

_TEXT = re.compile(r"'(?:[^']|'')*'")
_GIVEN = re.compile(r"\A\s*with\b.*?\)\s*(?=insert|update|delete)", re.I | re.S)  # a table of rows before the verb
_TABLE = re.compile(r'\b(?:into|update|from|table|index)\s+(?:if\s+not\s+exists\s+)?"?(\w+)', re.I)


def _watch_databases(wire: _Wire) -> None:
    plain_connect = sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *more: Any) -> Any:
            with _around_end(self.connection, sql):
                return super().execute(sql, *more)

    class Connection(sqlite3.Connection):
        def __init__(self, database: Any, *more: Any, **others: Any) -> None:
            super().__init__(database, *more, **others)
            self.file = os.path.basename(os.fspath(database))  # noqa: PTH119 - Path would raise events of its own
            self.written: set[tuple[str, str]] = set()
            self.set_trace_callback(self._note)

        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def execute(self, sql: str, *more: Any) -> Any:
            return self.cursor().execute(sql, *more)

        def commit(self) -> None:
            with _around_end(self, "commit"):
                super().commit()

        def _note(self, sql: str) -> None:
            sql = _GIVEN.sub("", _TEXT.sub("''", sql)).lstrip()
            if (verb := sql[:6].lower()) in ("insert", "update", "delete", "create") and (table := _TABLE.search(sql)):
                self.written.add((verb, table[1].lower()))

    @contextmanager
    def _around_end(connection: Any, sql: str) -> Iterator[None]:
        word = sql.lstrip()[:8].lower()
        if word.startswith("begin"):
            wire.passes(f"before a transaction in {connection.file}")
        if not word.startswith(("commit", "end")) or not connection.in_transaction:
            yield
            return
        names = list(_names(connection.file, connection.written))
        for name in names:
            wire.passes(f"before the commit of {name}")
        yield
        connection.written.clear()
        for name in names:
            wire.passes(f"after the commit of {name}")

    def connect(*arguments: Any, **named: Any) -> Any:
        return plain_connect(*arguments, **{"factory": Connection, **named})

    sqlite3.connect = connect
    sqlite3.dbapi2.connect = connect  # type: ignore[attr-defined]


def _names(file: str, written: set[tuple[str, str]]) -> Iterator[str]:
    """What a transaction is about; nothing where it only read. An intent and an answer may share one, by both names."""
    found = [name for writes, name in _ABOUT if writes <= written]
    whole_run = [name for name in found if name.startswith("the run's")]
    if found:
        yield from whole_run[:1] or found
    elif written:
        yield f"{', '.join(sorted(f'{verb} {table}' for verb, table in written))} in {file}"


# --- requests -----------------------------------------------------------------------------------


class _Request:
    """What of a POST has left through one socket."""

    def __init__(self) -> None:
        self._sent = b""

    def take(self, piece: bytes) -> bool:
        """Whether the request is whole with this piece."""
        self._sent += piece
        head, separator, body = self._sent.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
        return bool(separator) and length is not None and len(body) >= int(length[1])

    @property
    def body(self) -> bytes:
        return self._sent.partition(b"\r\n\r\n")[2]


def _watch_sockets(wire: _Wire) -> None:
    leaving: dict[int, _Request] = {}
    awaited: set[int] = set()
    plain_sendall, plain_recv_into, plain_recv = socket.socket.sendall, socket.socket.recv_into, socket.socket.recv

    def sendall(self: socket.socket, piece: Any, *flags: Any) -> None:
        number, piece = self.fileno(), bytes(piece)
        if piece.startswith(b"POST "):
            leaving[number] = _Request()
            wire.passes(LEAVES)
        request = leaving.get(number)
        if request is None:
            plain_sendall(self, piece, *flags)
            return
        is_whole = request.take(piece)
        if is_whole and piece.startswith(b"POST "):  # in one piece: torn here
            plain_sendall(self, piece[: len(piece) // 2], *flags)
            wire.passes(HALF)
            plain_sendall(self, piece[len(piece) // 2 :], *flags)
        else:
            plain_sendall(self, piece, *flags)
        if not is_whole:
            wire.passes(HALF)
            return
        del leaving[number]
        awaited.add(number)
        wire.open_request(request.body)
        wire.passes(LEFT)

    @contextmanager
    def hearing(number: int) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            raise
        except BaseException:
            heard(number)
            raise
        heard(number)

    def heard(number: int) -> None:
        if number in awaited:
            awaited.discard(number)
            wire.passes(HEARD)
            wire.close_request()

    def recv_into(self: socket.socket, *arguments: Any) -> int:
        with hearing(self.fileno()):
            return plain_recv_into(self, *arguments)

    def recv(self: socket.socket, *arguments: Any) -> bytes:
        with hearing(self.fileno()):
            return plain_recv(self, *arguments)

    # A type checker knows no better: these are methods of a class of the standard library.
    socket.socket.sendall = sendall  # type: ignore[assignment, method-assign]
    socket.socket.recv_into = recv_into  # type: ignore[assignment, method-assign]
    socket.socket.recv = recv  # type: ignore[assignment, method-assign]


# --- files --------------------------------------------------------------------------------------

_FILES = {
    "os.rename": "renaming to {1}",
    "os.remove": "removing {0}",
    "os.mkdir": "making {0}",
    "os.link": "linking {1}",
    "os.rmdir": "removing folder {0}",
    "shutil.rmtree": "removing folder {0}",
    "os.truncate": "cutting {0}",
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def _watch_files(wire: _Wire, inside: str) -> None:
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _FILES:
            shown = [_last(part) if isinstance(part, str | bytes | os.PathLike) else part for part in arguments]
            wire.passes(_kind("before " + _FILES[event].format(*shown)))
        elif event == "open" and isinstance(arguments[0], str) and (arguments[2] or 0) & _WRITING:
            path = os.path.abspath(arguments[0])  # noqa: PTH100 - Path would raise events of its own
            if path.startswith(inside) and not path.endswith((".txt", "-journal")):
                wire.passes(_kind(f"before opening {_last(path)}"))

    sys.addaudithook(audit)


def _last(path: Any) -> str:
    return os.path.basename(os.fsdecode(path))  # noqa: PTH119


def _kind(step: str) -> str:
    """The name of a step without what differs from run to run."""
    step = re.sub(r"\d{8}-\d{6}-\w{4,5}", "RUN", step)
    step = re.sub(r"(tmp|\.writing-)\w{8}", r"\1...", step)
    step = re.sub(r"\.[0-9a-f]{12}\.", "....", step)
    return re.sub(r"(out|case)\d+", r"\1", re.sub(r"\.\d+(\.\w{8})?$", "...", step))
