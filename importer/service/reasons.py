"""What failed, in words for a person: the same ones whatever carries the requests."""

from __future__ import annotations

NAME_UNKNOWN = "the name of the service is not known to the network"
REFUSED = "the connection was refused"
NO_CONNECTION = "no connection within {connect:g} s"
TLS_REFUSED = "the TLS certificate or handshake was refused"
NO_ANSWER = "no answer within {waited:.0f} s"
CLOSED = "the connection was closed without an answer"
RESET = "the connection was reset"
NOT_HTTP = "the answer was not HTTP"
EARLIER = "what came was a second response to an earlier request"
OTHER = "the connection failed ({kind})"
