"""The transport that pycurl fills, where it is installed: the same promises as with requests, for less CPU."""

from __future__ import annotations

import socket
import threading
from collections import deque
from contextlib import suppress

from importer.service.curl_loop import CurlLoop
from importer.service.replies import NoReply, RawReply
from importer.service.wire import Limits, Then, WireRequest


class CurlTransport:
    """Sends through libcurl: see `Transport` and `SendsManyAtOnce`."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._connections = connections
        self._free: list[CurlLoop] = []  # the one used last is taken first; append and pop of a list need no lock
        self._many: _ManyAtOnce | None = None
        self._beginning = threading.Lock()

    def send(self, request: WireRequest, body_limit: int | None = None) -> RawReply | NoReply:
        """Send one request once, on the thread that calls. Never raises for what the network or the service does."""
        try:
            loop = self._free.pop()
        except IndexError:
            loop = CurlLoop(self._limits, connections=1)
        found: list[RawReply | NoReply | BaseException] = []
        loop.begin(request, body_limit or self._limits.body, found.append)
        while not found:
            loop.go_on(loop.wait())
        if len(self._free) < self._connections:
            self._free.append(loop)
        else:
            loop.close()
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    def start(self, request: WireRequest, then: Then) -> None:
        """Have one request sent once, by the thread that sends all those; returns at once."""
        with self._beginning:
            if self._many is None:
                self._many = _ManyAtOnce(self._limits, self._connections)
        self._many.start(request, then)

    def close(self) -> None:
        if self._many is not None:
            self._many.close()
        while self._free:
            self._free.pop().close()


class _ManyAtOnce:
    """A thread that keeps a loop going for all who start requests."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._bell, self._ringer = socket.socketpair()
        self._ringer.setblocking(False)
        self._loop = CurlLoop(limits, connections, self._bell)
        self._asked: deque[tuple[WireRequest, Then]] = deque()
        self._rests = False
        self._ends = False
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="network", daemon=True)
        self._thread.start()

    def start(self, request: WireRequest, then: Then) -> None:
        if self._bug is not None:
            raise RuntimeError("the network thread broke off") from self._bug
        if threading.get_ident() == self._thread.ident:  # as nearly always: it tells of one answer, and gets the next
            self._loop.begin(request, self._limits.body, then)
            return
        self._asked.append((request, then))
        if self._rests:
            self._ring()
        if self._bug is not None:
            self._tell_those_who_asked(self._bug)

    def close(self) -> None:
        """Forget what is under way."""
        self._ends = True
        self._ring()
        self._thread.join()
        self._loop.close()
        self._bell.close()
        self._ringer.close()

    def _ring(self) -> None:
        with suppress(BlockingIOError):  # it was rung often enough
            self._ringer.send(b"\0")

    def _work(self) -> None:
        try:
            while not self._ends:
                # In this order: who asks from here on rings, and who asked before is found.
                self._rests = True
                ready = self._loop.wait(0) if self._asked else self._loop.wait()
                self._rests = False
                while self._asked:
                    request, then = self._asked.popleft()
                    self._loop.begin(request, self._limits.body, then)
                self._loop.go_on(ready)
        except BaseException as bug:  # noqa: BLE001 - told to everybody who waits for an answer
            self._bug = bug
            self._loop.give_up(bug)
            self._tell_those_who_asked(bug)

    def _tell_those_who_asked(self, bug: BaseException) -> None:
        while True:
            try:
                _, then = self._asked.popleft()  # another thread may be at it too
            except IndexError:
                return
            then(bug)
