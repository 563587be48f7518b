"""The transport with pycurl, if it is installed: the same promises as with requests, for less CPU.

One thread runs all requests with libcurl's multi interface; a thread per request would cost three times as much, since
the threads compete for the GIL. libcurl reports which sockets to watch (`_watch`) and when to call it at the latest
(`_set_timer`). The thread waits for the sockets, calls libcurl for each that is ready, and asks which requests are
done.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE
from typing import Final

import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service.curl_request import NONE, CurlHandle, KeptConnections, new_selector
from importer.service.transport_api import Limits, NoReply, OnDone, Phase, RawReply, Reason, Request

_LONGEST_WAIT: Final = 1.0  # seconds


class CurlTransport:
    """Sends with libcurl: see `Transport`. connections: how many are kept open."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._started: deque[tuple[Request, OnDone]] = deque()  # by other threads
        self._wakeup, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._is_idle = False
        self._is_closed = False
        self._bug: BaseException | None = None
        # Used by the network thread only
        self._free: list[CurlHandle] = []
        self._to_begin: deque[tuple[CurlHandle, OnDone]] = deque()
        self._under_way: dict[pycurl.Curl, tuple[CurlHandle, OnDone]] = {}
        self._kept = KeptConnections(limits)
        self._last_activity: dict[int, float] = {}  # when data last arrived on a socket
        self._watched: dict[int, int] = {}  # the events to wait for on each socket
        self._selector = new_selector()
        self._selector.register(self._wakeup.fileno(), EVENT_READ)
        self._timer_at = self._next_overdue_check = float("inf")
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._thread = threading.Thread(target=self._work, name="network", daemon=True)
        self._thread.start()

    # --- for any thread ---

    def start(self, request: Request, on_done: OnDone) -> None:
        """Send one request once; returns at once."""
        if self._bug is not None:
            raise RuntimeError("the network thread ended with an error") from self._bug
        if (
            threading.get_ident() == self._thread.ident
        ):  # the usual case: a response frees capacity for the next request
            self._prepare(request, on_done)
            return
        self._started.append((request, on_done))
        if self._is_idle:
            self._wake()
        if self._bug is not None:
            self._fail_started(self._bug)

    def close(self) -> None:
        """Drop all active requests and close every connection."""
        self._is_closed = True
        self._wake()
        self._thread.join()
        for curl in self._under_way:
            self._multi.remove_handle(curl)
        for handle, _ in (*self._under_way.values(), *self._to_begin):
            handle.close()
        for handle in self._free:
            handle.close()
        self._multi.close()
        self._selector.close()
        self._wakeup.close()
        self._waker.close()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # it is already woken
            self._waker.send(b"\0")

    def _fail_started(self, bug: BaseException) -> None:
        while True:
            try:
                _, on_done = self._started.popleft()  # another thread may empty it too
            except IndexError:
                return
            on_done(bug)

    # --- for the network thread ---

    def _work(self) -> None:
        try:
            while not self._is_closed:
                # In this order: a request started from here on wakes this thread, and one started before is found.
                self._is_idle = True
                ready = self._wait(0.0 if self._started else _LONGEST_WAIT)
                self._is_idle = False
                while self._started:
                    self._prepare(*self._started.popleft())
                self._handle_ready(ready)
        except BaseException as bug:  # noqa: BLE001 - reported to all who wait for a response
            self._bug = bug
            waiting = [on_done for _, on_done in (*self._under_way.values(), *self._to_begin)]
            self._under_way.clear()
            self._to_begin.clear()
            for on_done in waiting:  # the results of their requests are unknown
                on_done(bug)
            self._fail_started(bug)

    def _prepare(self, request: Request, on_done: OnDone) -> None:
        """Queue a request for the next `_finish_and_begin`. If that fails, the bug is reported to the caller."""
        try:
            handle = self._free.pop() if self._free else CurlHandle(self._limits, self._kept)
            handle.prepare(request)
        except BaseException as bug:  # noqa: BLE001 - reported to the caller
            on_done(bug)
            return
        self._to_begin.append((handle, on_done))

    def _wait(self, longest: float) -> list[tuple[int, int]]:
        """The sockets that are ready, with their events; waits for at most so many seconds."""
        if self._finish_and_begin():  # a request may be done at once
            longest = 0.0
        due_in = min(self._next_overdue_check, self._timer_at) - time.monotonic()
        ready = self._selector.select(max(0.0, min(longest, due_in)))
        return [(key.fd, events) for key, events in ready]

    def _handle_ready(self, ready: list[tuple[int, int]]) -> None:
        """Let libcurl read and write; finish requests that are done or past a time limit."""
        now = time.monotonic()
        for number, events in ready:
            if number == self._wakeup.fileno():
                self._wakeup.recv(4096)
                continue
            self._last_activity[number] = now
            if events & EVENT_READ:
                self._kept.note_activity(number)
            self._multi.socket_action(number, _SELECT_FLAGS[events])
            self._finish_and_begin()
        self._run_timer()
        self._finish_and_begin()
        if self._next_overdue_check <= now:
            self._fail_overdue(now)

    def _run_timer(self) -> None:
        if self._timer_at <= time.monotonic():
            self._timer_at = float("inf")
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _finish_and_begin(self) -> bool:
        """Finish the requests that are done, and begin the queued ones; returns whether there were any.

        Alternately: libcurl reuses the connection of a finished request at once, and it must be marked as free before
        that. Requests added meanwhile begin with the next call.
        """
        were_any = self._finish_completed()
        for _ in range(len(self._to_begin)):
            self._begin(*self._to_begin.popleft())
            were_any = True
            if self._to_begin:
                self._finish_completed()
        return were_any

    def _begin(self, handle: CurlHandle, on_done: OnDone) -> None:
        try:
            self._multi.add_handle(handle.curl)
        except BaseException as bug:  # noqa: BLE001 - reported to the caller
            on_done(bug)
            return
        self._under_way[handle.curl] = (handle, on_done)
        soonest = time.monotonic() + min(self._limits.total, self._limits.read)
        self._next_overdue_check = min(self._next_overdue_check, soonest)
        self._run_timer()  # now, not after all other sockets were read

    def _finish_completed(self) -> bool:
        """Finish the requests that are done; returns whether there were any."""
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
        self._multi.remove_handle(curl)  # closes the connection if the response was not read completely
        del self._under_way[curl]
        self._free.append(handle)
        on_done(outcome)

    def _fail_overdue(self, now: float) -> None:
        self._next_overdue_check = float("inf")  # lowered by requests that begin from here on
        for curl, (handle, _) in list(self._under_way.items()):
            last_activity = self._last_activity.get(curl.getinfo(pycurl.ACTIVESOCKET), 0.0)
            overdue_at = min(handle.overdue_at(last_activity), now + min(self._limits.total, self._limits.read))
            if overdue_at <= now:
                self._finish(curl, pycurl.E_OPERATION_TIMEDOUT)
            else:
                self._next_overdue_check = min(self._next_overdue_check, overdue_at)

    # --- called by libcurl ---

    def _watch(self, what: int, number: int, _multi: object, _data: object) -> None:
        events = _EVENTS.get(what, 0)
        before = self._watched.pop(number, 0)
        if events:
            self._watched[number] = events
            (self._selector.modify if before else self._selector.register)(number, events)
        elif before:
            self._selector.unregister(number)

    def _set_timer(self, milliseconds: int) -> None:
        self._timer_at = float("inf") if milliseconds == NONE else time.monotonic() + milliseconds / 1000


_EVENTS: Final = {  # any other value: stop watching
    pycurl.POLL_IN: EVENT_READ,
    pycurl.POLL_OUT: EVENT_WRITE,
    pycurl.POLL_INOUT: EVENT_READ | EVENT_WRITE,
}
_SELECT_FLAGS: Final = {
    EVENT_READ: pycurl.CSELECT_IN,
    EVENT_WRITE: pycurl.CSELECT_OUT,
    EVENT_READ | EVENT_WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}
