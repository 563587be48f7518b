"""Named points in a run, observed from outside of the importer's code; kills its own process at one of them.

The tested code is not changed. The points are in the layer below: transactions of Python's sqlite3, sockets that a POST
goes through, and files in Python's audit events. So they remain when the importer is rewritten, and a new step is a
point as well. A transaction is named by the tables that it writes: see `_TRANSACTIONS`.
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

# The names of transactions by their writes; the first match counts. Others are named by file, verb and table.
_TRANSACTIONS = (
    ({("insert", "runs")}, "the start of the run"),
    ({("update", "runs")}, "the end of the run"),
    ({("insert", "people")}, "an intent"),
    ({("intend", "people")}, "an intent"),  # again
    ({("update", "people")}, "a response"),
    ({("insert", "outcomes")}, "an outcome in the table"),
)
BEFORE_SEND, HALF_SENT, SENT, RESPONDED = (
    "before the request is sent",
    "when half of the request is sent",
    "after the request is sent",
    "after a response or an error",
)
ROW_POINTS = (
    "before the commit of an intent",
    "after the commit of an intent",
    BEFORE_SEND,
    HALF_SENT,
    SENT,
    RESPONDED,
    "before the commit of a response",
    "after the commit of a response",
    "before the commit of an outcome in the table",
    "after the commit of an outcome in the table",
)
"""The points that every row reaches, in this order; with `RESENT` before them when a row is resent."""

RUN_POINTS = (
    "before the commit of the start of the run",
    "after the commit of the start of the run",
    "before the commit of the end of the run",
    "after the commit of the end of the run",
    "before renaming to run.json",
    "before renaming to summary.json",
)
"""The points that every run reaches."""

RESENT = "resent: "
STEPS, KILLED = "steps.txt", "killed.txt"


class _Trigger:
    """Counts reached points and kills at one; without a name it writes all of them to a file."""

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
                self._again = RESENT
            self._bodies.add(hash(body))

    def close_request(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def reach(self, name: str) -> None:
        with self._lock:
            full = self._again + name if name in ROW_POINTS else name
            line = f"{full}\t{self.in_flight}\n".encode()
            if self._name is None:
                os.write(self._file, line)
                return
            self._left -= full == self._name
            if self._left == 0:
                os.write(self._file, line)
                os.kill(os.getpid(), signal.SIGKILL)


def arm(folder: Path, name: str | None, hit: int = 1) -> None:
    """Kill this process when it reaches the point of that name for the n-th time.

    Without a name, write each point to steps.txt, with the number of requests in flight.
    """
    trigger = _Trigger(folder, name, hit)
    _watch_databases(trigger)
    _watch_sockets(trigger)
    _watch_files(trigger, str(folder))


# --- transactions -------------------------------------------------------------------------------

_TEXT = re.compile(r"'(?:[^']|'')*'")
_CTE = re.compile(r"\A\s*with\b.*?\)\s*(?=insert|update|delete)", re.I | re.S)  # a CTE before the verb
_TABLE = re.compile(r'\b(?:into|update|from|table|index)\s+(?:if\s+not\s+exists\s+)?"?(\w+)', re.I)


def _watch_databases(trigger: _Trigger) -> None:
    plain_connect = sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *more: Any) -> Any:
            with _around_end(self.connection, sql):
                return super().execute(sql, *more)

    class Connection(sqlite3.Connection):
        def __init__(self, database: Any, *more: Any, **others: Any) -> None:
            super().__init__(database, *more, **others)
            self.file = os.path.basename(os.fspath(database))  # noqa: PTH119 - Path would raise more audit events
            self.written: set[tuple[str, str]] = set()
            self.set_trace_callback(self._note)

        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def execute(self, sql: str, *more: Any) -> Any:
            return self.cursor().execute(sql, *more)

        def commit(self) -> None:
            with _around_end(self, "commit"):
                super().commit()

        def __exit__(self, kind: Any, *more: Any) -> Any:
            with _around_end(self, "commit" if kind is None else "rollback"):
                return super().__exit__(kind, *more)

        def _note(self, sql: str) -> None:
            sql = _CTE.sub("", _TEXT.sub("''", sql)).lstrip()
            if (verb := sql[:6].lower()) in ("insert", "update", "delete", "create") and (table := _TABLE.search(sql)):
                self.written.add(("intend" if verb == "update" and "origin" in sql else verb, table[1].lower()))

    @contextmanager
    def _around_end(connection: Any, sql: str) -> Iterator[None]:
        word = sql.lstrip()[:8].lower()
        if word.startswith("begin"):
            trigger.reach(f"before a transaction in {connection.file}")
        if not word.startswith(("commit", "end")) or not connection.in_transaction:
            yield
            return
        names = list(_names(connection.file, connection.written))
        for name in names:
            trigger.reach(f"before the commit of {name}")
        yield
        connection.written.clear()
        for name in names:
            trigger.reach(f"after the commit of {name}")

    def connect(*arguments: Any, **named: Any) -> Any:
        return plain_connect(*arguments, **{"factory": Connection, **named})

    sqlite3.connect = connect
    sqlite3.dbapi2.connect = connect  # type: ignore[attr-defined]


def _names(file: str, written: set[tuple[str, str]]) -> Iterator[str]:
    """The names of a transaction; none if it only read. One that has an intent and a response has both names."""
    found = list(dict.fromkeys(name for writes, name in _TRANSACTIONS if writes <= written))
    whole_run = [name for name in found if name.endswith("of the run")]
    if found:
        yield from whole_run[:1] or found
    elif written:
        yield f"{', '.join(sorted(f'{verb} {table}' for verb, table in written))} in {file}"


# --- requests -----------------------------------------------------------------------------------


class _Request:
    """The part of a POST that was sent through one socket."""

    def __init__(self) -> None:
        self._sent = b""

    def take(self, piece: bytes) -> bool:
        """Whether the request is complete with this piece."""
        self._sent += piece
        head, separator, body = self._sent.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
        return bool(separator) and length is not None and len(body) >= int(length[1])

    @property
    def body(self) -> bytes:
        return self._sent.partition(b"\r\n\r\n")[2]


def _watch_sockets(trigger: _Trigger) -> None:
    leaving: dict[int, _Request] = {}
    awaited: set[int] = set()
    plain_sendall, plain_recv_into, plain_recv = socket.socket.sendall, socket.socket.recv_into, socket.socket.recv

    def sendall(self: socket.socket, piece: Any, *flags: Any) -> None:
        number, piece = self.fileno(), bytes(piece)
        if piece.startswith(b"POST "):
            leaving[number] = _Request()
            trigger.reach(BEFORE_SEND)
        request = leaving.get(number)
        if request is None:
            plain_sendall(self, piece, *flags)
            return
        is_whole = request.take(piece)
        if is_whole and piece.startswith(b"POST "):  # in one piece: split here
            plain_sendall(self, piece[: len(piece) // 2], *flags)
            trigger.reach(HALF_SENT)
            plain_sendall(self, piece[len(piece) // 2 :], *flags)
        else:
            plain_sendall(self, piece, *flags)
        if not is_whole:
            trigger.reach(HALF_SENT)
            return
        del leaving[number]
        awaited.add(number)
        trigger.open_request(request.body)
        trigger.reach(SENT)

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
            trigger.reach(RESPONDED)
            trigger.close_request()

    def recv_into(self: socket.socket, *arguments: Any) -> int:
        with hearing(self.fileno()):
            return plain_recv_into(self, *arguments)

    def recv(self: socket.socket, *arguments: Any) -> bytes:
        with hearing(self.fileno()):
            return plain_recv(self, *arguments)

    # mypy does not allow replacing methods of the standard library.
    socket.socket.sendall = sendall  # type: ignore[assignment, method-assign]
    socket.socket.recv_into = recv_into  # type: ignore[assignment, method-assign]
    socket.socket.recv = recv  # type: ignore[assignment, method-assign]


# --- files --------------------------------------------------------------------------------------

_FILES = {
    "os.rename": "renaming to {1}",
    "os.remove": "removing {0}",
    "os.mkdir": "creating {0}",
    "os.link": "linking {1}",
    "os.rmdir": "removing folder {0}",
    "shutil.rmtree": "removing folder {0}",
    "os.truncate": "truncating {0}",
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def _watch_files(trigger: _Trigger, inside: str) -> None:
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _FILES:
            shown = [_last(part) if isinstance(part, str | bytes | os.PathLike) else part for part in arguments]
            trigger.reach(_kind("before " + _FILES[event].format(*shown)))
        elif event == "open" and isinstance(arguments[0], str) and (arguments[2] or 0) & _WRITING:
            path = os.path.abspath(arguments[0])  # noqa: PTH100 - Path would raise more audit events
            if path.startswith(inside) and not path.endswith((".txt", "-journal")):
                trigger.reach(_kind(f"before opening {_last(path)}"))

    sys.addaudithook(audit)


def _last(path: Any) -> str:
    return os.path.basename(os.fsdecode(path))  # noqa: PTH119


def _kind(step: str) -> str:
    """The name of a step without the parts that differ between runs."""
    step = re.sub(r"\d{8}-\d{6}-\w{4,5}", "RUN", step)
    step = re.sub(r"(tmp|\.writing-)\w{8}", r"\1...", step)
    step = re.sub(r"\.[0-9a-f]{12}\.", "....", step)
    return re.sub(r"(out|case)\d+", r"\1", re.sub(r"\.\d+(\.\w{8})?$", "...", step))
