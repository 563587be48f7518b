"""Hidden behavior of HTTP libraries that a transport must prevent, tested on the wire."""

from __future__ import annotations

import contextlib
import gzip
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from importer.service import Limits, NoReply
from importer.service.client import TransportChoice, open_transport
from importer.service.transport import RawReply, Request, Transport
from tests.patience import PATIENCE, wait_until
from tests.service.scripted import Script, answer, read_request, reset, scripted, send_and_close

PATIENT = Limits()
HEADERS = {"Accept-Encoding": "identity"}
CREATED = answer("201 Created", b"{}")


@contextmanager
def opened(choice: TransportChoice, limits: Limits = PATIENT, connections: int = 2) -> Iterator[Transport]:
    transport = open_transport(limits, connections, choice)
    try:
        yield transport
    finally:
        transport.close()


def post(base_url: str, body: bytes = b"{}") -> Request:
    return Request("POST", f"{base_url}/x/", HEADERS, body)


def get(base_url: str) -> Request:
    return Request("GET", f"{base_url}/x/", HEADERS)


def in_turn(*scripts: Script) -> Script:
    """One script a request, on whichever connection it comes."""
    waiting = list(scripts)

    def script(peer: socket.socket) -> None:
        waiting.pop(0)(peer)

    return script


def close(peer: socket.socket) -> None:
    peer.shutdown(socket.SHUT_RDWR)


