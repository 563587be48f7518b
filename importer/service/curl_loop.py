"""Many requests at a time on one thread: libcurl is told which sockets are ready, and tells which requests are done.

A thread for each request would cost three times as much: each time that it wakes it waits until the others let it in.
"""

from __future__ import annotations

import socket
import sys
import time
from collections import deque
from typing import Final

import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service import reasons
from importer.service.curl_call import CurlHandle, Ends
from importer.service.replies import NoReply, Phase, RawReply
from importer.service.sockets import READ, WRITE, sockets
from importer.service.wire import Limits, Then, WireRequest

_NONE: Final = -1  # how libcurl says that there is no socket, or that it has nothing to wait for
_LONGEST_WAIT: Final = 1.0  # seconds
_MOMENT: Final = 0.002


class CurlLoop:
    """Requests under way, and the connections that are kept for the next ones. For one thread.

    connections: how many are kept open. bell: a socket that ends a waiting when something comes on it.
    """

    def __init__(self, limits: Limits, connections: int, bell: socket.socket | None = None) -> None:
        self._limits = limits
        self._free: list[CurlHandle] = []
        self._to_begin: deque[tuple[CurlHandle, Then]] = deque()
        self._under_way: dict[pycurl.Curl, tuple[CurlHandle, Then]] = {}
        self._kept = _KeptConnections(limits)
        self._heard: dict[int, float] = {}  # when something last came on a socket
        self._sockets = sockets()
        self._bell = bell
        self._bell_number = bell.fileno() if bell is not None else _NONE
        if bell is not None:
            self._sockets.watch(self._bell_number, READ)
        self._libcurl_is_due: float | None = None
        self._looks_for_overdue_at = float("inf")
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    def begin(self, request: WireRequest, body_limit: int, then: Then) -> None:
        """Have a request sent; `then` is called by a later `wait` or `go_on`, and may begin another one.

        Where the request cannot be made, a bug of ours, it is told at once.
        """
        try:
            handle = self._free.pop() if self._free else CurlHandle(self._limits, self._kept.take)
            handle.prepare(request, body_limit)
        except BaseException as bug:  # noqa: BLE001 - told to whoever waits for the answer
            then(bug)
            return
        self._to_begin.append((handle, then))

    def wait(self, longest: float = _LONGEST_WAIT) -> list[tuple[int, int]]:
        """What can be read or sent on now; waits for it for so many seconds, or until the bell rings."""
        if self._take_turns():  # a request that was begun may be done at once
            longest = 0.0
        longest = min(longest, self._until_something_is_due())
        if self._sockets:
            return self._sockets.wait(longest)
        time.sleep(min(longest, _MOMENT))  # there is no socket yet, and without one Windows does not wait
        return []

    def go_on(self, ready: list[tuple[int, int]]) -> None:
        """Do what can be done, after a `wait`."""
        now = time.monotonic()
        for number, came in ready:
            if self._bell is not None and number == self._bell_number:
                self._bell.recv(4096)
                continue
            self._heard[number] = now
            if came & READ:
                self._kept.hear(number)
            self._multi.socket_action(number, _CAME[came])
            self._take_turns()
        self._do_what_is_due()
        self._take_turns()
        if self._looks_for_overdue_at <= now:
            self._end_those_overdue(now)

    def give_up(self, bug: BaseException) -> None:
        """Tell everybody who waits for an answer of a bug of ours: what became of their requests is not known."""
        thens = [then for _, then in (*self._under_way.values(), *self._to_begin)]
        self._under_way.clear()
        self._to_begin.clear()
        for then in thens:
            then(bug)

    def close(self) -> None:
        """Forget what is under way, and close every connection."""
        for curl, (handle, _) in self._under_way.items():
            self._multi.remove_handle(curl)
            handle.close()
        self._under_way.clear()
        while self._to_begin:
            self._to_begin.popleft()[0].close()
        while self._free:
            self._free.pop().close()
        self._multi.close()

    def _until_something_is_due(self) -> float:
        """Seconds."""
        until = self._looks_for_overdue_at
        if self._libcurl_is_due is not None:
            until = min(until, self._libcurl_is_due)
        return max(0.0, until - time.monotonic())

    def _do_what_is_due(self) -> None:
        if self._libcurl_is_due is not None and self._libcurl_is_due <= time.monotonic():
            self._libcurl_is_due = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _take_turns(self) -> bool:
        """End those that are done, and let leave those that are to begin; whether there were any.

        In turn: libcurl gives the connection of one that is done to the next at once, and it is to be known before
        whose it was. What begins meanwhile leaves at the next `wait`.
        """
        were_any = self._end_those_done()
        for _ in range(len(self._to_begin)):
            self._let_leave(*self._to_begin.popleft())
            were_any = True
            if self._to_begin:
                self._end_those_done()
        return were_any

    def _let_leave(self, handle: CurlHandle, then: Then) -> None:
        try:
            self._multi.add_handle(handle.curl)
        except BaseException as bug:  # noqa: BLE001 - told to whoever waits for the answer
            then(bug)
            return
        self._under_way[handle.curl] = (handle, then)
        soonest = time.monotonic() + min(self._limits.answer, self._limits.silence)
        self._looks_for_overdue_at = min(self._looks_for_overdue_at, soonest)
        self._do_what_is_due()  # it leaves now, and not when all that is ready has been read

    def _end_those_done(self) -> bool:
        """Whether there were any."""
        were_any = False
        left = 1
        while left:
            left, done, failed = self._multi.info_read()
            for curl in done:
                self._end(curl, pycurl.E_OK)
            for curl, error, _ in failed:
                self._end(curl, error)
            were_any = were_any or bool(done or failed)
        return were_any

    def _end(self, curl: pycurl.Curl, error: int) -> None:
        handle, then = self._under_way[curl]
        if handle.is_to_be_put_again(error):
            self._multi.remove_handle(curl)
            self._multi.add_handle(curl)
            return
        outcome = handle.outcome(error)
        is_earlier = self._kept.had_come_before(handle.ends)
        if is_earlier and isinstance(outcome, RawReply):
            outcome = NoReply(reasons.EARLIER, Phase.WAITING)
        self._kept.keep(handle.ends, curl.getinfo(pycurl.ACTIVESOCKET), may_be_used=not is_earlier)
        self._multi.remove_handle(curl)  # of an answer that is not at its end, this closes the connection
        del self._under_way[curl]
        self._free.append(handle)
        then(outcome)

    def _end_those_overdue(self, now: float) -> None:
        self._looks_for_overdue_at = float("inf")  # whoever is begun from here on says when to look for it
        for curl, (handle, _) in list(self._under_way.items()):
            heard = self._heard.get(curl.getinfo(pycurl.ACTIVESOCKET), 0.0)
            overdue_at = min(handle.overdue_at(heard), now + min(self._limits.answer, self._limits.silence))
            if overdue_at <= now:
                self._end(curl, pycurl.E_OPERATION_TIMEDOUT)
            else:
                self._looks_for_overdue_at = min(self._looks_for_overdue_at, overdue_at)

    # --- what libcurl calls ---

    def _watch(self, what: int, number: int, _multi: object, _data: object) -> None:
        awaited = _AWAITED.get(what)
        if awaited is None:
            self._sockets.forget(number)
        else:
            self._sockets.watch(number, awaited)

    def _set_timer(self, milliseconds: int) -> None:
        self._libcurl_is_due = None if milliseconds == _NONE else time.monotonic() + milliseconds / 1000


