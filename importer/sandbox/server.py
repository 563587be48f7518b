"""The HTTP server of the sandbox, with the faults that a socket can have: of a command, or in a thread of a run."""

from __future__ import annotations

import json
import re
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any, Final, TypeVar

from importer.sandbox.company import read_questions
from importer.sandbox.faults import Faults, read_faults
from importer.sandbox.files import SandboxUnusable
from importer.sandbox.memory import Memory
from importer.sandbox.service import SHIPPED_QUESTIONS, Delivery, Reply, Request, SandboxOptions, Service

LONGEST_BODY: Final = 8 * 1024 * 1024
_NO_LINGER: Final = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # on, 0 seconds: closing resets
_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}
_LENGTH: Final = re.compile(r"\d{1,15}", re.ASCII)
_BAD_HTTP: Final = Reply(400, b'{"detail": ["this is not an HTTP/1.1 request"]}')
File = TypeVar("File")


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request: the response status (None: no response was sent), the fault, and the duration in ms."""

    at: str
    method: str
    path: str
    status: int | None
    fault: str | None
    ms: float


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, options: SandboxOptions, service: Service, log: Callable[[LoggedRequest], None]) -> None:
        self.address_family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        self.service, self.log = service, log
        self._one_at_a_time = threading.Lock()
        self.has_ended = threading.Event()
        self.connections: set[socket.socket] = set()
        super().__init__((options.host, options.port), _Connection)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # not HTTPServer's, which asks for the name of the host

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One thread at a time reads or writes what the sandbox keeps, and none after its end."""
        with self._one_at_a_time:
            if self.has_ended.is_set():
                raise ConnectionAbortedError
            yield

    def end(self) -> None:
        """Close all connections, also those that wait."""
        self.shutdown()
        with self._one_at_a_time:
            self.has_ended.set()
        self.server_close()
        for connection in tuple(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Connection(BaseHTTPRequestHandler):
    """Speaks HTTP/1.1 with one client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            started = time.perf_counter()
            length = self.headers.get("Content-Length", "0")
            has_no_host = self.request_version != "HTTP/1.0" and "Host" not in self.headers
            if has_no_host or not _LENGTH.fullmatch(length) or "Transfer-Encoding" in self.headers:
                self.send_error(400)
            else:
                body = self._body(int(length))
                if body is not None and len(body) < int(length):  # the client has closed the connection
                    self.close_connection = True
                else:
                    self._respond(body, started)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Of what is not HTTP; called by the parser too."""
        self.close_connection = True
        self._write(_BAD_HTTP)

    def _body(self, length: int) -> bytes | None:
        """The body; None if it is too large, which is not kept in memory while it arrives."""
        if length <= LONGEST_BODY:
            return self.rfile.read(length)
        while length > 0 and (part := self.rfile.read(min(length, 65536))):
            length -= len(part)
        return None

    def _respond(self, body: bytes | None, started: float) -> None:
        path = self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.turn():
            delivery = self.server.service.answer(Request(self.command, path, headers, body))
        if delivery.delay:
            self.server.has_ended.wait(delivery.delay)
        is_silent = delivery.ending in ("reset", "hang_after", "cut_head")
        status = None if is_silent else delivery.reply.status
        at, ms = datetime.now(UTC).isoformat(timespec="milliseconds"), (time.perf_counter() - started) * 1000
        with self.server.turn():  # before the response, so that a client that has it finds the line
            self.server.log(LoggedRequest(at, self.command, path, status, delivery.fault, round(ms, 3)))
        self._deliver(delivery)

    def _deliver(self, delivery: Delivery) -> None:
        if delivery.ending == "whole":
            self._write(delivery.reply)
            return
        self.close_connection = True
        match delivery.ending:
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
                self.rfile.close()  # the last reference but one: now closing it resets
                self.connection.close()
            case "hang_after":
                self.connection.settimeout(delivery.hang_seconds)
                while self.connection.recv(65536):
                    pass
            case "cut_head":
                self.wfile.write(b"HTTP/1.1 2")
            case "cut_body":
                self._write(delivery.reply, len(delivery.reply.body) // 2)

    def _write(self, reply: Reply, until: int | None = None) -> None:
        is_open = "close" if self.close_connection else "keep-alive"
        lines = [
            f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, '')}",
            f"Date: {formatdate(usegmt=True)}",
            *(f"{name}: {value}" for name, value in reply.headers.items()),
            *([f"Content-Type: {reply.content_type}"] if reply.body else []),
            f"Content-Length: {len(reply.body)}",
            f"Connection: {is_open}",
        ]
        body = b"" if self.command == "HEAD" else reply.body[:until]
        self.wfile.write("\r\n".join((*lines, "", "")).encode("latin-1") + body)


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """A sandbox whose files are read and whose port is bound, so clients may connect.

    memory: what it accepted; requests: those received so far, if they are kept.
    """

    token: str
    memory: Memory
    requests: list[LoggedRequest]
    server: _Server

    @property
    def uploaded(self) -> list[dict[str, Any]]:
        """The documents that were uploaded: `id`, `sha256`, `size`."""
        return self.server.service.uploaded

    @property
    def base_url(self) -> str:
        host, port = self.server.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"


