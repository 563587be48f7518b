"""A socket whose time-outs the kernel keeps.

Python keeps them by asking, before each piece, whether there is one: two system calls for each, and one more whenever a
time-out is said again. For each of these a thread gives up its turn and has to get it back, which costs many senders
more than sending.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import Any


class TimedSocket(socket.socket):
    """A connected socket, taken over from another one, which is of no use any more."""

    def __init__(self, connected: socket.socket) -> None:
        self._seconds = connected.gettimeout()
        self._told: dict[int, float | None] = {}  # what the kernel knows
        super().__init__(fileno=connected.detach())
        super().settimeout(None)

    def gettimeout(self) -> float | None:
        return self._seconds

    def settimeout(self, seconds: float | None) -> None:
        """For each piece that is sent or received from now on; None: for ever."""
        self._seconds = seconds

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self._tell(socket.SO_RCVTIMEO)
        try:
            return super().recv_into(*args, **kwargs)
        except BlockingIOError:
            raise TimeoutError("timed out") from None

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self._tell(socket.SO_SNDTIMEO)
        try:
            super().sendall(*args, **kwargs)
        except BlockingIOError:
            raise TimeoutError("timed out") from None

    def _tell(self, which: int) -> None:
        seconds = self._seconds
        if which in self._told and self._told[which] == seconds:
            return
        microseconds = 0 if seconds is None else max(1, round(seconds * 1e6))  # 0: for ever
        self.setsockopt(socket.SOL_SOCKET, which, struct.pack("ll", *divmod(microseconds, 1_000_000)))
        self._told[which] = seconds


def timed_by_kernel(connected: socket.socket) -> socket.socket:
    """The socket as a TimedSocket, where the system knows such times in the form that we give them."""
    return TimedSocket(connected) if os.name == "posix" else connected
