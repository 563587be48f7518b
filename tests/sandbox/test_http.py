"""HTTP/1.1: framing, connections, and bytes that are not HTTP."""

from __future__ import annotations

import re
import socket
import time

import pytest

from importer.sandbox import RunningSandbox, SandboxOptions, SandboxUnusable, running
from importer.sandbox.server import LONGEST_BODY
from tests.sandbox.wire import APPLY, QUESTIONS, Client, application, raw_connection, read_to_end, request_bytes

HEALTH = b"GET /_sandbox/health HTTP/1.1\r\nHost: sandbox\r\n\r\n"


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"(?:^|})HTTP/1\.1 (\d+) ", received)]


def receive_one(connection: socket.socket) -> bytes:
    """One whole response, by its Content-Length."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def test_one_connection_serves_many_requests(sandbox: RunningSandbox) -> None:
    """A connection is kept alive from request to request."""
    with raw_connection(sandbox.base_url) as connection:
        for number in range(5):
            connection.sendall(request_bytes("POST", APPLY, application(f"p{number}@example.com")))
            answer = receive_one(connection)
            assert answer.startswith(b"HTTP/1.1 201 Created\r\n")
            assert b"Connection: keep-alive" in answer
    assert len(sandbox.memory) == 5


def test_pipelined_requests_are_answered_in_order(sandbox: RunningSandbox) -> None:
    """Pipelined requests get their responses in the order they were sent."""
    with raw_connection(sandbox.base_url) as connection:
        one, two = request_bytes("POST", APPLY, application()), request_bytes("GET", QUESTIONS, None)
        connection.sendall(one + one + two + request_bytes("GET", "/", None, "Connection: close"))
        assert statuses(read_to_end(connection)) == [201, 409, 200, 404]


def test_a_request_to_close_is_respected(sandbox: RunningSandbox) -> None:
    """Connection: close is answered with the same, and the connection closes."""
    with raw_connection(sandbox.base_url) as connection:
        connection.sendall(request_bytes("GET", QUESTIONS, None, "Connection: close"))
        assert b"\r\nConnection: close\r\n" in read_to_end(connection)


def test_http_1_0_is_closed(sandbox: RunningSandbox) -> None:
    """HTTP/1.0 without keep-alive is answered once."""
    with raw_connection(sandbox.base_url) as connection:
        connection.sendall(b"GET /_sandbox/health HTTP/1.0\r\n\r\n")
        assert read_to_end(connection).endswith(b'Connection: close\r\n\r\n{"status": "ok"}')


def test_a_half_closed_connection_gets_its_response(sandbox: RunningSandbox) -> None:
    """A client that has stopped sending still gets its response."""
    with raw_connection(sandbox.base_url) as connection:
        connection.sendall(HEALTH)
        connection.shutdown(socket.SHUT_WR)
        assert statuses(read_to_end(connection)) == [200]


def test_expect_100_continue(sandbox: RunningSandbox) -> None:
    """Expect: 100-continue gets its 100 before the body."""
    whole = request_bytes("POST", APPLY, application(), "Expect: 100-continue")
    head, _, body = whole.partition(b"\r\n\r\n")
    with raw_connection(sandbox.base_url) as connection:
        connection.sendall(head + b"\r\n\r\n")
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert receive_one(connection).startswith(b"HTTP/1.1 201 ")


def test_head_is_get_without_the_body(client: Client) -> None:
    """HEAD of the question list sends the length and no body."""
    head, get = client.send("HEAD", QUESTIONS), client.get(QUESTIONS)
    assert (head.status, head.text) == (200, "")
    assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.text.encode()))


def test_the_query_is_not_part_of_the_path(sandbox: RunningSandbox, client: Client) -> None:
    """A query does not change the operation, and is not logged: it could contain an e-mail address."""
    assert client.get(f"{QUESTIONS}?email=ayse@example.com").status == 200
    assert [request.path for request in sandbox.requests] == [QUESTIONS]


def test_a_body_that_is_cut_off_is_not_taken(sandbox: RunningSandbox) -> None:
    """Half a document is none; and what is no file at all is refused."""
    upload = "POST", "/_sandbox/files/"
    with raw_connection(sandbox.base_url) as connection:
        connection.sendall(request_bytes(*upload, {"file": "JVBERi0xLjc="})[:-2])
        connection.shutdown(socket.SHUT_WR)
        assert read_to_end(connection) == b""
    for body in ("text", [1], {"file": "a"}):
        with raw_connection(sandbox.base_url) as connection:
            connection.sendall(request_bytes(*upload, body, "Connection: close"))
            assert statuses(read_to_end(connection)) == [400]
    assert sandbox.uploaded == []


BAD_HTTP = [
    pytest.param(b"hello\r\n\r\n", id="not HTTP"),
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no Host"),
    pytest.param(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", id="a length that is not a number"),
    pytest.param(
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", id="two framings"
    ),
    pytest.param(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", id="no length"),
    pytest.param(
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n", id="an endless length"
    ),
    pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 65_600 + b"\r\n\r\n", id="an endless head"),
]


@pytest.mark.parametrize("sent", BAD_HTTP)
def test_invalid_http_gets_400_and_is_closed(sandbox: RunningSandbox, sent: bytes) -> None:
    """Bytes that are not an HTTP/1.1 request get a 400, and the connection closes."""
    with raw_connection(sandbox.base_url) as connection:
        connection.sendall(sent)
        received = read_to_end(connection)
    assert received.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert received.endswith(b'{"detail": ["this is not an HTTP/1.1 request"]}')


def test_a_good_request_before_bad_bytes_is_still_answered(sandbox: RunningSandbox) -> None:
    """Invalid bytes affect only what comes after them."""
    with raw_connection(sandbox.base_url) as connection:
        connection.sendall(HEALTH + b"hello\r\n\r\n")
        assert statuses(read_to_end(connection)) == [200, 400]


def test_a_body_over_the_limit_is_rejected(client: Client) -> None:
    """A huge body gets 413, and is not kept in memory while it arrives."""
    answer = client.send("POST", APPLY, b" " * (LONGEST_BODY + 1), {"Content-Type": "application/json"})
    assert (answer.status, answer.json) == (413, {"detail": ["the body is too large"]})


def test_small_responses_are_not_delayed(sandbox: RunningSandbox) -> None:
    """TCP_NODELAY is on: without it, a second small response waits up to 40 ms for the client to confirm the first."""
    seconds = []
    with raw_connection(sandbox.base_url) as connection:
        for _ in range(50):
            started = time.monotonic()
            connection.sendall(HEALTH + HEALTH)
            received = b""
            while len(statuses(received)) < 2 or not received.endswith(b"}"):
                received += connection.recv(65536)
            seconds.append(time.monotonic() - started)
    assert sorted(seconds)[10] < 0.04  # without it, all but the first take longer; a busy machine delays some


def test_a_port_in_use(sandbox: RunningSandbox) -> None:
    """A port in use is reported with what to do."""
    port = int(sandbox.base_url.rpartition(":")[2])
    with pytest.raises(SandboxUnusable) as caught, running(SandboxOptions(token="t", port=port)):
        pass
    [problem] = caught.value.problems
    assert problem.startswith(f"cannot listen on 127.0.0.1 port {port}: ")
    assert problem.endswith("; choose another port, or 0 for a free one")
