"""The interface to the network: one request, one raw response, whatever the HTTP library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, and bytes for the body. `total`: the deadline for the whole response, from the start of sending.

    proxy: http://[USER:PASSWORD@]HOST:PORT, "": none. ca_file: the only certificates that are trusted.
    """

    connect: float = 10.0
    read: float = 30.0  # between two pieces of a response
    total: float = 60.0
    body: int = 256 * 1024
    idle: float = 20.0  # after that a connection is not reused: a reset on it would be ambiguous
    proxy: str = field(default="", repr=False)
    ca_file: Path | None = None

    def reached(self, waited: float) -> float:
        """The limit that ended a wait of so many seconds: the same for every such request, unlike the measured time."""
        return self.total if waited >= self.total else self.read


class Request(NamedTuple):
    """One request; the transport adds what HTTP requires, such as the length of the body.

    body_limit: the maximum of bytes to read from the response body; None: the transport's limit.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    body_limit: int | None = None


class Phase(StrEnum):
    """How far a request got before it failed. Only CONNECTING proves that the service did not receive it."""

    CONNECTING = "connecting"  # name not found, refused, connect time-out, TLS refused
    SENDING = "sending"  # some bytes may have left this machine
    WAITING = "waiting"  # all was sent, no status was received


RELEVANT_HEADERS: Final = ("content-type", "location", "retry-after")


class RawReply(NamedTuple):
    """A status, the relevant headers, and as much of the body as could be read.

    headers: those of `RELEVANT_HEADERS` that were received, decoded as UTF-8 with replacement characters. A Location
    may have been made absolute, and a Retry-After date may have been converted to seconds.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    complete: bool


class NoReply(NamedTuple):
    """No status was received. `reason` is for a person: `the connection was reset`. `hint`: what to do, if known."""

    reason: str
    phase: Phase
    hint: str = ""

    @property
    def may_have_arrived(self) -> bool:
        return self.phase is not Phase.CONNECTING


class Reason(StrEnum):
    """What failed, for a person; the same texts for each transport."""

    NAME_UNKNOWN = "the host name of the service cannot be resolved"
    REFUSED = "the connection was refused"
    NO_CONNECTION = "no connection within {connect:g} s"
    TLS_REFUSED = "the TLS handshake failed or the certificate is not valid"
    PROXY = "the proxy (IMPORTER_PROXY) cannot be reached, or refused to connect to the service"
    NO_ANSWER = "no response within {limit:g} s"
    CLOSED = "the connection was closed without a response"
    RESET = "the connection was reset"
    NOT_HTTP = "the response was not HTTP"
    EARLIER = "received a second response to an earlier request"
    OTHER = "the connection failed ({kind})"


OnDone = Callable[[RawReply | NoReply | BaseException], None]
"""Called with the response to a request, or with a bug of ours, after which the response is unknown."""


class Transport(Protocol):
    """Sends many requests at the same time over kept connections.

    No redirect is followed, nothing is read from the environment, nothing is retried, and one deadline covers the whole
    response.
    """

    def start(self, request: Request, on_done: OnDone) -> None:
        """Send one request once; returns at once. Thread-safe.

        `on_done` is called on a shared thread of the transport: it must be quick and must not raise. Network and
        service errors are a NoReply or a RawReply, not exceptions. A bug of ours may be reported at once, on the
        caller's thread.

        Raises:
            RuntimeError: an earlier bug of ours ended the transport's thread; nothing is sent, `on_done` is not called.
        """
        ...

    def close(self) -> None:
        """Close without waiting for active requests."""
        ...


def send(transport: Transport, request: Request) -> RawReply | NoReply:
    """Send one request once and wait for its response."""
    found: list[RawReply | NoReply | BaseException] = []
    is_done = threading.Event()

    def on_done(answer: RawReply | NoReply | BaseException) -> None:
        found.append(answer)
        is_done.set()

    transport.start(request, on_done)
    while not is_done.wait(1.0):  # short waits, since signals do not interrupt a wait on Windows
        pass
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]