ENDS = [pytest.param(close, id="closed"), pytest.param(reset, id="reset")]
Kind = Callable[[str], Request]
KINDS = [pytest.param(post, id="POST"), pytest.param(get, id="GET")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", ENDS)
def test_a_request_on_a_kept_connection_that_dies_is_not_sent_again(
    transport: TransportChoice, end: Script, kind: Kind
) -> None:
    """A service that reads a request and closes gets only one copy of it."""
    with scripted(in_turn(CREATED, end, CREATED)) as server, opened(transport) as opener:
        assert isinstance(opener.send(post(server.base_url)), RawReply)
        lost = opener.send(kind(server.base_url))
        assert len(server.requests) == 2
        after = opener.send(post(server.base_url, b'{"next": 1}'))
    assert isinstance(lost, NoReply)
    assert lost.may_have_arrived
    assert lost.reason == "the connection ended before a response in HTTP"
    assert isinstance(after, RawReply)
    assert [request.endswith(b'{"next": 1}') for request in server.requests] == [False, False, True]


def test_a_kept_connection_that_dies_with_its_service_may_have_delivered(transport: TransportChoice) -> None:
    """Even if libcurl's second attempt cannot connect, the first request may have arrived."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with opened(transport) as opener:

        def serve() -> None:
            peer, _ = listener.accept()
            read_request(peer)
            peer.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")
            read_request(peer)
            listener.close()
            reset(peer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        assert isinstance(opener.send(post(url)), RawReply)
        lost = opener.send(post(url))
        thread.join(5)
    assert isinstance(lost, NoReply)
    assert lost.may_have_arrived
    assert lost.reason == "the connection ended before a response in HTTP"


def test_a_connection_that_was_closed_between_two_requests_is_replaced(transport: TransportChoice) -> None:
    """A connection that was closed while idle is detected before sending."""
    closed = threading.Event()

    def closing(peer: socket.socket) -> None:
        CREATED(peer)
        close(peer)
        closed.set()

    with scripted(closing, CREATED) as server, opened(transport) as opener:
        first = opener.send(post(server.base_url))
        assert closed.wait(PATIENCE)
        second = opener.send(post(server.base_url))
    assert isinstance(first, RawReply)
    assert isinstance(second, RawReply)
    assert len(server.requests) == 2


@pytest.mark.parametrize("broken", ENDS)
def test_a_broken_body_keeps_status_and_headers(transport: TransportChoice, broken: Script) -> None:
    """A 429 and its Retry-After are kept even if the connection breaks in the body."""

    def script(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 500\r\n\r\n{")
        time.sleep(1 if broken is reset else 0)  # until it is read: a reset takes away what is not
        broken(peer)

    with scripted(script) as server, opened(transport) as opener:
        found = opener.send(post(server.base_url))
    assert isinstance(found, RawReply)
    assert (found.status, found.headers["retry-after"], found.body, found.complete) == (429, "7", b"{", False)


def test_silence_in_the_body_keeps_the_status(transport: TransportChoice) -> None:
    """A response that stops in its body is still a response."""

    def script(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{")
        given_up.wait(PATIENCE)

    given_up = threading.Event()
    with scripted(script) as server, opened(transport, Limits(read=0.5)) as opener:
        began = time.monotonic()
        found = opener.send(post(server.base_url))
        assert time.monotonic() - began > 0.4
        given_up.set()
    assert found == RawReply(201, {}, b"{", False)


def test_headers_that_break_off_keep_the_status(transport: TransportChoice) -> None:
    """The status line alone is enough."""
    with scripted(send_and_close(b"HTTP/1.1 201 Created\r\nContent-Le")) as server, opened(transport) as opener:
        found = opener.send(post(server.base_url))
    assert isinstance(found, RawReply)
    assert found.status == 201


def test_headers_that_are_none_keep_the_status(transport: TransportChoice) -> None:
    """Neither a name with a blank nor a length that no body has ends the run."""
    broken = b"HTTP/1.1 201 Created\r\nA name: x\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n{}"
    with scripted(send_and_close(broken)) as server, opened(transport) as opener:
        found = opener.send(post(server.base_url))
    assert isinstance(found, RawReply if transport == "requests" else RawReply | NoReply)


@pytest.mark.parametrize("status", ["100 Continue", "102 Processing", "103 Early Hints", "199 Unknown"])
def test_an_interim_answer_is_not_the_answer(transport: TransportChoice, status: str) -> None:
    """After 100 Continue the final status follows; without it there is none."""
    interim = f"HTTP/1.1 {status}\r\nX-Interim: 1\r\n\r\n".encode()
    whole = interim + b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"
    with scripted(lambda peer: peer.sendall(whole), send_and_close(interim)) as server, opened(transport) as opener:
        found = opener.send(post(server.base_url))
        assert found == RawReply(409, {}, b"", True)
    with scripted(send_and_close(interim)) as server, opened(transport) as opener:
        lost = opener.send(post(server.base_url))
    assert isinstance(lost, NoReply)
    assert lost.may_have_arrived


@pytest.mark.parametrize("status", ["100 Continue", "102 Processing", "103 Early Hints"])
def test_after_an_interim_answer_each_request_gets_its_own(transport: TransportChoice, status: str) -> None:
    """The final response follows the interim one on the same connection, for the same request."""

    def script(peer: socket.socket) -> None:
        peer.sendall(f"HTTP/1.1 {status}\r\nLink: </a>\r\n\r\n".encode())
        time.sleep(0.1)
        peer.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        read_request(peer)
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    with scripted(script) as server, opened(transport) as opener:
        statuses = [found.status for _ in range(2) if isinstance(found := opener.send(post(server.base_url)), RawReply)]
    assert statuses == [201, 400]


def test_another_protocol_is_not_a_response(transport: TransportChoice) -> None:
    """After 101 the data is not HTTP, so the result of the request is unknown."""
    switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
    with scripted(send_and_close(switching + b"HTTP/1.1 201 Created\r\n\r\n")) as server, opened(transport) as opener:
        found = opener.send(post(server.base_url))
    assert isinstance(found, NoReply)
    assert found.may_have_arrived


def test_the_last_header_of_a_name_counts_and_a_trailer_does_not(transport: TransportChoice) -> None:
    """Headers are those before the body; their names are in lower case, and others are left out."""
    raw = (
        b"HTTP/1.1 200 OK\r\nX-Part: a\r\nCONTENT-TYPE: text/html\r\ncontent-type: text/plain\r\n"
        b"Transfer-Encoding: chunked\r\nTrailer: Content-Type\r\n\r\n"
        b"2\r\n{}\r\n0\r\nContent-Type: text/late\r\n\r\n"
    )
    with scripted(lambda peer: peer.sendall(raw)) as server, opened(transport) as opener:
        found = opener.send(get(server.base_url))
    assert isinstance(found, RawReply)
    assert (found.headers, found.body, found.complete) == ({"content-type": "text/plain"}, b"{}", True)


@pytest.mark.parametrize("name", ["Location", "Content-Type", "Retry-After", "X-Other", "Connection", "\xfc"])
def test_any_bytes_in_a_header_keep_the_status(transport: TransportChoice, name: str) -> None:
    """A header may contain invalid UTF-8 or binary data."""
    # A name that is not ASCII hides the headers behind it from requests, which then waits for more of the body.
    values = (b"https://elsewhere.example.com/\xff\xfe", b"\xe9t\xe9; \x01\x7f\x80", bytes(range(128, 256)), b"")
    for value in values[: 1 if name == "\xfc" else None]:
        raw = b"HTTP/1.1 302 Found\r\n%b: %b\r\nContent-Length: 0\r\n\r\n" % (name.encode("latin-1"), value)
        with scripted(lambda peer, raw=raw: peer.sendall(raw)) as server, opened(transport) as opener:  # type: ignore[misc]
            found = opener.send(post(server.base_url))
        assert isinstance(found, RawReply)
        assert found.status == 302
        assert all(text.isascii() or "\ufffd" in text for text in found.headers.values())


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"Retry-After:\r\n 7\r\nContent-Length: 2\r\n", id="a value on the next line"),
        pytest.param(b"no header\r\nRetry-After: 7\r\nContent-Length: 2\r\n", id="a line that is no header"),
        pytest.param(b"Content-Length : 9\r\nContent-Length: 2\r\n", id="a space before the colon"),
        pytest.param(b"Content-Length: -1\r\nConnection: close\r\n", id="a length that is no number"),
        pytest.param(b"Content-Length: 2\r\nContent-Length: 0\r\n", id="two lengths"),
    ],
)
def test_a_malformed_head_keeps_status_and_body(head: bytes) -> None:
    """requests: the body ends where the headers say, with the connection, or after a wait."""

    def reply(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 409 Conflict\r\n" + head + b"\r\n{}")
        if b"close" in head:
            peer.shutdown(socket.SHUT_WR)

    with scripted(reply) as server, opened("requests", Limits(read=0.3)) as opener:
        found = [opener.send(post(server.base_url)) for _ in range(2)]
    assert [(one.status, one.body) for one in found if isinstance(one, RawReply)] == [(409, b"{}")] * 2


def test_an_unrequested_encoding_is_decoded(transport: TransportChoice) -> None:
    """A gateway may compress responses although our headers do not request it."""
    packed = gzip.compress(b'{"detail": "no"}')
    with scripted(answer("400 Bad Request", packed, "Content-Encoding: gzip")) as server, opened(transport) as opener:
        found = opener.send(post(server.base_url))
    assert isinstance(found, RawReply)
    assert found.body == b'{"detail": "no"}'
    asked = [line for line in server.requests[0].split(b"\r\n") if line.lower().startswith(b"accept-encoding")]
    assert asked == [b"Accept-Encoding: identity"]


def test_a_large_body_is_sent_without_expect(transport: TransportChoice) -> None:
    """There is no `Expect: 100-continue`, and the whole body arrives."""
    body = b"x" * 3_000_000
    with scripted(CREATED) as server, opened(transport) as opener:
        found = opener.send(post(server.base_url, body))
    assert isinstance(found, RawReply)
    head, _, arrived = server.requests[0].partition(b"\r\n\r\n")
    assert b"expect:" not in head.lower()
    assert arrived == body


def test_a_get_after_a_post_has_no_body(transport: TransportChoice) -> None:
    """Both use one connection and do not affect each other."""
    with scripted(CREATED) as server, opened(transport) as opener:
        for request in (post(server.base_url), get(server.base_url), post(server.base_url, b"")):
            assert isinstance(opener.send(request), RawReply)
    first_lines = [request.split(b"\r\n")[0] for request in server.requests]
    assert first_lines == [b"POST /x/ HTTP/1.1", b"GET /x/ HTTP/1.1", b"POST /x/ HTTP/1.1"]
    assert b"content-length" not in server.requests[1].lower()
    assert [request.partition(b"\r\n\r\n")[2] for request in server.requests] == [b"{}", b"", b""]


def test_a_service_that_does_not_read_has_no_proof_of_arrival(transport: TransportChoice) -> None:
    """A body that was not sent completely may have arrived in part."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        opened(transport, Limits(connect=2, read=0.5, total=1)) as opener,
    ):
        found = opener.send(post(f"http://127.0.0.1:{listener.getsockname()[1]}", b"x" * 30_000_000))
    assert isinstance(found, NoReply)
    assert found.may_have_arrived


