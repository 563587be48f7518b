"""Many requests at a time on one thread, over libcurl's multi interface.

libcurl says which sockets to watch (`_watch`) and when to call it at the latest (`_set_timer`). We wait for the
sockets, call it for each that is ready, and ask it which requests are done.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from selectors import EVENT_READ, EVENT_WRITE
from typing import Final

import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service.curl_request import CurlHandle
from importer.service.kept_connections import NONE, KeptConnections, new_selector
from importer.service.transport_api import Limits, NoReply, OnDone, Phase, RawReply, Reason, Request

_LONGEST_WAIT: Final = 1.0  # seconds


class CurlLoop:
    """Requests under way, and the connections that are kept for the next ones. For one thread.

    connections: how many are kept open. wakeup: a socket that ends a wait when something comes on it.
    """

    def __init__(self, limits: Limits, connections: int, wakeup: socket.socket) -> None:
        self._limits = limits
        self._free: list[CurlHandle] = []
        self._to_begin: deque[tuple[CurlHandle, OnDone]] = deque()
        self._under_way: dict[pycurl.Curl, tuple[CurlHandle, OnDone]] = {}
        self._kept = KeptConnections(limits)
        self._last_activity: dict[int, float] = {}  # when something last came on a socket
        self._watched: dict[int, int] = {}  # what is awaited of each socket
        self._selector = new_selector()
        self._wakeup = wakeup
        self._selector.register(wakeup.fileno(), EVENT_READ)
        self._timer_at: float | None = None
        self._next_overdue_check = float("inf")
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    def begin(self, request: Request, on_done: OnDone) -> None:
        """Have a request sent; `on_done` is called by a later `wait` or `handle_ready`, and may begin another one.

        Where the request cannot be made, a bug of ours, that is reported at once.
        """
        try:
            handle = self._free.pop() if self._free else CurlHandle(self._limits, self._kept.take)
            handle.prepare(request)
        except BaseException as bug:  # noqa: BLE001 - reported to whoever waits for the answer
            on_done(bug)
            return
        self._to_begin.append((handle, on_done))

    def wait(self, longest: float = _LONGEST_WAIT) -> list[tuple[int, int]]:
        """The sockets that can be read or sent on, as soon as there are any; waits for so many seconds at most."""
        if self._finish_and_begin():  # a request that was begun may be done at once
            longest = 0.0
        ready = self._selector.select(min(longest, self._seconds_until_due()))
        return [(key.fd, events) for key, events in ready]

    def handle_ready(self, ready: list[tuple[int, int]]) -> None:
        """Let libcurl read and send what it can, after a `wait`; finish what is done, and what has passed a limit."""
        now = time.monotonic()
        for number, came in ready:
            if number == self._wakeup.fileno():
                self._wakeup.recv(4096)
                continue
            self._last_activity[number] = now
            if came & EVENT_READ:
                self._kept.note_activity(number)
            self._multi.socket_action(number, _CAME[came])
            self._finish_and_begin()
        self._run_timer()
        self._finish_and_begin()
        if self._next_overdue_check <= now:
            self._fail_overdue(now)

    def fail_all(self, bug: BaseException) -> None:
        """Report a bug of ours to everybody who waits for an answer: what became of their requests is not known."""
        waiting = [on_done for _, on_done in (*self._under_way.values(), *self._to_begin)]
        self._under_way.clear()
        self._to_begin.clear()
        for on_done in waiting:
            on_done(bug)

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
        self._selector.close()

    def _seconds_until_due(self) -> float:
        """Seconds."""
        until = self._next_overdue_check
        if self._timer_at is not None:
            until = min(until, self._timer_at)
        return max(0.0, until - time.monotonic())

    def _run_timer(self) -> None:
        if self._timer_at is not None and self._timer_at <= time.monotonic():
            self._timer_at = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _finish_and_begin(self) -> bool:
        """Finish the requests that are done, and begin those that wait for it; whether there were any.

        In turn: libcurl gives the connection of a request that is done to the next one at once, and we must know before
        that it is free. A request that is added meanwhile begins with the next call.
        """
        were_any = self._finish_completed()
        for _ in range(len(self._to_begin)):
            self._begin_now(*self._to_begin.popleft())
            were_any = True
            if self._to_begin:
                self._finish_completed()
        return were_any

    def _begin_now(self, handle: CurlHandle, on_done: OnDone) -> None:
        try:
            self._multi.add_handle(handle.curl)
        except BaseException as bug:  # noqa: BLE001 - reported to whoever waits for the answer
            on_done(bug)
            return
        self._under_way[handle.curl] = (handle, on_done)
        soonest = time.monotonic() + min(self._limits.answer, self._limits.silence)
        self._next_overdue_check = min(self._next_overdue_check, soonest)
        self._run_timer()  # now, and not when all other sockets have been read

    def _finish_completed(self) -> bool:
        """Whether there were any."""
        were_any = False
        left = 1
        while left:
            left, done, failed = self._multi.info_read()
            for curl in done:
                self._finish(curl, pycurl.E_OK)
            for curl, error, _ in failed:
                self._finish(curl, error)
            were_any = were_any or bool(done or failed)
        return were_any

    def _finish(self, curl: pycurl.Curl, error: int) -> None:
        handle, on_done = self._under_way[curl]
        if handle.needs_another_connection(error):
            self._multi.remove_handle(curl)
            self._multi.add_handle(curl)
            return
        outcome = handle.outcome(error)
        is_earlier = self._kept.answer_came_before(handle.key)
        if is_earlier and isinstance(outcome, RawReply):
            outcome = NoReply(Reason.EARLIER, Phase.WAITING)
        self._kept.keep(handle.key, curl.getinfo(pycurl.ACTIVESOCKET), may_be_used=not is_earlier)
        self._multi.remove_handle(curl)  # of an answer that is not at its end, this closes the connection
        del self._under_way[curl]
        self._free.append(handle)
        on_done(outcome)

    def _fail_overdue(self, now: float) -> None:
        self._next_overdue_check = float("inf")  # a request that begins from here on lowers it
        for curl, (handle, _) in list(self._under_way.items()):
            last_activity = self._last_activity.get(curl.getinfo(pycurl.ACTIVESOCKET), 0.0)
            overdue_at = min(handle.overdue_at(last_activity), now + min(self._limits.answer, self._limits.silence))
            if overdue_at <= now:
                self._finish(curl, pycurl.E_OPERATION_TIMEDOUT)
            else:
                self._next_overdue_check = min(self._next_overdue_check, overdue_at)

    # --- what libcurl calls ---

    def _watch(self, what: int, number: int, _multi: object, _data: object) -> None:
        awaited = _AWAITED.get(what, 0)
        before = self._watched.pop(number, 0)
        if awaited:
            self._watched[number] = awaited
            (self._selector.modify if before else self._selector.register)(number, awaited)
        elif before:
            self._selector.unregister(number)

    def _set_timer(self, milliseconds: int) -> None:
        self._timer_at = None if milliseconds == NONE else time.monotonic() + milliseconds / 1000


_AWAITED: Final = {  # anything else ends the watching
    pycurl.POLL_IN: EVENT_READ,
    pycurl.POLL_OUT: EVENT_WRITE,
    pycurl.POLL_INOUT: EVENT_READ | EVENT_WRITE,
}
_CAME: Final = {
    EVENT_READ: pycurl.CSELECT_IN,
    EVENT_WRITE: pycurl.CSELECT_OUT,
    EVENT_READ | EVENT_WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}
