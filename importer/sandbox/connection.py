"""One client's connection: requests in, deliveries out in the same order, each with its ending."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import time
from collections import deque
from dataclasses import dataclass

from importer.sandbox.app import SandboxApp
from importer.sandbox.delivery import Delivery, Ending
from importer.sandbox.rendering import render_head
from importer.sandbox.replies import json_reply
from importer.sandbox.request import Request
from importer.sandbox.request_log import RequestLog
from importer.sandbox.request_parser import RequestParser

_NO_LINGER = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)  # on, 0 seconds: closing resets
_BAD_HTTP = json_reply(400, {"detail": ["this is no HTTP/1.1 request"]})


@dataclass(frozen=True, slots=True)
class _Pending:
    request: Request
    delivery: Delivery
    started: float


class Connection(asyncio.Protocol):
    """Speaks HTTP/1.1 with one client; registers itself in `open_connections` while it lasts."""

    def __init__(self, app: SandboxApp, log: RequestLog, open_connections: set[Connection]) -> None:
        self._app = app
        self._log = log
        self._open_connections = open_connections
        self._parser = RequestParser(self._encourage)
        self._waiting: deque[Request] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._hanging = False
        self._half_closed = False

    def close(self) -> None:
        """Ends the connection now, whatever is going on."""
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
        """Keeps the connection for what is still to be delivered to a client that has said all it will say."""
        self._half_closed = True
        return self._timer is not None and not self._hanging

    # --- deliveries ---

    def _encourage(self) -> None:
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
            self._say_goodbye()

    def _is_free(self) -> bool:
        return self._timer is None and not self._hanging and not self._transport.is_closing()

    def _say_goodbye(self) -> None:
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
                self._hang(delivery.patience)
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

    def _hang(self, patience: float | None) -> None:
        self._hanging = True
        if self._half_closed:
            self._transport.close()
        elif patience is not None:
            self._timer = asyncio.get_running_loop().call_later(patience, self._transport.close)
