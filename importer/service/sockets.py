"""Waits for many sockets at once. The library's selectors keep more of each socket than a request is worth."""

from __future__ import annotations

import select
import sys
from typing import Final, Protocol

READ: Final = 1
WRITE: Final = 2


class Sockets(Protocol):
    """Sockets, by number, and what is awaited of each: READ, WRITE, or both added up. For one thread."""

    def watch(self, number: int, what: int) -> None:
        """Wait for that of this socket, and for nothing else of it."""
        ...

    def forget(self, number: int) -> None:
        """Wait for it no more. Of one that is not watched: nothing."""
        ...

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        """What has come about by then, as soon as anything has; an end or an error is told as all that was awaited."""
        ...

    def __len__(self) -> int: ...


def sockets() -> Sockets:
    """For this system."""
    return _Selected() if sys.platform == "win32" else _Polled()


class _Polled:
    """Watching and forgetting is no call to the system: with each request both are done."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._watched: dict[int, int] = {}

    def watch(self, number: int, what: int) -> None:
        self._poll.register(number, (select.POLLIN if what & READ else 0) | (select.POLLOUT if what & WRITE else 0))
        self._watched[number] = what

    def forget(self, number: int) -> None:
        if self._watched.pop(number, None) is not None:
            self._poll.unregister(number)

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        return [(number, self._meaning(number, event)) for number, event in self._poll.poll(seconds * 1000)]

    def __len__(self) -> int:
        return len(self._watched)

    def _meaning(self, number: int, event: int) -> int:
        if event == select.POLLIN:
            return READ
        if event == select.POLLOUT:
            return WRITE
        return self._watched[number]


class _Selected:
    """Windows does not know poll."""

    def __init__(self) -> None:
        self._readable: set[int] = set()
        self._writable: set[int] = set()

    def watch(self, number: int, what: int) -> None:
        for numbers, sign in ((self._readable, READ), (self._writable, WRITE)):
            (numbers.add if what & sign else numbers.discard)(number)

    def forget(self, number: int) -> None:
        self._readable.discard(number)
        self._writable.discard(number)

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        # What fails while connecting is told there as an exception, and only there.
        readable, writable, failed = select.select(self._readable, self._writable, self._writable, seconds)
        found = dict.fromkeys(readable, READ)
        for number in (*writable, *failed):
            found[number] = found.get(number, 0) | WRITE
        return list(found.items())

    def __len__(self) -> int:
        return len(self._readable | self._writable)
