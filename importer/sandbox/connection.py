"""The connection of one client: receives requests and sends deliveries in the same order."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import TextIO

import httptools

from importer.sandbox.app import Delivery, Ending, SandboxApp
from importer.sandbox.http_messages import Reply, Request, json_reply
from importer.sandbox.json_reading import SandboxUnusable

LONGEST_HEAD = 64 * 1024
LONGEST_BODY = 8 * 1024 * 1024
_REASONS = {status.value: status.phrase for status in HTTPStatus}
_NO_LINGER = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # on, 0 seconds: closing sends a reset
_BAD_HTTP = json_reply(400, {"detail": ["this is not an HTTP/1.1 request"]})


@dataclass(frozen=True, slots=True)
class _Pending:
    request: Request
    delivery: Delivery
    started: float


class Connection(asyncio.Protocol):
    """Speaks HTTP/1.1 with one client; registered in `open_connections` while it is open."""

    def __init__(self, app: SandboxApp, log: RequestLog, open_connections: set[Connection]) -> None:
        self._app = app
        self._log = log
        self._open_connections = open_connections
        self._parser = RequestParser(self._send_continue)
        self._waiting: deque[Request] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._hanging = False
        self._half_closed = False

    def close(self) -> None:
        """Close the connection immediately."""
        self._transport.abort()

    # --- called by asyncio ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._socket = transport.get_extra_info("socket")
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open_connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._open_connections.discard(self)
        if self._timer:
            self._timer.cancel()

    def data_received(self, received: bytes) -> None:
        if self._parser.broken:
            return
        self._waiting.extend(self._parser.feed(received))
        self._answer_waiting()

    def eof_received(self) -> bool:
        """Keep the connection open while deliveries to a client that has stopped sending are pending."""
        self._half_closed = True
        return self._timer is not None and not self._hanging

    # --- deliveries ---

    def _send_continue(self) -> None:
        self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _answer_waiting(self) -> None:
        while self._waiting and self._is_free():
            started = time.perf_counter()
            request = self._waiting.popleft()
            pending = _Pending(request, self._app.answer(request), started)
            if pending.delivery.delay:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(pending.delivery.delay, self._deliver_late, pending)
            else:
                self._deliver(pending)
        if self._is_free() and (self._parser.broken or self._half_closed):
            self._end()

    def _is_free(self) -> bool:
        return self._timer is None and not self._hanging and not self._transport.is_closing()

    def _end(self) -> None:
        if self._parser.broken:
            self._transport.write(render_head(_BAD_HTTP, keep_alive=False) + _BAD_HTTP.body)
        self._transport.close()

    def _deliver_late(self, pending: _Pending) -> None:
        self._timer = None
        self._deliver(pending)
        self._answer_waiting()

    def _deliver(self, pending: _Pending) -> None:
        request, delivery = pending.request, pending.delivery
        silent = delivery.ending in (Ending.RESET, Ending.HANG, Ending.CUT_HEAD)
        status = None if silent else delivery.reply.status
        self._log.add(request.method, request.path, status, delivery.fault, time.perf_counter() - pending.started)
        match delivery.ending:
            case Ending.RESET:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
                self._transport.abort()
            case Ending.HANG:
                self._hang(delivery.hang_seconds)
            case Ending.CUT_HEAD:
                self._transport.write(render_head(delivery.reply, keep_alive=True)[: len(b"HTTP/1.1 2")])
                self._transport.close()
            case Ending.CUT:
                head = render_head(delivery.reply, keep_alive=True)
                self._transport.write(head + delivery.reply.body[: len(delivery.reply.body) // 2])
                self._transport.close()
            case Ending.ANSWER:
                self._send(request, delivery)

    def _send(self, request: Request, delivery: Delivery) -> None:
        body = b"" if request.method == "HEAD" else delivery.reply.body
        self._transport.write(render_head(delivery.reply, keep_alive=request.keep_alive) + body)
        if not request.keep_alive:
            self._transport.close()

    def _hang(self, hang_seconds: float | None) -> None:
        self._hanging = True
        if self._half_closed:
            self._transport.close()
        elif hang_seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(hang_seconds, self._transport.close)


class RequestParser:
    """Parses incoming bytes into complete requests. `broken`: no more requests can be read."""

    def __init__(self, on_expectation: Callable[[], None]) -> None:
        """`on_expectation` is called when a client waits for 100 Continue before it sends its body."""
        self.broken = False
        self._on_expectation = on_expectation
        self._parser = httptools.HttpRequestParser(self)
        self._whole: list[Request] = []
        self.on_message_begin()

    def feed(self, received: bytes) -> list[Request]:
        """The requests that these bytes complete, in order; their bodies are at most LONGEST_BODY bytes long."""
        try:
            self._parser.feed_data(received)
        except httptools.HttpParserUpgrade:
            self.broken = True  # the requested protocol upgrade is not supported: answer as usual, then close
            self._whole[-1:] = [replace(request, keep_alive=False) for request in self._whole[-1:]]
        except httptools.HttpParserError:
            self.broken = True
        if not self._in_body:
            self._head_size += len(received)
            self.broken = self.broken or self._head_size > LONGEST_HEAD
        whole, self._whole = self._whole, []
        return whole

    # --- called by httptools ---

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._body_size = 0
        self._head_size = 0
        self._in_body = False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._in_body = True
        if self._headers.get("expect", "").lower() == "100-continue":
            self._on_expectation()

    def on_body(self, part: bytes) -> None:
        self._body_size += len(part)
        if self._body_size <= LONGEST_BODY:
            self._body.append(part)
        else:
            self._body.clear()

    def on_message_complete(self) -> None:
        if self._parser.get_http_version() == "1.1" and "host" not in self._headers:
            self.broken = True  # RFC 9112, 3.2: a request without Host gets a 400
            return
        self._whole.append(
            Request(
                method=self._parser.get_method().decode("latin-1"),
                path=self._url.partition(b"?")[0].decode("latin-1"),
                headers=self._headers,
                body=b"".join(self._body),
                keep_alive=self._parser.should_keep_alive() and not self.broken,
                too_large=self._body_size > LONGEST_BODY,
            )
        )
        self._in_body = False
        self._head_size = 0


def render_head(reply: Reply, *, keep_alive: bool) -> bytes:
    """The status line and headers, with the blank line that ends them."""
    lines = [
        f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Unknown')}",
        f"Date: {_date(int(time.time()))}",
        f"Content-Length: {len(reply.body)}",
    ]
    if reply.body:
        lines.append(f"Content-Type: {reply.content_type}")
    lines += [f"{name}: {value}" for name, value in reply.headers]
    lines.append("Connection: keep-alive" if keep_alive else "Connection: close")
    return "\r\n".join((*lines, "\r\n")).encode("latin-1")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """The Date header; formatted once a second, as this costs more than the rest of the head."""
    return formatdate(second, usegmt=True)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request: the response status (None: no response was sent), the fault, and the duration in ms."""

    at: str
    method: str
    path: str
    status: int | None
    fault: str | None
    ms: float


class RequestLog:
    """Writes requests to a file as JSON lines; `keep` also stores them in `requests`, for tests."""

    def __init__(self, path: Path | None = None, *, keep: bool = False) -> None:
        """Raises SandboxUnusable if the file cannot be opened."""
        self.requests: list[LoggedRequest] = []
        self._keep = keep
        self._file = _open(path) if path else None

    def add(self, method: str, path: str, status: int | None, fault: str | None, seconds: float) -> None:
        """Log one request; called before the response is sent, so that a client with the response finds the line."""
        if not self._keep and not self._file:
            return
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        request = LoggedRequest(at, method, path, status, fault, round(seconds * 1000, 3))
        if self._keep:
            self.requests.append(request)
        if self._file:
            self._file.write(json.dumps(asdict(request)) + "\n")

    def close(self) -> None:
        if self._file:
            self._file.close()


def _open(path: Path) -> TextIO:
    try:
        return path.open("a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise SandboxUnusable(f"{path}: the log file cannot be opened: {error.strerror}; check the folder") from error
