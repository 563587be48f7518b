"""Many requests at the same time, one for each thread: none waits for another, and none is lost."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from importer.service import Limits, NoReply
from importer.service.client import TransportChoice, open_transport
from importer.service.transport import RawReply, Request, Transport
from tests.patience import PATIENCE, wait_until
from tests.service.scripted import Script, answer, drip, reset, scripted

CREATED = answer("201 Created", b"{}")
ANSWERED = RawReply(201, {}, b"{}", True)


@pytest.fixture(params=["requests", "curl"])
def transport(request: pytest.FixtureRequest) -> Iterator[Transport]:
    choice: TransportChoice = request.param
    made = open_transport(Limits(read=1), 8, choice)
    yield made
    made.close()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as made:
        yield made


def post(base_url: str, body: bytes = b"{}") -> Request:
    return Request("POST", f"{base_url}/x/", {}, body)


def met(many: int) -> Script:
    """Answers when as many requests as that are there at the same time."""
    barrier = threading.Barrier(many)

    def script(peer: socket.socket) -> None:
        barrier.wait(PATIENCE)
        CREATED(peer)

    return script


def test_they_are_under_way_at_the_same_time(transport: Transport, threads: ThreadPoolExecutor) -> None:
    """Each of eight is answered only when all are there; each connection is kept."""
    with scripted(met(8)) as server:
        found = list(threads.map(transport.send, [post(server.base_url)] * 80))
    assert found == [ANSWERED] * 80
    assert server.connections == 8


def test_one_that_gets_no_answer_ends_while_others_are_answered(
    transport: Transport, threads: ThreadPoolExecutor
) -> None:
    """It ends at its own limit, with the correct result, however much else there is to do."""
    over = threading.Event()
    with scripted(lambda peer: over.wait(PATIENCE), CREATED) as server:
        silent = threads.submit(transport.send, post(server.base_url))
        wait_until(lambda: server.requests)
        while not silent.done():
            assert threads.submit(transport.send, post(server.base_url)).result(PATIENCE) == ANSWERED
        over.set()
    assert silent.result() == NoReply("no response within 1 s", may_have_arrived=True)


def test_a_connection_that_died_at_rest_costs_no_request(transport: Transport, threads: ThreadPoolExecutor) -> None:
    """Of all that are kept none is used that has ended meanwhile, however many of them there are."""
    together, are_read, are_gone = threading.Barrier(6), threading.Event(), threading.Semaphore(0)

    def answer_and_go(peer: socket.socket) -> None:
        together.wait(PATIENCE)
        CREATED(peer)
        are_read.wait(PATIENCE)
        reset(peer)
        are_gone.release()

    with scripted(*[answer_and_go] * 6, CREATED) as server:
        assert list(threads.map(transport.send, [post(server.base_url)] * 6)) == [ANSWERED] * 6
        are_read.set()
        assert all(are_gone.acquire(timeout=PATIENCE) for _ in range(6))
        assert list(threads.map(transport.send, [post(server.base_url)] * 6)) == [ANSWERED] * 6
    assert len(server.requests) == 12


def test_an_answer_that_keeps_coming_is_waited_for(transport: Transport) -> None:
    """The read timeout counts from the last piece, also on a reused connection."""

    def slowly(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\n")
        drip(b"true", 0.35, threading.Event())(peer)

    with scripted(slowly) as server:
        assert [transport.send(post(server.base_url)) for _ in range(2)] == [RawReply(201, {}, b"true", True)] * 2
