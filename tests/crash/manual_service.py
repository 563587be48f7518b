"""A recruiting service that holds each request until the test decides how to respond."""

from __future__ import annotations

import json
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from types import TracebackType
from typing import Any, Self, cast

_RESET = struct.pack("ii", 1, 0)  # closing sends a reset
_QUESTIONS = json.loads(files("importer.sandbox").joinpath("questions.json").read_text("utf-8"))["job_posts"]

# How a request may be handled: the status (None: no response), and whether the service processes it.
BEHAVIORS = {
    "answered": (None, True),  # with the real status
    "400": (400, False),
    "401": (401, False),
    "429": (429, False),
    "500 before accepting": (500, False),
    "500 after accepting": (500, True),
    "dropped before accepting": (None, False),
    "dropped after accepting": (None, True),
    "late": (None, False),  # processed after the client has given up
}


@dataclass
class Held:
    """A held request. `behavior` is set once."""

    email: str
    behavior: str = ""
    decided: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


class ManualService(ThreadingHTTPServer):
    """Accepts each candidate once, as documented; with `is_manual` False it responds at once.

    A late request arrives before the next one for the same person, as the resend delay is long enough.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.is_manual = True
        self.let_through = 0  # this many of the next requests are answered at once
        self.held: list[Held] = []
        self.accepted: list[str] = []
        self._late: list[str] = []
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.shutdown()
        for held in self.held:
            self.decide(held, "dropped before accepting")
        self._thread.join()
        self.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def decide(self, held: Held, behavior: str) -> None:
        """Handle a held request in this way, and return when it is done."""
        held.behavior = behavior
        held.decided.set()
        held.over.wait(5)

    def answer_all(self) -> None:
        """Answer all held requests, and further ones at once."""
        self.is_manual = False
        for held in list(self.held):
            self.decide(held, "answered")

    def let_arrive(self) -> None:
        """Process the late requests now."""
        with self._lock:
            for email in self._late:
                self._work_on(email)
            self._late.clear()

    def handle(self, email: str) -> tuple[int | None, Held]:
        """The status of the response, or None for no response."""
        held = Held(email)
        with self._lock:
            self.held.append(held)
        if not self.is_manual or self._is_let_through():
            held.behavior = "answered"
            held.decided.set()
        held.decided.wait()
        with self._lock:
            self.held.remove(held)
            if email in self._late:
                self.let_arrive()
            if held.behavior == "late":
                self._late.append(email)
            status, is_worked_on = BEHAVIORS[held.behavior]
            if held.behavior == "400" and email in self.accepted:
                return 409, held  # the service checks for duplicates first
            status_of_service = self._work_on(email) if is_worked_on else None
            return status_of_service if held.behavior == "answered" else status, held

    def _is_let_through(self) -> bool:
        with self._lock:
            self.let_through -= 1
            return self.let_through >= 0

    def _work_on(self, email: str) -> int:
        if email in self.accepted:
            return 409
        self.accepted.append(email)
        return 201

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A killed client is not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def service(self) -> ManualService:
        return cast(ManualService, self.server)

    def do_GET(self) -> None:
        post = self.path.split("/")[5]
        if post in _QUESTIONS:
            self._answer(200, {"success": "OK", "content": _QUESTIONS[post]["questions"]})
        else:
            self._answer(404, {"detail": "not found"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, held = self.service.handle(json.loads(body)["email"])
        try:
            if status is None:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                self.close_connection = True
            else:
                self._answer(status, {"message": "ok"})
        finally:
            held.over.set()

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        """No log."""