class _KeptConnections:
    """Which connections wait for a request, by their addresses, and whether they may be used for one.

    One that has idled past the service's patience, or on which something has come, is not: a reset on it would be
    ambiguous, and what has come may be a second answer to the request before, which would be taken for the answer to
    the next one. libcurl would look only where a connection has waited for a second.

    Where a connection is encrypted, a second answer may lie in the TLS library already, where nobody can look. Then the
    next request is "answered" though nothing came after it had left.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[Ends, tuple[int, float]] = {}  # the socket's number, and since when
        self._busy: set[Ends] = set()
        self._taken: dict[Ends, tuple[int, int]] = {}  # encrypted ones: the number, and how much had come until then
        self._heard: set[int] = set()  # of those the ones on which something came after the request
        self._look = sockets()

    def keep(self, ends: Ends | None, number: int, *, may_be_used: bool) -> None:
        """The request that was on it is over. `number`: its socket's; there is none where it was closed."""
        if ends is None:
            return
        self._busy.discard(ends)
        if number != _NONE:
            self._waiting[ends] = (number, time.monotonic() if may_be_used else float("-inf"))

    def take(self, ends: Ends, *, is_encrypted: bool) -> bool:
        """Whether the connection may be used: one that was not kept is new."""
        if ends in self._busy:  # the request that was on it is done, and we have not heard of that yet
            return False
        self._busy.add(ends)
        waiting = self._waiting.pop(ends, None)
        if waiting is None:
            return True
        number, since = waiting
        if time.monotonic() - since >= self._limits.idle or self._has_something_to_read(number):
            self._busy.discard(ends)
            return False
        if is_encrypted and sys.platform == "linux":
            self._taken[ends] = (number, _bytes_received(number))
            self._heard.discard(number)
        return True

    def hear(self, number: int) -> None:
        """Something has come on that socket."""
        self._heard.add(number)

    def had_come_before(self, ends: Ends | None) -> bool:
        """Whether what was read on a connection since it was taken had come before, so that nobody had to wait for it.

        An answer may be read without waiting where it is quick, but then its bytes have come and none are left.
        """
        number, before = self._taken.pop(ends, (_NONE, 0)) if ends is not None else (_NONE, 0)
        if number == _NONE or number in self._heard:
            return False
        return _bytes_received(number) <= before or self._has_something_to_read(number)

    def _has_something_to_read(self, number: int) -> bool:
        """Nothing is to come on a connection that waits for a request: what does is its end."""
        try:
            self._look.watch(number, READ)
            return bool(self._look.wait(0))
        except (OSError, ValueError):
            return True
        finally:
            self._look.forget(number)


def _bytes_received(number: int) -> int:
    """By the system's count, on that socket; 0 where it does not count."""
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=number)
    try:
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED_AT + 8)
    except OSError:  # libcurl has closed it
        return 0
    finally:
        connection.detach()
    return int.from_bytes(told[_RECEIVED_AT:], sys.byteorder)


_RECEIVED_AT: Final = 128  # where Linux tells it in struct tcp_info
_AWAITED: Final = {  # anything else ends the watching
    pycurl.POLL_IN: READ,
    pycurl.POLL_OUT: WRITE,
    pycurl.POLL_INOUT: READ | WRITE,
}
_CAME: Final = {
    READ: pycurl.CSELECT_IN,
    WRITE: pycurl.CSELECT_OUT,
    READ | WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}
