"""Each fault, as a client sees it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.patience import wait_until
from tests.sandbox.wire import APPLY, QUESTIONS, TOKEN, Client, application, raw_connection, read_to_end, request_bytes


@contextmanager
def faulty(folder: Path, *faults: dict[str, Any], **rest: Any) -> Iterator[RunningSandbox]:
    """A sandbox with these faults, each for the first request by default."""
    file = folder / "faults.json"
    chosen = [fault if {"share", "every", "emails"} & fault.keys() else {"first": 1, **fault} for fault in faults]
    file.write_text(json.dumps({"seed": 7, "faults": chosen, **rest}), encoding="utf-8")
    with running(SandboxOptions(token=TOKEN, faults=file)) as sandbox:
        yield sandbox


def logged(sandbox: RunningSandbox) -> list[tuple[int | None, str | None]]:
    return [(request.status, request.fault) for request in sandbox.requests]


STATUSES = [
    pytest.param({"kind": 401}, 401, "unauthorized", id="401"),
    pytest.param({"kind": "403"}, 403, "forbidden", id="403"),
    pytest.param({"kind": "410"}, 410, "gone", id="410"),
    pytest.param({"kind": "423"}, 423, "locked", id="423"),
    pytest.param({"kind": "429"}, 429, "too many requests", id="429"),
    pytest.param({"kind": "500"}, 500, "internal server error", id="500"),
    pytest.param({"kind": "502"}, 502, "bad gateway", id="502"),
    pytest.param({"kind": "503", "when": "before"}, 503, "service unavailable", id="503"),
    pytest.param({"kind": "504"}, 504, "gateway timeout", id="504"),
]


@pytest.mark.parametrize(("fault", "status", "message"), STATUSES)
def test_a_request_with_a_status_fault_is_not_accepted(
    tmp_path: Path, fault: dict[str, Any], status: int, message: str
) -> None:
    """The request gets the status and nothing is accepted; sent again it gets 201."""
    with faulty(tmp_path, fault) as sandbox:
        client = Client(sandbox.base_url)
        answer = client.post(APPLY, application())
        assert (answer.status, answer.json) == (status, {"detail": [message]})
        assert "retry-after" not in answer.headers
        assert sandbox.memory.accepted() == []
        assert client.post(APPLY, application()).status == 201


@pytest.mark.parametrize("kind", ["500", "502", "503", "504"])
def test_a_server_error_may_come_after_accepting(tmp_path: Path, kind: str) -> None:
    """The request gets an error although it was accepted; sent again it gets 409."""
    with faulty(tmp_path, {"kind": kind, "when": "after"}) as sandbox:
        client = Client(sandbox.base_url)
        assert client.post(APPLY, application()).status == int(kind)
        assert sandbox.memory.accepted() == [application()]
        assert client.post(APPLY, application()).status == 409
        assert logged(sandbox) == [(int(kind), f"{kind} after"), (409, None)]


def test_429_with_retry_after_in_seconds(tmp_path: Path) -> None:
    """Retry-After is a number of seconds."""
    with faulty(tmp_path, {"kind": "429", "retry_after": "seconds", "seconds": 3}) as sandbox:
        assert Client(sandbox.base_url).post(APPLY, application()).headers["retry-after"] == "3"


def test_429_with_retry_after_as_a_date(tmp_path: Path) -> None:
    """Retry-After is an HTTP date, never earlier than `seconds` from now."""
    with faulty(tmp_path, {"kind": "429", "retry_after": "date", "seconds": 30}) as sandbox:
        before = datetime.now(UTC)
        until = parsedate_to_datetime(Client(sandbox.base_url).post(APPLY, application()).headers["retry-after"])
    assert 30 <= (until - before).total_seconds() <= 32


def was_reset(connection: socket.socket) -> bool:
    try:
        connection.recv(100)
    except ConnectionResetError:
        return True
    return False


@pytest.mark.parametrize(("when", "accepted"), [("before", []), ("after", [application()])])
def test_a_reset(tmp_path: Path, when: str, accepted: list[Any]) -> None:
    """The connection is reset, not closed, before or after the request is accepted."""
    with faulty(tmp_path, {"kind": "reset", "when": when}) as sandbox, raw_connection(sandbox.base_url) as connection:
        connection.sendall(request_bytes("POST", APPLY, application()))
        assert was_reset(connection)
        assert sandbox.memory.accepted() == accepted
        assert logged(sandbox) == [(None, f"reset {when}")]


def test_a_hang_accepts_and_never_responds(tmp_path: Path) -> None:
    """The request is accepted, and nothing is sent until the client disconnects."""
    with faulty(tmp_path, {"kind": "hang_after"}) as sandbox:
        with raw_connection(sandbox.base_url, timeout=0.3) as connection:
            connection.sendall(request_bytes("POST", APPLY, application()))
            with pytest.raises(TimeoutError):
                connection.recv(1)
            assert sandbox.memory.accepted() == [application()]
        assert Client(sandbox.base_url).post(APPLY, application()).status == 409


def test_a_hang_may_end_in_a_close(tmp_path: Path) -> None:
    """After `seconds` the connection is closed without a response."""
    with faulty(tmp_path, {"kind": "hang_after", "seconds": 0.1}) as sandbox:
        with raw_connection(sandbox.base_url) as connection:
            connection.sendall(request_bytes("POST", APPLY, application()))
            started = time.monotonic()
            assert read_to_end(connection) == b""
        assert time.monotonic() - started >= 0.09


def test_a_cut_head_has_no_status(tmp_path: Path) -> None:
    """The request is accepted, and the connection closes before the status is complete."""
    with faulty(tmp_path, {"kind": "cut_head"}) as sandbox, raw_connection(sandbox.base_url) as connection:
        connection.sendall(request_bytes("POST", APPLY, application()))
        assert read_to_end(connection) == b"HTTP/1.1 2"
        assert sandbox.memory.accepted() == [application()]


def test_a_cut_body_keeps_its_status(tmp_path: Path) -> None:
    """The request is accepted; the head announces the whole body, and half of it arrives."""
    with faulty(tmp_path, {"kind": "cut_body"}) as sandbox, raw_connection(sandbox.base_url) as connection:
        connection.sendall(request_bytes("POST", APPLY, application()))
        head, _, body = read_to_end(connection).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 201 Created\r\n")
        assert b"Content-Length: 43\r\n" in head
        assert body == b'{"message": "the appl'
        assert sandbox.memory.accepted() == [application()]


def test_an_html_error_page(tmp_path: Path) -> None:
    """An HTML error page with its status; nothing is accepted."""
    with faulty(tmp_path, {"kind": "html", "status": 503}) as sandbox:
        answer = Client(sandbox.base_url).post(APPLY, application())
        assert (answer.status, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert "<h1>503</h1>" in answer.text
        assert sandbox.memory.accepted() == []


@pytest.mark.parametrize(
    ("kind", "text"), [("not_json_201", "<p>Your application was received.</p>"), ("empty_201", "")]
)
def test_a_201_without_json(tmp_path: Path, kind: str, text: str) -> None:
    """The submission is accepted with status 201, whatever the body is."""
    with faulty(tmp_path, {"kind": kind}) as sandbox:
        answer = Client(sandbox.base_url).post(APPLY, application())
        assert (answer.status, answer.text) == (201, text)
        assert sandbox.memory.accepted() == [application()]


@pytest.mark.parametrize("kind", ["not_json_201", "empty_201"])
def test_a_201_fault_never_hides_a_rejection(tmp_path: Path, kind: str) -> None:
    """A rejected submission does not get a 201 from a fault."""
    with faulty(tmp_path, {"kind": kind, "first": 9}) as sandbox:
        assert Client(sandbox.base_url).post(APPLY, application(cv=...)).status == 400
        assert logged(sandbox) == [(400, None)]


REFUSALS = [pytest.param({}, 400, id="400 by default"), pytest.param({"status": 422}, 422, id="another status")]


@pytest.mark.parametrize(("rest", "status"), REFUSALS)
def test_the_refuse_fault_rejects_certain_people(tmp_path: Path, rest: dict[str, Any], status: int) -> None:
    """Certain people are rejected at each attempt, with a reason that no check of ours could know."""
    fault = {"kind": "refuse", "emails": ["Ayse@example.com"], "times": 9, "message": "document 8841 was not found"}
    with faulty(tmp_path, {**fault, **rest}) as sandbox:
        client = Client(sandbox.base_url)
        for _ in range(2):
            answer = client.post(APPLY, application())
            assert (answer.status, answer.json) == (status, {"detail": ["document 8841 was not found"]})
        assert client.post(APPLY, application("b@example.com")).status == 201


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_leads_elsewhere(tmp_path: Path, status: int) -> None:
    """The response has a Location header, and nothing is accepted."""
    fault = {"kind": "redirect", "status": status, "location": "https://login.example.com/"}
    with faulty(tmp_path, fault) as sandbox:
        answer = Client(sandbox.base_url).post(APPLY, application())
        assert (answer.status, answer.headers["location"]) == (status, "https://login.example.com/")
        assert sandbox.memory.accepted() == []


def test_a_delay_delays_the_response(tmp_path: Path) -> None:
    """The request is accepted at once and answered later; other connections are not delayed."""
    with faulty(tmp_path, {"kind": "delay", "ms": 1000, "jitter_ms": 50, "operation": "apply"}) as sandbox:
        with raw_connection(sandbox.base_url) as slow:
            started = time.monotonic()
            slow.sendall(request_bytes("POST", APPLY, application(), "Connection: close"))
            assert Client(sandbox.base_url).get(QUESTIONS).status == 200
            assert read_to_end(slow).startswith(b"HTTP/1.1 201 ")
            assert time.monotonic() - started >= 0.95
        assert logged(sandbox) == [(200, None), (201, "delay")]


def test_a_delay_adds_to_another_fault(tmp_path: Path) -> None:
    """A request may get a delay and then an error."""
    with faulty(tmp_path, {"kind": "delay", "ms": 50}, {"kind": "502"}) as sandbox:
        started = time.monotonic()
        assert Client(sandbox.base_url).post(APPLY, application()).status == 502
        assert time.monotonic() - started >= 0.05
        assert logged(sandbox) == [(502, "502 before")]


def test_the_sandbox_ends_while_a_client_waits(tmp_path: Path) -> None:
    """Hanging and delayed connections do not prevent the sandbox from ending."""
    hang, delay = {"kind": "hang_after"}, {"kind": "delay", "ms": 60_000, "every": 2}
    with ExitStack() as clients:
        with faulty(tmp_path, hang, delay) as sandbox:
            for email in ("a@example.com", "b@example.com"):
                connection = clients.enter_context(raw_connection(sandbox.base_url))
                connection.sendall(request_bytes("POST", APPLY, application(email)))
            wait_until(lambda: len(sandbox.memory) == 2)
            ending = time.monotonic()
        assert time.monotonic() - ending < 30


def test_a_fault_on_the_question_list(tmp_path: Path) -> None:
    """A fault for one operation does not hit others; without an e-mail address, `times` does not apply."""
    with faulty(tmp_path, {"kind": "500", "operation": "questions", "first": 2}) as sandbox:
        client = Client(sandbox.base_url)
        assert client.post(APPLY, application()).status == 201
        assert [client.get(QUESTIONS).status for _ in range(3)] == [500, 500, 200]


def test_a_request_without_the_token_gets_no_fault(tmp_path: Path) -> None:
    """A request without the token does not use up a fault."""
    with faulty(tmp_path, {"kind": "500"}) as sandbox:
        assert Client(sandbox.base_url, {}).post(APPLY, application()).status == 401
        assert Client(sandbox.base_url).post(APPLY, application()).status == 500
