"""The connections that libcurl keeps: which of them may carry one more request."""

from __future__ import annotations

import selectors
import socket
import sys
import time
from typing import Final

from importer.service.transport_api import Limits

ConnectionKey = tuple[str, int, str, int]
"""How libcurl names a connection: by its two addresses, the service's, then ours, each with its port."""

NONE: Final = -1  # how libcurl says that there is no socket, or that it has nothing to wait for
_RECEIVED_AT: Final = 128  # where Linux counts what has come on a connection, in struct tcp_info


def new_selector() -> selectors.BaseSelector:
    """One that is changed without a call to the system, as it is twice for each request; Windows has no other."""
    return selectors.PollSelector() if sys.platform != "win32" else selectors.SelectSelector()


class KeptConnections:
    """Which connections wait for a request, by their addresses, and whether they may be used for one.

    One that has idled past the service's patience, or on which something has come, is not: a reset on it would be
    ambiguous, and what has come may be a second answer to the request before, which would be taken for the answer to
    the next one. libcurl would look only where a connection has waited for a second.

    Where a connection is encrypted, a second answer may lie in the TLS library already, where we cannot look. Then the
    next request is "answered" though nothing came after it had left.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[ConnectionKey, tuple[int, float]] = {}  # the socket's number, and since when
        self._busy: set[ConnectionKey] = set()
        self._taken: dict[ConnectionKey, tuple[int, int]] = {}  # encrypted: the socket, and bytes until then
        self._active: set[int] = set()  # of their sockets those on which something came since

    def keep(self, key: ConnectionKey | None, number: int, *, may_be_used: bool) -> None:
        """The request that was on it is over. `number`: its socket's; there is none where it was closed."""
        if key is None:
            return
        self._busy.discard(key)
        if number != NONE:
            self._waiting[key] = (number, time.monotonic() if may_be_used else float("-inf"))

    def take(self, key: ConnectionKey, *, is_encrypted: bool) -> bool:
        """Whether the connection may be used: one that was not kept is new."""
        if key in self._busy:  # the request that was on it is done, and libcurl has not told us yet
            return False
        self._busy.add(key)
        waiting = self._waiting.pop(key, None)
        if waiting is None:
            return True
        number, since = waiting
        if time.monotonic() - since >= self._limits.idle or _has_something_to_read(number):
            self._busy.discard(key)
            return False
        if is_encrypted and sys.platform == "linux":
            self._taken[key] = (number, _bytes_received(number))
            self._active.discard(number)
        return True

    def note_activity(self, number: int) -> None:
        """Something has come on that socket."""
        self._active.add(number)

    def answer_came_before(self, key: ConnectionKey | None) -> bool:
        """Whether what was read on an encrypted connection since it was taken had come before that.

        A quick answer may be read without a wait, too, but then the count of bytes has grown and none are left.
        """
        number, before = self._taken.pop(key, (NONE, 0)) if key is not None else (NONE, 0)
        if number == NONE or number in self._active:
            return False
        return _bytes_received(number) <= before or _has_something_to_read(number)


def _has_something_to_read(number: int) -> bool:
    """Nothing is to come on a connection that waits for a request: what does is its end."""
    with new_selector() as look:
        try:
            look.register(number, selectors.EVENT_READ)
            return bool(look.select(0))
        except (OSError, ValueError):
            return True


def _bytes_received(number: int) -> int:
    """By the system's count, on that socket; 0 where it does not count."""
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=number)
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED_AT + 8)
    except OSError:  # libcurl has closed it
        return 0
    finally:
        connection.detach()
    return int.from_bytes(info[_RECEIVED_AT:], sys.byteorder)
