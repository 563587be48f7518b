"""The transport over pycurl, where it is installed: the same promises as over requests, for less CPU.

One thread carries all requests, over libcurl's multi interface. A thread for each would cost three times as much: each
time that it wakes it waits until the others let it in. libcurl says which sockets to watch (`_watch`) and when to call
it at the latest (`_set_timer`). The thread waits for the sockets, calls libcurl for each that is ready, and asks it
which requests are done.
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
    """Sends through libcurl: see `Transport`. connections: how many are kept open."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._started: deque[tuple[Request, OnDone]] = deque()  # by other threads
        self._wakeup, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._is_idle = False
        self._is_closed = False
        self._bug: BaseException | None = None
        # From here on of the network thread alone
        self._free: list[CurlHandle] = []
        self._to_begin: deque[tuple[CurlHandle, OnDone]] = deque()
        self._under_way: dict[pycurl.Curl, tuple[CurlHandle, OnDone]] = {}
        self._kept = KeptConnections(limits)
        self._last_activity: dict[int, float] = {}  # when something last came on a socket
        self._watched: dict[int, int] = {}  # what is awaited of each socket
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
        """Have one request sent once; returns at once."""
        if self._bug is not None:
            raise RuntimeError("the network thread broke off") from self._bug
        if threading.get_ident() == self._thread.ident:  # as nearly always: an answer makes room for the next request
            self._prepare(request, on_done)
            return
        self._started.append((request, on_done))
        if self._is_idle:
            self._wake()
        if self._bug is not None:
            self._fail_started(self._bug)

    def close(self) -> None:
        """Forget what is under way, and close every connection."""
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
        with suppress(BlockingIOError):  # it was woken often enough
            self._waker.send(b"\0")

    def _fail_started(self, bug: BaseException) -> None:
        while True:
            try:
                _, on_done = self._started.popleft()  # another thread may be at it too
            except IndexError:
                return
            on_done(bug)

    # --- for the network thread ---

    def _work(self) -> None:
        try:
            while not self._is_closed:
                # In this order: who starts a request from here on wakes us, and what was started before is found.
                self._is_idle = True
                ready = self._wait(0.0 if self._started else _LONGEST_WAIT)
                self._is_idle = False
                while self._started:
                    self._prepare(*self._started.popleft())
                self._handle_ready(ready)
        except BaseException as bug:  # noqa: BLE001 - reported to everybody who waits for an answer
            self._bug = bug
            waiting = [on_done for _, on_done in (*self._under_way.values(), *self._to_begin)]
            self._under_way.clear()
            self._to_begin.clear()
            for on_done in waiting:  # what became of their requests is not known
                on_done(bug)
            self._fail_started(bug)

    def _prepare(self, request: Request, on_done: OnDone) -> None:
        """Have a request begun by the next `_finish_and_begin`. Where it cannot be made, a bug of ours is reported."""
        try:
            handle = self._free.pop() if self._free else CurlHandle(self._limits, self._kept)
            handle.prepare(request)
        except BaseException as bug:  # noqa: BLE001 - reported to whoever waits for the answer
            on_done(bug)
            return
        self._to_begin.append((handle, on_done))

    def _wait(self, longest: float) -> list[tuple[int, int]]:
        """The sockets that can be read or sent on, as soon as there are any; waits for so many seconds at most."""
        if self._finish_and_begin():  # a request that was begun may be done at once
            longest = 0.0
        due_in = min(self._next_overdue_check, self._timer_at) - time.monotonic()
        ready = self._selector.select(max(0.0, min(longest, due_in)))
        return [(key.fd, events) for key, events in ready]

    def _handle_ready(self, ready: list[tuple[int, int]]) -> None:
        """Let libcurl read and send what it can, after a `_wait`; finish what is done, and what has passed a limit."""
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

    def _run_timer(self) -> None:
        if self._timer_at <= time.monotonic():
            self._timer_at = float("inf")
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _finish_and_begin(self) -> bool:
        """Finish the requests that are done, and begin those that wait for it; whether there were any.

        In turn: libcurl gives the connection of a request that is done to the next one at once, and we must know before
        that it is free. A request that is added meanwhile begins with the next call.
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
        except BaseException as bug:  # noqa: BLE001 - reported to whoever waits for the answer
            on_done(bug)
            return
        self._under_way[handle.curl] = (handle, on_done)
        soonest = time.monotonic() + min(self._limits.total, self._limits.read)
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
            overdue_at = min(handle.overdue_at(last_activity), now + min(self._limits.total, self._limits.read))
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
        self._timer_at = float("inf") if milliseconds == NONE else time.monotonic() + milliseconds / 1000


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
