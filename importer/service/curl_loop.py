"""Many requests at a time on one thread: libcurl is told which sockets are ready, and tells which requests are done.

A thread for each request would cost three times as much: each time that it wakes it waits until the others let it in.
"""

from __future__ import annotations

import socket
import time
from typing import Final

import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service.curl_call import CurlHandle, Ends
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
            self._multi.add_handle(handle.curl)
        except BaseException as bug:  # noqa: BLE001 - told to whoever waits for the answer
            then(bug)
            return
        self._under_way[handle.curl] = (handle, then)
        soonest = time.monotonic() + min(self._limits.answer, self._limits.silence)
        self._looks_for_overdue_at = min(self._looks_for_overdue_at, soonest)
        try:
            self._do_what_is_due()  # it leaves now, and not when all that is ready has been read
        except pycurl.error:
            self._libcurl_is_due = 0.0  # `go_on` meets that too, and it breaks off the loop and not this request alone

    def wait(self, longest: float = _LONGEST_WAIT) -> list[tuple[int, int]]:
        """What can be read or sent on now; waits for it for so many seconds, or until the bell rings."""
        if self._end_those_done():  # a request that was begun may be done at once
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
            self._multi.socket_action(number, _CAME[came])
            self._end_those_done()
        self._do_what_is_due()
        self._end_those_done()
        if self._looks_for_overdue_at <= now:
            self._end_those_overdue(now)

    def give_up(self, bug: BaseException) -> None:
        """Tell everybody who waits for an answer of a bug of ours: what became of their requests is not known."""
        thens = [then for _, then in self._under_way.values()]
        self._under_way.clear()
        for then in thens:
            then(bug)

    def close(self) -> None:
        """Forget what is under way, and close every connection."""
        for curl, (handle, _) in self._under_way.items():
            self._multi.remove_handle(curl)
            handle.close()
        self._under_way.clear()
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

    def _end_those_done(self) -> bool:
        """Whether there were any. What is begun when one ends may be done at once, and is found by the next `wait`."""
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
        self._kept.keep(handle.ends, curl.getinfo(pycurl.ACTIVESOCKET))
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
    ambiguous. libcurl would look only where a connection has waited for a second.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[Ends, tuple[int, float]] = {}  # the socket's number, and since when
        self._look = sockets()

    def keep(self, ends: Ends | None, number: int) -> None:
        """The request that was on it is over. `number`: its socket's; there is none where it was closed."""
        if ends is not None and number != _NONE:
            self._waiting[ends] = (number, time.monotonic())

    def take(self, ends: Ends) -> bool:
        """Whether the connection may be used: one that was not kept is new."""
        waiting = self._waiting.pop(ends, None)
        if waiting is None:
            return True
        number, since = waiting
        return time.monotonic() - since < self._limits.idle and not self._has_something_to_read(number)

    def _has_something_to_read(self, number: int) -> bool:
        """Nothing is to come on a connection that waits for a request: what does is its end."""
        try:
            self._look.watch(number, READ)
            return bool(self._look.wait(0))
        except (OSError, ValueError):
            return True
        finally:
            self._look.forget(number)


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
