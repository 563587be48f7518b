"""A minimal HTTP client for tests: no retries, no redirects."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from tests.patience import PATIENCE

TOKEN = "token-for-tests"
APPLY = "/api/v1/job-posts/4f2c9a/apply/"
QUESTIONS = "/api/v1/client/job-posts/4f2c9a/questions/"
ADD_TO_POOL = "/api/v1/talent-pools/18/add-candidate/"
TIMEOUT = PATIENCE


@dataclass(frozen=True)
class Response:
    """A response."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Client:
    """Sends each request on its own connection."""

    base_url: str
    headers: dict[str, str] = field(default_factory=lambda: {"Authorization": f"Bearer {TOKEN}"})

    def get(self, path: str) -> Response:
        return self.send("GET", path)

    def post(self, path: str, body: Any) -> Response:
        return self.send("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Response:
        where = urlsplit(self.base_url)
        connection = HTTPConnection(str(where.hostname), where.port, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, {**self.headers, **(headers or {})})
            reply = connection.getresponse()
            names = {name.lower(): value for name, value in reply.getheaders()}
            return Response(reply.status, names, reply.read().decode())
        finally:
            connection.close()


@contextmanager
def raw_connection(base_url: str, timeout: float = TIMEOUT) -> Iterator[socket.socket]:
    """A plain socket to the sandbox."""
    where = urlsplit(base_url)
    with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=timeout) as connection:
        yield connection


def request_bytes(method: str, path: str, body: Any = None, *headers: str) -> bytes:
    """The bytes of a whole request, with token and length."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: sandbox", f"Authorization: Bearer {TOKEN}", *headers]
    if content:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join((*lines, "\r\n")).encode() + content


def read_to_end(connection: socket.socket) -> bytes:
    """All bytes until the sandbox closes the connection."""
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


def application(email: str = "ayse@example.com", **changes: Any) -> dict[str, Any]:
    """A valid application to job post 4f2c9a with its two required answers and these changes."""
    answers = [
        {"job_post_question": {"id": 102, "question_key": "phone"}, "answer": "+44 20 7946 0101"},
        {"job_post_question": {"id": 113, "question_key": "work_permit"}, "answer": "yes"},
    ]
    body = {"email": email, "first_name": "Ayşe", "last_name": "Yılmaz", "cv": "8841", "answers": answers}
    return {name: value for name, value in {**body, **changes}.items() if value is not ...}


def with_answer(question: int, answer: Any) -> dict[str, Any]:
    """A valid application that also answers one more question, by its integer id."""
    item = {"job_post_question": question, "answer": answer}
    kept = [one for one in application()["answers"] if one["job_post_question"]["id"] != question]
    return application(answers=[*kept, item])


def candidate(email: str = "ayse@example.com", **changes: Any) -> dict[str, Any]:
    """A valid talent pool addition with these changes; `...` leaves a field out."""
    body = {"email": email, "first_name": "Ayşe", "last_name": "Yılmaz", "cv": "8841"}
    return {name: value for name, value in {**body, **changes}.items() if value is not ...}