@contextmanager
def running(options: SandboxOptions, *, keep_requests: bool = True) -> Iterator[RunningSandbox]:
    """Read the files, bind the port, and serve from a thread until the block ends.

    Raises SandboxUnusable: a file or the address cannot be used; lists the problems of both files together.
    """
    problems: list[str] = []
    company = _read(read_questions, options.questions or SHIPPED_QUESTIONS, problems)
    faults = _read(read_faults, options.faults, problems) if options.faults else Faults()
    if not options.token or not options.token.isascii() or not options.token.isprintable() or " " in options.token:
        problems.append("the sandbox token must be printable ASCII without spaces, and not empty")
    if company is None or faults is None or problems:
        raise SandboxUnusable(problems)
    requests: list[LoggedRequest] = []
    with ExitStack() as opened:
        memory = opened.enter_context(closing(Memory(company, options.memory)))
        write = opened.enter_context(_log(options.log))

        def log(request: LoggedRequest) -> None:
            if keep_requests:
                requests.append(request)
            write(request)

        try:
            server = _Server(options, Service(options, company, faults, memory), log)
        except (OSError, OverflowError) as error:
            advice = "choose another port, or 0 for a free one"
            message = f"cannot listen on {options.host} port {options.port}: {error}; {advice}"
            raise SandboxUnusable(message) from error
        threading.Thread(target=server.serve_forever, args=(0.01,), name="sandbox", daemon=True).start()
        opened.callback(server.end)
        yield RunningSandbox(options.token, memory, requests, server)


def _read(read: Callable[[Path], File], path: Path, problems: list[str]) -> File | None:
    try:
        return read(path)
    except SandboxUnusable as error:
        problems += error.problems
        return None


@contextmanager
def _log(path: Path | None) -> Iterator[Callable[[LoggedRequest], None]]:
    """What writes each request to the file, as a line of JSON."""
    if path is None:
        yield lambda request: None
        return
    try:
        file = path.open("a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise SandboxUnusable(f"{path}: the log file cannot be opened: {error.strerror}; check the folder") from error
    with file:
        yield lambda request: print(json.dumps(asdict(request)), file=file)


def serve(options: SandboxOptions) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code, 3 if it cannot start. Called from the main thread.

    Prints `sandbox listening on http://127.0.0.1:PORT` once clients may connect.
    """
    stop = threading.Event()
    try:
        with running(options, keep_requests=False) as sandbox:
            earlier = {one: signal.signal(one, lambda *_: stop.set()) for one in (signal.SIGINT, signal.SIGTERM)}
            sys.stdout.write(f"sandbox listening on {sandbox.base_url}\n")
            sys.stdout.flush()
            stop.wait()
            for one, handler in earlier.items():
                signal.signal(one, handler)
    except SandboxUnusable as error:
        sys.stderr.writelines(f"{problem}\n" for problem in error.problems)
        return 3
    return 0