def test_more_threads_than_connections_are_served(transport: TransportChoice) -> None:
    """The number of connections limits those that are kept, not those that are opened."""
    with scripted(CREATED) as server, opened(transport, connections=1) as opener, ThreadPoolExecutor(8) as threads:
        found = list(threads.map(opener.send, [post(server.base_url)] * 64))
    assert {reply.status for reply in found if isinstance(reply, RawReply)} == {201}
    assert len(server.requests) == len(found) == 64


def test_a_signal_does_not_end_a_request(transport: TransportChoice) -> None:
    """After Ctrl-C the response is still read before the run ends."""
    seen: list[int] = []

    def script(peer: socket.socket) -> None:
        for number in range(3):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            wait_until(lambda: len(seen) > number)  # noqa: B023 - called at once
        CREATED(peer)

    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    try:
        with scripted(script) as server, opened(transport) as opener:
            found = opener.send(post(server.base_url))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert isinstance(found, RawReply)
    assert found.status == 201
    assert len(seen) == 3


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1, with its key next to it as `.key`."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    made = tmp_path / "made.pem"
    asked = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=nobody -addext subjectAltName=IP:127.0.0.1"
    key = str(made.with_suffix(".key"))
    subprocess.run([*asked.split(), "-keyout", key, "-out", str(made)], check=True, capture_output=True)
    return made


