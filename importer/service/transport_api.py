"""The border to the network: one request goes out, one raw answer comes back, whatever carries it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, and bytes for the body. `total` is the deadline over the whole answer, from the moment of sending."""

    connect: float = 10.0
    read: float = 30.0  # between two pieces of an answer
    total: float = 60.0
    body: int = 256 * 1024
    idle: float = 20.0  # a connection unused for longer is not used again: a reset on it would be ambiguous


class Request(NamedTuple):
    """One request as it goes out; the transport adds what HTTP itself asks for, such as the length of the body.

    body_limit: bytes of the answer's body that are read at most; None: those of the transport's limits.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    body_limit: int | None = None


class Phase(StrEnum):
    """How far a request came before it failed. Only in CONNECTING is it proven that the service saw nothing of it."""

    CONNECTING = "connecting"  # name not found, refused, connect time-out, TLS refused
    SENDING = "sending"  # some bytes may have left this machine
    WAITING = "waiting"  # all was sent, no status line was read


RELEVANT_HEADERS: Final = ("content-type", "location", "retry-after")


class RawReply(NamedTuple):
    """A status that was read, the headers that count, and the body as far as it could be read.

    headers: of those in `RELEVANT_HEADERS` the ones that came, read as UTF-8, with a replacement character for what
    is none. A Location may have been made absolute, and a Retry-After with a date may have become seconds.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    complete: bool


class NoReply(NamedTuple):
    """No status was read. `reason` is for a person: `connection refused`, `no answer within 30 s`."""

    reason: str
    phase: Phase

    @property
    def may_have_arrived(self) -> bool:
        return self.phase is not Phase.CONNECTING


class Reason(StrEnum):
    """What failed, in words for a person: the same ones for each transport."""

    NAME_UNKNOWN = "the host name of the service cannot be resolved"
    REFUSED = "the connection was refused"
    NO_CONNECTION = "no connection within {connect:g} s"
    TLS_REFUSED = "the TLS handshake failed or the certificate is not valid"
    NO_ANSWER = "no response within {waited:.0f} s"
    CLOSED = "the connection was closed without a response"
    RESET = "the connection was reset"
    NOT_HTTP = "the response was not HTTP"
    EARLIER = "received a second response to an earlier request"
    OTHER = "the connection failed ({kind})"


OnDone = Callable[[RawReply | NoReply | BaseException], None]
"""What is called with the answer to a request, or with a bug of ours that leaves it open whether there was one."""


class Transport(Protocol):
    """Sends many requests at the same time over kept connections.

    Nothing is followed, nothing is read from the environment, nothing is tried again, and one deadline stands over the
    whole answer.
    """

    def start(self, request: Request, on_done: OnDone) -> None:
        """Have one request sent once; returns at once. From any thread.

        `on_done` is called on a thread of the transport, which others wait for: it does little, and raises nothing.
        What the network or the service does is a NoReply or a RawReply, and no exception. A bug of ours may be
        reported at once, on the caller's thread.

        Raises:
            RuntimeError: an earlier bug of ours ended the transport's thread; nothing is sent, `on_done` is not called.
        """
        ...

    def close(self) -> None:
        """Wait for nothing that is under way."""
        ...


def send(transport: Transport, request: Request) -> RawReply | NoReply:
    """Send one request once, and wait for its answer."""
    found: list[RawReply | NoReply | BaseException] = []
    is_done = threading.Event()

    def on_done(answer: RawReply | NoReply | BaseException) -> None:
        found.append(answer)
        is_done.set()

    transport.start(request, on_done)
    while not is_done.wait(1.0):  # in short waits: on Windows no signal ends a long one
        pass
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]
