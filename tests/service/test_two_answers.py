"""Two responses to one request: the second never becomes the response to the next request."""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from importer.service import Limits
from importer.service.client import TransportChoice
from importer.service.transport import RawReply
from tests.patience import PATIENCE
from tests.service.scripted import Script, read_request, scripted
from tests.service.test_traps import certificate, opened, post

__all__ = ["certificate"]

CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
SECOND = b"HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\n{}"
REFUSED = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
PACKED = gzip.compress(b"{}") + b"junk"
HEAD = b"HTTP/1.1 201 Created\r\n"


def first(sent: threading.Event, *pieces: bytes) -> Script:
    """The first request is answered with these pieces, 20 ms between them, then `sent` is set; others with REFUSED."""
    waiting = [pieces]

    def script(peer: socket.socket) -> None:
        if not waiting:
            peer.sendall(REFUSED)
            return
        for number, piece in enumerate(waiting.pop()):
            time.sleep(0.02 if number else 0)
            peer.sendall(piece)
        sent.set()

    return script


TWO = [
    pytest.param((CREATED + SECOND,), id="in one packet"),
    pytest.param((CREATED, SECOND), id="20 ms later"),
    pytest.param((CREATED, SECOND, SECOND), id="three"),
    pytest.param((CREATED + b"\r\n",), id="a line too many"),
    pytest.param((CREATED + b"x" * 100_000,), id="more than is read at once"),
    pytest.param((CREATED + b"HTTP/1.1 100 Continue\r\n\r\n",), id="an interim answer after the answer"),
    pytest.param((b"HTTP/1.1 103 Early Hints\r\n\r\n" + CREATED + SECOND,), id="after an interim answer"),
    pytest.param((HEAD + b"Content-Length: 1\r\n\r\n{}",), id="a body longer than its length"),
    pytest.param((HEAD + b"Content-Length: 0\r\n\r\n" + SECOND,), id="after an answer without a body"),
    pytest.param((HEAD + b"Content-Length: 2\r\nContent-Length: 0\r\n\r\n{}" + SECOND,), id="two lengths"),
    pytest.param((CHUNKED + SECOND,), id="after chunks"),
    pytest.param((CHUNKED, SECOND), id="20 ms after chunks"),
    pytest.param((CHUNKED.replace(b"\r\n0\r\n", b"\r\nzz\r\n") + SECOND,), id="after broken chunks"),
    pytest.param((CREATED.replace(b"1.1", b"1.0") + SECOND,), id="HTTP/1.0"),
    pytest.param((CREATED.replace(b"\r\n", b"\r\nConnection: keep-alive\r\n", 1) + SECOND,), id="keep-alive"),
    pytest.param((CREATED.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + SECOND,), id="close"),
    pytest.param(
        (HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED) + PACKED + SECOND,),
        id="after what is left of a packed body",
    ),
]


@pytest.mark.parametrize("pieces", TWO)
def test_a_second_response_is_dropped(transport: TransportChoice, pieces: tuple[bytes, ...]) -> None:
    """If data has arrived before the next request, another connection is used."""
    sent = threading.Event()
    with scripted(first(sent, *pieces)) as server, opened(transport, Limits(read=2)) as opener:
        found = []
        for _ in range(3):
            found.append(opener.send(post(server.base_url)))
            assert sent.wait(PATIENCE)
    assert [answered.status for answered in found if isinstance(answered, RawReply)] == [201, 400, 400]


@contextlib.contextmanager
def behind_tls(certificate: Path) -> Iterator[str]:
    """A server that answers each request with REFUSED; yields its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))

    def talk(peer: socket.socket) -> None:
        with contextlib.suppress(OSError), context.wrap_socket(peer, server_side=True) as tls:
            while read_request(tls):
                tls.sendall(REFUSED)

    def listen() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def test_fast_responses_over_tls_are_kept(
    transport: TransportChoice, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A response that arrives before it is awaited belongs to its request."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        behind_tls(certificate) as base_url,
        opened(transport, connections=8) as opener,
        ThreadPoolExecutor(8) as threads,
    ):
        found = list(threads.map(opener.send, [post(base_url)] * 800))
    assert {getattr(answered, "status", answered) for answered in found} == {400}
