"""The transport over pycurl, where it is installed: the same promises as over requests, for less CPU.

One thread carries all requests. A thread for each would cost three times as much: each time that it wakes it waits
until the others let it in.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from contextlib import suppress

from importer.service.curl_loop import CurlLoop
from importer.service.transport_api import Limits, OnDone, Request


class CurlTransport:
    """Sends through libcurl: see `Transport`."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._wakeup, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._loop = CurlLoop(limits, connections, self._wakeup)
        self._requests: deque[tuple[Request, OnDone]] = deque()  # of other threads
        self._is_idle = False
        self._is_closed = False
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="network", daemon=True)
        self._thread.start()

    def start(self, request: Request, on_done: OnDone) -> None:
        """Have one request sent once; returns at once."""
        if self._bug is not None:
            raise RuntimeError("the network thread broke off") from self._bug
        if threading.get_ident() == self._thread.ident:  # as nearly always: an answer makes room for the next request
            self._loop.begin(request, on_done)
            return
        self._requests.append((request, on_done))
        if self._is_idle:
            self._wake()
        if self._bug is not None:
            self._fail_those_not_begun(self._bug)

    def close(self) -> None:
        """Forget what is under way."""
        self._is_closed = True
        self._wake()
        self._thread.join()
        self._loop.close()
        self._wakeup.close()
        self._waker.close()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # it was woken often enough
            self._waker.send(b"\0")

    def _work(self) -> None:
        try:
            while not self._is_closed:
                # In this order: who starts a request from here on wakes us, and what was started before is found.
                self._is_idle = True
                ready = self._loop.wait(0) if self._requests else self._loop.wait()
                self._is_idle = False
                while self._requests:
                    self._loop.begin(*self._requests.popleft())
                self._loop.handle_ready(ready)
        except BaseException as bug:  # noqa: BLE001 - reported to everybody who waits for an answer
            self._bug = bug
            self._loop.fail_all(bug)
            self._fail_those_not_begun(bug)

    def _fail_those_not_begun(self, bug: BaseException) -> None:
        while True:
            try:
                _, on_done = self._requests.popleft()  # another thread may be at it too
            except IndexError:
                return
            on_done(bug)
