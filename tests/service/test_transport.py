"""The interface to the network: requests, responses, failures, and no hidden behavior."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.models import Operation, Target
from importer.service import Limits, NoReply, RecruitingService, Reply
from importer.service.client import TransportChoice
from tests.service.scripted import Script, answer, drip, reset, scripted, send_and_close

JOB = Target(Operation.APPLY, "4f2c9a")
POOL = Target(Operation.ADD_TO_POOL, "17")
PATIENT = Limits()
CREATED = answer("201 Created", b'{"message": "ok"}')
NOT_AS_SHOWN = "created, but the response has an unexpected format"


def submit(
    transport: TransportChoice, base_url: str, target: Target = JOB, limits: Limits = PATIENT
) -> Reply | NoReply:
    service = RecruitingService(base_url, "secret-token", limits=limits, transport=transport)
    try:
        return service.send(target, b'{"email": "ada@example.com"}')
    finally:
        service.close()


def one(transport: TransportChoice, script: Script) -> Reply | NoReply:
    with scripted(script) as server:
        return submit(transport, server.base_url)


def test_a_request_is_what_the_description_says(transport: TransportChoice) -> None:
    """Path, method, token and body are those of service description 4.2, and nothing else identifies the sender."""
    with scripted(CREATED) as server:
        submit(transport, server.base_url)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /api/v1/job-posts/4f2c9a/apply/ HTTP/1.1"
    assert "Authorization: Bearer secret-token" in lines
    assert "Content-Type: application/json" in lines
    assert not [line for line in lines if line.startswith("Cookie")]
    assert body == b'{"email": "ada@example.com"}'


def test_a_pool_has_its_own_path(transport: TransportChoice) -> None:
    """A talent pool addition goes to the path of 4.3."""
    with scripted(answer("201 Created", b'{"id": 5}')) as server:
        assert submit(transport, server.base_url, POOL) == Reply(201, candidate_id=5)
    assert server.requests[0].startswith(b"POST /api/v1/talent-pools/17/add-candidate/ HTTP/1.1\r\n")


REPLIES = [
    pytest.param(CREATED, Reply(201), id="created"),
    pytest.param(answer("201 Created", b'{"message": "ok", "id": 7}'), Reply(201), id="created, with a new field"),
    pytest.param(answer("201 Created", b'{"id": 7}'), Reply(201, NOT_AS_SHOWN), id="created, without a message"),
    pytest.param(answer("201 Created", b"<html>ok</html>"), Reply(201, NOT_AS_SHOWN), id="created, body is not JSON"),
    pytest.param(answer("409 Conflict", b'{"detail": "already applied"}'), Reply(409, "already applied"), id="409"),
    pytest.param(answer("400 Bad Request"), Reply(400, ""), id="an error without a body"),
    pytest.param(answer("429 Too Many Requests", b"", "Retry-After: 7"), Reply(429, "", 7.0), id="retry after 7 s"),
    pytest.param(
        answer("302 Found", b"", "Location: https://elsewhere.example.com/x"),
        Reply(302, "redirects to https://elsewhere.example.com/x"),
        id="a redirect is not followed",
    ),
    pytest.param(
        answer("307 Temporary Redirect", b"", "Location: https://elsewhere.example.com/x"),
        Reply(307, "redirects to https://elsewhere.example.com/x"),
        id="a 307 is not followed",
    ),
    pytest.param(
        send_and_close(b'HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{"mess'),
        Reply(201, NOT_AS_SHOWN),
        id="a cut body keeps its status",
    ),
    pytest.param(
        send_and_close(b"HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\noops"),
        Reply(400, ""),
        id="a broken chunk keeps its status",
    ),
    pytest.param(
        answer("400 Bad Request", b"not gzip at all", "Content-Encoding: gzip"),
        Reply(400, ""),
        id="a body in a broken encoding keeps its status",
    ),
]


@pytest.mark.parametrize(("script", "reply"), REPLIES)
def test_a_status_that_was_read_is_kept(transport: TransportChoice, script: Script, reply: Reply) -> None:
    """Even if the rest of the response is broken."""
    assert one(transport, script) == reply


LOST = "the connection ended before a response in HTTP"
NO_REPLIES = [
    pytest.param(reset, NoReply(LOST, may_have_arrived=True), id="reset after the request"),
    pytest.param(send_and_close(b""), NoReply(LOST, may_have_arrived=True), id="closed without an answer"),
    pytest.param(send_and_close(b"hello\r\n\r\n"), NoReply(LOST, may_have_arrived=True), id="not HTTP"),
    pytest.param(
        lambda peer: time.sleep(1),
        NoReply("no response within 0.3 s", may_have_arrived=True),
        id="silence after the request",
    ),
]


@pytest.mark.parametrize(("script", "no_reply"), NO_REPLIES)
def test_a_request_that_may_have_arrived_is_reported_as_such(
    transport: TransportChoice, script: Script, no_reply: NoReply
) -> None:
    """After bytes were sent, a failure is ambiguous."""
    with scripted(script) as server:
        found = submit(transport, server.base_url, limits=Limits(read=0.3))
    assert found == no_reply
    assert found.may_have_arrived


RECORDS = [
    pytest.param(
        b'{"id": 5, "email": "Ada@example.com"}',
        Reply(201, email="Ada@example.com", candidate_id=5),
        id="its e-mail and its ID are kept",
    ),
    pytest.param(
        b'{"id": 5, "email": "a\\u202e\\nb"}', Reply(201, email="a\\u202e b", candidate_id=5), id="as one line"
    ),
    pytest.param(b'{"id": 5, "score": "high"}', Reply(201, candidate_id=5), id="a field of another type"),
    pytest.param(b'{"email": "ada@example.com"}', Reply(201, NOT_AS_SHOWN, email="ada@example.com"), id="no id"),
    pytest.param(b'{"id": "5"}', Reply(201), id="an ID that is no integer"),
    pytest.param(b'{"id": true}', Reply(201), id="a boolean ID"),
    pytest.param(b'{"id": 9223372036854775808}', Reply(201), id="an ID that is too large"),
    pytest.param(b"[]", Reply(201, NOT_AS_SHOWN), id="no object"),
    pytest.param(b"[" * 100_000, Reply(201, NOT_AS_SHOWN), id="nothing but brackets"),
    pytest.param(b"", Reply(201, NOT_AS_SHOWN), id="nothing"),
]


@pytest.mark.parametrize(("body", "reply"), RECORDS)
def test_of_a_created_record_only_email_and_id_are_kept(transport: TransportChoice, body: bytes, reply: Reply) -> None:
    """They identify the candidate; a body in another form is reported."""
    with scripted(answer("201 Created", body)) as server:
        assert submit(transport, server.base_url, POOL) == reply


def test_an_incomplete_status_line_is_not_a_status(transport: TransportChoice) -> None:
    """It says nothing about the request."""
    found = one(transport, send_and_close(b"HTTP/1.1 2"))
    assert found == NoReply(LOST, may_have_arrived=True)


@pytest.fixture
def refused_port() -> Iterator[int]:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen: no other process can take the port meanwhile
        yield nobody.getsockname()[1]


def test_a_refused_connection_is_proven_not_arrived(transport: TransportChoice, refused_port: int) -> None:
    """Nothing can have arrived."""
    found = submit(transport, f"http://127.0.0.1:{refused_port}")
    assert found == NoReply("the connection was refused", may_have_arrived=False)
    assert not found.may_have_arrived


def test_an_unknown_name_is_proven_not_arrived(transport: TransportChoice) -> None:
    """Nothing can have arrived."""
    found = submit(transport, "http://nobody.invalid")
    assert found == NoReply("the host name of the service cannot be resolved", may_have_arrived=False)


def test_refused_tls_is_proven_not_arrived(transport: TransportChoice) -> None:
    """Nothing is sent after a failed handshake."""
    with scripted(answer("200 OK")) as server:
        found = submit(transport, server.base_url.replace("http://", "https://"), limits=Limits(connect=0.5))
    assert isinstance(found, NoReply)
    assert not found.may_have_arrived
    assert server.requests == []


@pytest.fixture
def full_backlog() -> Iterator[int]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    port = listener.getsockname()[1]
    waiting = []
    for _ in range(4):
        peer = socket.socket()
        peer.setblocking(False)
        peer.connect_ex(("127.0.0.1", port))
        waiting.append(peer)
    yield port
    for peer in [*waiting, listener]:
        peer.close()


def test_a_connect_time_out_is_proven_not_arrived(transport: TransportChoice, full_backlog: int) -> None:
    """Nothing can have arrived."""
    found = submit(transport, f"http://127.0.0.1:{full_backlog}", limits=Limits(connect=0.3))
    assert found == NoReply("no connection within 0.3 s", may_have_arrived=False)


DRIPS = [
    pytest.param(b"", b"HTTP/1.1 201 Created\r\n" * 50, None, id="in the head"),
    pytest.param(b"HTTP/1.1 201 Created\r\n\r\n", b" " * 1000, 201, id="in the body"),
]


@pytest.mark.parametrize(("head", "slow", "status"), DRIPS)
def test_a_slow_response_ends_at_the_deadline(
    transport: TransportChoice, head: bytes, slow: bytes, status: int | None
) -> None:
    """Single bytes never trigger a read timeout; the deadline for the whole response does."""
    gone, came_whole = threading.Event(), threading.Event()

    def script(peer: socket.socket) -> None:
        peer.sendall(head)
        drip(slow, 0.2, gone)(peer)  # takes minutes
        came_whole.set()

    with scripted(script) as server:
        found = submit(transport, server.base_url, limits=Limits(total=1.2))
        assert not came_whole.is_set()
        gone.set()
    assert getattr(found, "status", None) == status


def test_the_body_is_capped(transport: TransportChoice) -> None:
    """An endless body costs neither memory nor the status."""

    def endless(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        while True:
            peer.sendall(b"x" * 65536)

    found = one(transport, endless)
    assert isinstance(found, Reply)
    assert found.status == 400
    assert len(found.message) == 500


def test_connections_are_kept(transport: TransportChoice) -> None:
    """Several requests use one connection; a second one would be reset."""
    with scripted(CREATED, reset) as server:
        service = RecruitingService(server.base_url, "t", transport=transport)
        found = [service.send(JOB, b"{}") for _ in range(3)]
        service.close()
    assert found == [Reply(201)] * 3


def test_an_idle_connection_is_not_used_again(transport: TransportChoice) -> None:
    """After the idle limit a new connection is opened, since a reset on the old one would be ambiguous."""
    with scripted(CREATED, answer("409 Conflict")) as server:
        service = RecruitingService(server.base_url, "t", limits=Limits(idle=0.05), transport=transport)
        first = service.send(JOB, b"{}")
        time.sleep(0.1)
        second = service.send(JOB, b"{}")
        service.close()
    assert [first, second] == [Reply(201), Reply(409)]


def test_the_environment_changes_nothing(
    transport: TransportChoice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """~/.netrc and proxy variables affect neither the token nor the route."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login thief password stolen\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with scripted(answer("200 OK")) as proxy, scripted(CREATED) as server:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url)
            monkeypatch.setenv(name.upper(), proxy.base_url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        submit(transport, server.base_url)
    assert proxy.requests == []
    assert b"Authorization: Bearer secret-token\r\n" in server.requests[0]
