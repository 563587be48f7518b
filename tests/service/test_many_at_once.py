"""Many requests at the same time: none waits for another, none is lost, and a bug of ours is not swallowed."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

from importer.service import Limits, NoReply
from importer.service.client import TransportChoice, open_transport
from importer.service.curl_request import CurlHandle
from importer.service.curl_transport import CurlTransport
from importer.service.requests_transport import RequestsTransport
from importer.service.transport_api import Phase, RawReply, Request, Transport
from tests.patience import PATIENCE, wait_until
from tests.service.scripted import Script, answer, drip, reset, scripted

CREATED = answer("201 Created", b"{}")
ANSWERED = RawReply(201, {}, b"{}", True)

Found = SimpleQueue[RawReply | NoReply | BaseException]


@pytest.fixture(params=["requests", "curl"])
def transport(request: pytest.FixtureRequest) -> Iterator[Transport]:
    choice: TransportChoice = request.param
    made = open_transport(Limits(), 8, choice)
    yield made
    made.close()


@pytest.fixture
def curl() -> Iterator[CurlTransport]:
    made = CurlTransport(Limits(), connections=8)
    yield made
    made.close()


def post(base_url: str, body: bytes = b"{}") -> Request:
    return Request("POST", f"{base_url}/x/", {}, body)


def met(many: int) -> Script:
    """Answers when as many requests as that are there at the same time."""
    barrier = threading.Barrier(many)

    def script(peer: socket.socket) -> None:
        barrier.wait(PATIENCE)
        CREATED(peer)

    return script


def test_they_are_under_way_at_the_same_time(transport: Transport) -> None:
    """Each of eight is answered only when all are there."""
    found: Found = SimpleQueue()
    with scripted(met(8)) as server:
        for _ in range(8):
            transport.start(post(server.base_url), found.put)
        answers = [found.get(timeout=PATIENCE) for _ in range(8)]
    assert answers == [ANSWERED] * 8


def test_one_that_is_answered_begins_the_next(transport: Transport) -> None:
    """Over kept connections, from the thread that reports responses, without another wakeup."""
    found: Found = SimpleQueue()
    left = [200]

    def on_done(answer: RawReply | NoReply | BaseException) -> None:
        found.put(answer)
        if left[0]:
            left[0] -= 1
            transport.start(post(server.base_url), on_done)

    with scripted(CREATED) as server:
        for _ in range(4):
            transport.start(post(server.base_url), on_done)
        answers = [found.get(timeout=PATIENCE) for _ in range(204)]
    assert answers == [ANSWERED] * 204
    assert len(server.requests) == 204


def test_many_threads_may_ask(transport: Transport) -> None:
    """None of what they ask for is lost, while the thread that sends rests and wakes."""
    found: Found = SimpleQueue()

    def ask() -> None:
        for _ in range(50):
            transport.start(post(server.base_url), found.put)
            time.sleep(0.0005)

    with scripted(CREATED) as server:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        answers = [found.get(timeout=PATIENCE) for _ in range(200)]
        for thread in threads:
            thread.join()
    assert answers == [ANSWERED] * 200


def test_one_that_gets_no_answer_holds_up_nobody(transport: Transport) -> None:
    """Others are answered while it waits."""
    silent: Found = SimpleQueue()
    found: Found = SimpleQueue()
    others_are_done = threading.Event()

    def wait(peer: socket.socket) -> None:
        others_are_done.wait(PATIENCE)
        CREATED(peer)

    with scripted(wait, CREATED) as server:
        transport.start(post(server.base_url), silent.put)
        wait_until(lambda: server.requests)
        for _ in range(20):
            transport.start(post(server.base_url), found.put)
            assert found.get(timeout=PATIENCE) == ANSWERED
        assert silent.empty()
        others_are_done.set()
        assert silent.get(timeout=PATIENCE) == ANSWERED


@pytest.mark.parametrize("choice", ["requests", "curl"])
def test_one_that_gets_no_answer_ends_while_others_are_answered(choice: TransportChoice) -> None:
    """It ends at its own limit, with the correct result, however much else there is to do."""
    silent: Found = SimpleQueue()
    found: Found = SimpleQueue()
    over = threading.Event()
    made = open_transport(Limits(read=1), 8, choice)
    with scripted(lambda peer: over.wait(PATIENCE), CREATED) as server:
        made.start(post(server.base_url), silent.put)
        wait_until(lambda: server.requests)
        deadline = time.monotonic() + PATIENCE
        while silent.empty() and time.monotonic() < deadline:
            made.start(post(server.base_url), found.put)
            found.get(timeout=PATIENCE)
        lost = silent.get(timeout=0)
        over.set()
    made.close()
    assert lost == NoReply("no response within 1 s", Phase.WAITING)


def test_a_connection_that_died_at_rest_costs_no_request(transport: Transport) -> None:
    """Of all that are kept none is used that has ended meanwhile, however many of them there are."""
    found: Found = SimpleQueue()
    together, are_read, are_gone = threading.Barrier(6), threading.Event(), threading.Semaphore(0)

    def answer_and_go(peer: socket.socket) -> None:
        together.wait(PATIENCE)
        CREATED(peer)
        are_read.wait(PATIENCE)
        reset(peer)
        are_gone.release()

    with scripted(*[answer_and_go] * 6, CREATED) as server:
        for _ in range(6):
            transport.start(post(server.base_url), found.put)
        assert [found.get(timeout=PATIENCE) for _ in range(6)] == [ANSWERED] * 6
        are_read.set()
        assert all(are_gone.acquire(timeout=PATIENCE) for _ in range(6))
        for _ in range(6):
            transport.start(post(server.base_url), found.put)
        after = [found.get(timeout=PATIENCE) for _ in range(6)]
    assert after == [ANSWERED] * 6
    assert len(server.requests) == 12


def test_a_bug_of_ours_is_reported_to_all_who_wait(curl: CurlTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for an answer that will not be read hears of it, and so does who asks afterwards."""
    found: Found = SimpleQueue()
    bug = RuntimeError("ours")

    def broken(self: CurlHandle, error: int) -> RawReply | NoReply:
        raise bug

    with scripted(met(2)) as server:
        curl.start(post(server.base_url), found.put)
        monkeypatch.setattr(CurlHandle, "outcome", broken)
        curl.start(post(server.base_url), found.put)
        assert found.get(timeout=PATIENCE) is bug
        assert found.get(timeout=PATIENCE) is bug
        with pytest.raises(RuntimeError, match="ended with an error"):
            curl.start(post(server.base_url), found.put)


