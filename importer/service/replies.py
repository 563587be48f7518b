"""What comes of one request: a Reply whose status was read, or NoReply with the phase in which it failed."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Phase(StrEnum):
    """How far a request came before it failed. Only in CONNECTING is it proven that the service saw nothing of it."""

    CONNECTING = "connecting"  # name not found, refused, connect time-out, TLS refused
    SENDING = "sending"  # some bytes may have left this machine
    WAITING = "waiting"  # all was sent, no status line was read


class Reply(NamedTuple):
    """A status that was read, whatever else was wrong with the answer.

    `message` is the body as one readable line ("" where it says nothing); of a 201 only that its body could not be
    read, since a pool's record carries presigned URLs. `retry_after` is in seconds. `email` is the one that the body
    of a 201 names, as one line; "" where it names none.
    """

    status: int
    message: str = ""
    retry_after: float | None = None
    email: str = ""


class NoReply(NamedTuple):
    """No status was read. `reason` is for a person: `connection refused`, `no answer within 30 s`."""

    reason: str
    phase: Phase

    @property
    def may_have_arrived(self) -> bool:
        return self.phase is not Phase.CONNECTING


HEADERS_THAT_COUNT: Final = ("content-type", "location", "retry-after")


class RawReply(NamedTuple):
    """What the transport hands over: status, headers and the body as far as it could be read.

    headers: of those in `HEADERS_THAT_COUNT` the ones that came, read as UTF-8, with a replacement character for what
    is none. A Location may have been made absolute, and a Retry-After with a date may have become seconds.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    complete: bool
