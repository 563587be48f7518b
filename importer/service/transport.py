"""What every transport does: one request, one raw response, or what failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds, and bytes for the body. `total`: the deadline for the whole response, from the start of sending.

    idle: a connection that was not used for so long is not used again, since a reset on it would be ambiguous.
    proxy: http://[USER:PASSWORD@]HOST:PORT, "": none. ca_file: the only certificates that are trusted.
    """

    connect: float = 10.0
    read: float = 30.0  # between two pieces of a response
    total: float = 60.0
    body: int = 256 * 1024
    idle: float = 4.0
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
    """No status was received. `reason` is for a person: `the connection was refused`. `hint`: what to do, if known.

    may_have_arrived: False only if nothing of its body left this machine: name not found, refused, connect time-out,
    TLS refused.
    """

    reason: str
    may_have_arrived: bool
    hint: str = ""


class Failure(StrEnum):
    """What failed, for a person; the same texts for each transport."""

    NAME_UNKNOWN = "the host name of the service cannot be resolved"
    REFUSED = "the connection was refused"
    NO_CONNECTION = "no connection within {connect:g} s"
    TLS_REFUSED = "the TLS handshake failed or the certificate is not valid"
    PROXY = "the proxy (IMPORTER_PROXY) cannot be reached, or refused to connect to the service"
    NO_ANSWER = "no response within {limit:g} s"
    LOST = "the connection ended before a response in HTTP"
    OTHER = "the connection failed ({kind})"


class Transport(Protocol):
    """Sends requests over kept connections.

    No redirect is followed, nothing is read from the environment, nothing is retried, one deadline covers the whole
    response, and a connection on which anything has arrived since the last response is not used again.
    """

    def send(self, request: Request) -> RawReply | NoReply:
        """Send one request once, and wait for its response. Errors of network and service are values."""
        ...

    def close(self) -> None: ...
