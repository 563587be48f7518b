"""A recruiting service on loopback that records which candidates it accepted, whatever it responded."""

from __future__ import annotations

import contextlib
import json
import math
import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.patience import wait_until


@dataclass
class Truth:
    """The accepted e-mail addresses, and how many duplicates were refused."""

    base_url: str = ""
    accepted: Counter[str] = field(default_factory=Counter)
    refused_duplicates: int = 0
    requests: int = 0
    most: float = math.inf  # requests; each later one waits until `go_on`
    lock: threading.Lock = field(default_factory=threading.Lock)

    def go_on(self) -> None:
        self.most = math.inf

    def accept(self, email: str) -> bool:
        with self.lock:
            if self.accepted[email]:
                self.refused_duplicates += 1
                return False
            self.accepted[email] += 1
            return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, truth: Truth, seed: int, fault_rate: float) -> None:
        self.truth = truth
        self.fault_rate = fault_rate
        self.random = random.Random(seed)
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A killed client is not an error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        truth = self.server.truth
        with truth.lock:
            truth.requests += 1
            number = truth.requests
            draw = self.server.random.random()
            after = self.server.random.random() < 0.5
        wait_until(lambda: number <= truth.most)
        if draw < self.server.fault_rate:
            self._fail(json.loads(body)["email"], draw / self.server.fault_rate, after)
        else:
            self._answer(201 if truth.accept(json.loads(body)["email"]) else 409)

    def _fail(self, email: str, draw: float, after: bool) -> None:
        if draw < 0.4:
            self._answer(429)
            return
        if after:
            self.server.truth.accept(email)
        if draw < 0.7:
            self._answer(503)
            return
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _answer(self, status: int) -> None:
        body = b'{"message": "ok"}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """No log."""


@contextlib.contextmanager
def recording_service(seed: int = 1, fault_rate: float = 0.0) -> Iterator[Truth]:
    """Serve; a share of the requests (0 to 1) gets a 429, or a 503 or reset before or after accepting."""
    truth = Truth()
    server = _Server(truth, seed, fault_rate)
    truth.base_url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield truth
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