@contextmanager
def scripted_behind_tls(certificate: Path) -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server that answers 201 to each request, two connections at most; and what it was sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    heard: list[bytes] = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            for _ in range(2):
                peer, _ = listener.accept()
                with contextlib.suppress(OSError), context.wrap_socket(peer, server_side=True) as tls:
                    while request := read_request(tls):
                        heard.append(request)
                        tls.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], heard


def test_an_untrusted_certificate_is_refused(transport: TransportChoice, certificate: Path) -> None:
    """The token is not sent to a server that cannot prove its identity."""
    with scripted_behind_tls(certificate) as (port, heard), opened(transport) as opener:
        found = opener.send(post(f"https://127.0.0.1:{port}"))
    assert found == NoReply("the TLS handshake failed or the certificate is not valid", may_have_arrived=False)
    assert heard == []


def test_a_certificate_for_another_name_is_refused(
    transport: TransportChoice, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it was just trusted under its own name."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with scripted_behind_tls(certificate) as (port, heard):
        with opened(transport) as opener:
            first = opener.send(post(f"https://127.0.0.1:{port}"))
            second = opener.send(post(f"https://127.0.0.1:{port}"))
            assert len(heard) == 2
        with opened(transport) as opener:
            other = opener.send(post(f"https://localhost:{port}"))
    assert first == second == RawReply(201, {}, b"{}", True)
    assert other == NoReply("the TLS handshake failed or the certificate is not valid", may_have_arrived=False)
    assert len(heard) == 2


def test_tls_that_breaks_before_the_answer_may_have_delivered(
    transport: TransportChoice, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the class of a refused certificate, but the service has read the request."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    heard: list[bytes] = []

    def serve() -> None:
        peer, _ = listener.accept()
        tls = context.wrap_socket(peer, server_side=True)
        heard.append(read_request(tls))
        with socket.socket(fileno=tls.detach()) as raw:
            raw.sendall(b"this is no TLS record at all, and there is no answer")

    with socket.create_server(("127.0.0.1", 0)) as listener, opened(transport) as opener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        found = opener.send(post(f"https://127.0.0.1:{listener.getsockname()[1]}", b'{"a": 1}'))
        thread.join(PATIENCE)
    assert heard[0].endswith(b'{"a": 1}')
    assert isinstance(found, NoReply)
    assert found.may_have_arrived


def test_headers_do_not_carry_over_to_the_next_response(transport: TransportChoice) -> None:
    """On a kept connection, each response has only its own headers."""

    def script(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n")
        read_request(peer)
        peer.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")

    with scripted(script) as server, opened(transport) as opener:
        first = opener.send(post(server.base_url))
        second = opener.send(post(server.base_url))
    assert isinstance(first, RawReply)
    assert first.headers == {"retry-after": "7", "content-type": "text/plain"}
    assert second == RawReply(201, {}, b"{}", True)