def test_a_request_that_cannot_be_made_is_reported_and_delays_nobody(curl: CurlTransport) -> None:
    """An invalid address is a bug of ours; other requests are not affected."""
    found: Found = SimpleQueue()
    with scripted(CREATED) as server:
        curl.start(post("http://127.0.0.1/\u0130"), found.put)
        assert isinstance(found.get(timeout=PATIENCE), UnicodeError)
        curl.start(post(server.base_url), found.put)
        assert found.get(timeout=PATIENCE) == ANSWERED


@pytest.mark.parametrize("choice", ["requests", "curl"])
def test_one_that_begins_when_another_is_given_up_has_its_own_limit(choice: TransportChoice) -> None:
    """Each request to a silent service ends at its own limit."""
    found: Found = SimpleQueue()
    over = threading.Event()
    made = open_transport(Limits(read=0.5), 8, choice)

    def on_done(answer: RawReply | NoReply | BaseException) -> None:
        made.start(post(server.base_url), found.put)
        found.put(answer)

    with scripted(lambda peer: over.wait(PATIENCE)) as server:
        made.start(post(server.base_url), on_done)
        answers = [found.get(timeout=PATIENCE) for _ in range(2)]
        over.set()
    made.close()
    assert [type(answer) for answer in answers] == [NoReply, NoReply]


@pytest.mark.parametrize("choice", ["requests", "curl"])
def test_an_answer_that_keeps_coming_is_waited_for(choice: TransportChoice) -> None:
    """The read timeout counts from the last piece, also on a reused connection."""
    found: Found = SimpleQueue()
    gone = threading.Event()
    made = open_transport(Limits(read=1), 8, choice)

    def slowly(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\n")
        drip(b"true", 0.35, gone)(peer)

    with scripted(slowly) as server:
        for _ in range(2):
            made.start(post(server.base_url), found.put)
            assert found.get(timeout=PATIENCE) == RawReply(201, {}, b"true", True)
    made.close()


@pytest.mark.parametrize("choice", ["requests", "curl"])
def test_closing_does_not_wait(choice: TransportChoice) -> None:
    """Closing drops active requests, so that an interrupted command ends at once."""
    made = open_transport(Limits(), 2, choice)
    over = threading.Event()
    with scripted(lambda peer: over.wait(PATIENCE)) as server:
        made.start(post(server.base_url), lambda answer: None)
        wait_until(lambda: server.requests)
        began = time.monotonic()
        made.close()
        assert time.monotonic() - began < Limits().read / 2
        over.set()


# --- over requests: a thread for each request under way ---


def senders() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("sender ")]


@pytest.mark.parametrize(("requests", "threads"), [(1, 1), (3, 3), (9, 4)])
def test_as_many_threads_as_are_needed(requests: int, threads: int) -> None:
    """Up to the number of connections; every request gets its answer, and closing leaves no thread behind."""
    found: Found = SimpleQueue()
    made = RequestsTransport(Limits(), 4)
    all_are_asked = threading.Event()

    def wait(peer: socket.socket) -> None:
        all_are_asked.wait(PATIENCE)
        CREATED(peer)

    with scripted(wait) as server:
        for _ in range(requests):
            made.start(post(server.base_url), found.put)
        began = senders()
        all_are_asked.set()
        answers = [found.get(timeout=PATIENCE) for _ in range(requests)]
        made.close()
        for thread in began:
            thread.join(PATIENCE)
    assert len(began) == threads
    assert answers == [ANSWERED] * requests
    assert senders() == []


def test_a_bug_is_reported_and_ends_no_thread() -> None:
    """The caller raises it; the next request works."""
    found: Found = SimpleQueue()
    made = RequestsTransport(Limits(), 1)
    with scripted(CREATED) as server:
        made.start(post(server.base_url)._replace(headers={"X": object()}), found.put)  # type: ignore[dict-item]
        made.start(post(server.base_url), found.put)
        bug, answer = found.get(timeout=PATIENCE), found.get(timeout=PATIENCE)
        made.close()
    assert isinstance(bug, TypeError)
    assert answer == ANSWERED
