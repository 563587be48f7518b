"""A socket whose time-outs the kernel keeps does what one does whose time-outs Python keeps."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator

import pytest

from importer.service.timed_socket import TimedSocket, timed_by_kernel

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere the socket stays what it is")


@pytest.fixture
def ends() -> Iterator[tuple[TimedSocket, socket.socket]]:
    one, other = socket.socketpair()
    one.settimeout(0.2)
    timed = timed_by_kernel(one)
    assert isinstance(timed, TimedSocket)
    with timed, other:
        yield timed, other


def test_it_takes_over_the_connection_and_its_time_out(ends: tuple[TimedSocket, socket.socket]) -> None:
    """What is sent and received goes over the connection that was there."""
    timed, other = ends
    assert timed.gettimeout() == 0.2
    timed.sendall(b"ping")
    other.sendall(b"pong")
    buffer = bytearray(4)
    assert (other.recv(4), timed.recv_into(buffer), bytes(buffer)) == (b"ping", 4, b"pong")


def test_receiving_waits_no_longer_than_it_may(ends: tuple[TimedSocket, socket.socket]) -> None:
    """Also when the time-out was changed meanwhile."""
    timed, _ = ends
    for seconds in (0.2, 0.05):
        timed.settimeout(seconds)
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            timed.recv_into(bytearray(4))
        assert seconds * 0.8 <= time.monotonic() - began < seconds + 1


def test_sending_waits_no_longer_than_it_may(ends: tuple[TimedSocket, socket.socket]) -> None:
    """Where nobody takes what is sent, it ends as well."""
    timed, _ = ends
    with pytest.raises(TimeoutError):
        timed.sendall(bytes(50_000_000))


def test_no_time_out_waits_for_what_comes(ends: tuple[TimedSocket, socket.socket]) -> None:
    """None takes a time-out away again."""
    timed, other = ends
    with pytest.raises(TimeoutError):
        timed.recv_into(bytearray(1))
    timed.settimeout(None)
    other.sendall(b"x")
    assert timed.recv_into(bytearray(1)) == 1
