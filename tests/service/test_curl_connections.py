"""Waiting for many sockets: the same in both ways, of which each system has one."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator

import pytest

from importer.service.curl_connections import READ, WRITE, Sockets, _Polled, _Selected

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture(params=[_Polled, _Selected], ids=["poll", "select"])
def made(request: pytest.FixtureRequest) -> Sockets:
    make: Callable[[], Sockets] = request.param
    return make()


def test_what_has_come_is_told(made: Sockets, pair: Pair) -> None:
    """At once, and not before."""
    ours, theirs = pair
    made.watch(ours.fileno(), READ)
    assert made.wait(0.01) == []
    theirs.send(b"x")
    began = time.monotonic()
    assert made.wait(10) == [(ours.fileno(), READ)]
    assert time.monotonic() - began < 5


def test_only_what_is_awaited_is_told(made: Sockets, pair: Pair) -> None:
    """What was awaited last counts: there is room to write, and nothing to read."""
    ours, theirs = pair
    made.watch(ours.fileno(), READ | WRITE)
    assert made.wait(1) == [(ours.fileno(), WRITE)]
    theirs.send(b"x")
    assert made.wait(1) == [(ours.fileno(), READ | WRITE)]
    made.watch(ours.fileno(), WRITE)
    assert made.wait(1) == [(ours.fileno(), WRITE)]


def test_the_end_of_the_other_side_is_told(made: Sockets, pair: Pair) -> None:
    """As something to read: whoever reads meets the end."""
    ours, theirs = pair
    made.watch(ours.fileno(), READ)
    theirs.close()
    assert made.wait(1) == [(ours.fileno(), READ)]


def test_what_is_forgotten_is_not_waited_for(made: Sockets, pair: Pair) -> None:
    """And forgetting it twice is no matter."""
    ours, theirs = pair
    theirs.send(b"x")
    made.watch(ours.fileno(), READ)
    made.watch(theirs.fileno(), READ)
    made.forget(ours.fileno())
    made.forget(ours.fileno())
    assert made.wait(0) == []
    made.watch(ours.fileno(), READ)
    assert made.wait(0) == [(ours.fileno(), READ)]
