"""A small client that shows exactly what is on the wire: no retries, no redirects, no help."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

TOKEN = "token-for-tests"
APPLY = "/api/v1/job-posts/4f2c9a/apply/"
QUESTIONS = "/api/v1/client/job-posts/4f2c9a/questions/"
ADD_TO_POOL = "/api/v1/talent-pools/18/add-candidate/"
PATIENCE = 10.0


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Client:
    """Sends one request on a connection of its own."""

    base_url: str
    headers: dict[str, str] = field(default_factory=lambda: {"Authorization": f"Bearer {TOKEN}"})

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def post(self, path: str, body: Any) -> Answer:
        return self.send("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        where = urlsplit(self.base_url)
        connection = HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {**self.headers, **(headers or {})})
            reply = connection.getresponse()
            names = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, names, reply.read().decode())
        finally:
            connection.close()


@contextmanager
def raw_connection(base_url: str, timeout: float = PATIENCE) -> Iterator[socket.socket]:
    """A plain socket to the sandbox."""
    where = urlsplit(base_url)
    with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=timeout) as connection:
        yield connection


def request_bytes(method: str, path: str, body: Any = None, *headers: str) -> bytes:
    """A whole request as it stands on the wire, with token and length."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: sandbox", f"Authorization: Bearer {TOKEN}", *headers]
    if content:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join((*lines, "\r\n")).encode() + content


def read_to_end(connection: socket.socket) -> bytes:
    """Everything until the sandbox closes."""
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


def application(email: str = "ayse@example.com", **changes: Any) -> dict[str, Any]:
    """A good application to job post 4f2c9a with its two required answers, and whatever is changed."""
    answers = [
        {"job_post_question": {"id": 102, "question_key": "phone"}, "answer": "+44 20 7946 0101"},
        {"job_post_question": {"id": 113, "question_key": "work_permit"}, "answer": "yes"},
    ]
    body = {"email": email, "first_name": "Ayşe", "last_name": "Yılmaz", "cv": "8841", "answers": answers}
    return {name: value for name, value in {**body, **changes}.items() if value is not ...}


def with_answer(question: int, answer: Any) -> dict[str, Any]:
    """A good application that also answers one more question, by its integer id."""
    item = {"job_post_question": question, "answer": answer}
    kept = [one for one in application()["answers"] if one["job_post_question"]["id"] != question]
    return application(answers=[*kept, item])


def candidate(email: str = "ayse@example.com", **changes: Any) -> dict[str, Any]:
    """A good talent pool addition, and whatever is changed; `...` leaves a field out."""
    body = {"email": email, "first_name": "Ayşe", "last_name": "Yılmaz", "cv": "8841"}
    return {name: value for name, value in {**body, **changes}.items() if value is not ...}
