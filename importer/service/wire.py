"""The narrow waist to the network: one request in, one raw answer out, whatever carries it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from importer.service.replies import NoReply, RawReply


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, and bytes for the body. `answer` is the deadline over the whole answer, from the moment of sending."""

    connect: float = 10.0
    silence: float = 30.0  # between two pieces of an answer
    answer: float = 60.0
    body: int = 256 * 1024
    idle: float = 20.0  # a connection unused for longer is not used again: a reset on it would be ambiguous


class WireRequest(NamedTuple):
    """One request as it goes out; the transport adds what HTTP itself asks for, such as the length of the body."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


Then = Callable[[RawReply | NoReply | BaseException], None]
"""What is called with the answer to a request, or with a bug of ours that leaves it open whether there was one."""


class Transport(Protocol):
    """Sends over kept connections, from many threads at once.

    Nothing is followed, nothing is read from the environment, nothing is tried again, and one deadline stands over the
    whole answer.
    """

    def send(self, request: WireRequest, body_limit: int | None = None) -> RawReply | NoReply:
        """Send one request once. Never raises for what the network or the service does."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class SendsManyAtOnce(Protocol):
    """A transport that needs no thread of the caller for each request."""

    def start(self, request: WireRequest, then: Then) -> None:
        """Have one request sent once; returns at once. From any thread.

        `then` is called with what `send` would have given, on a thread of the transport, which others wait for: it
        does little, and raises nothing. A bug of ours may be told at once, on the caller's thread.

        Raises:
            RuntimeError: an earlier bug of ours ended the transport's thread; nothing is sent, and `then` not called.
        """
        ...
