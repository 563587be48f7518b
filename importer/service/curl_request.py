"""One request over libcurl: how it is made, what came of it, in which words it failed, and who may carry the next.

What libcurl does on its own, and this does not: a request whose kept connection dies before the first byte of an answer
is sent again, a POST too, and the 409 to the second would be reported as somebody else's. It would wait at a dripping
answer as long as it drips, and it reads proxies from the environment.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import sys
import time
from collections.abc import Callable
from typing import Final

import certifi
import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service.transport_api import Limits, NoReply, Phase, RawReply, Reason, Request

ConnectionKey = tuple[str, int, str, int]
"""How libcurl names a connection: by its two addresses, the service's, then ours, each with its port."""

NONE: Final = -1  # how libcurl says that there is no socket, or that it has nothing to wait for
_RECEIVED_AT: Final = 128  # where Linux counts what has come on a connection, in struct tcp_info


def new_selector() -> selectors.BaseSelector:
    """One that is changed without a call to the system, as it is twice for each request; Windows has no other."""
    return selectors.PollSelector() if sys.platform != "win32" else selectors.SelectSelector()


class KeptConnections:
    """Which connections wait for a request, by their addresses, and whether they may be used for one.

    One that has idled past the service's patience, or on which something has come, is not: a reset on it would be
    ambiguous, and what has come may be a second answer to the request before, which would be taken for the answer to
    the next one. libcurl would look only where a connection has waited for a second.

    Where a connection is encrypted, a second answer may lie in the TLS library already, where we cannot look. Then the
    next request is "answered" though nothing came after it had left.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[ConnectionKey, tuple[int, float]] = {}  # the socket's number, and since when
        self._busy: set[ConnectionKey] = set()
        self._taken: dict[ConnectionKey, tuple[int, int]] = {}  # encrypted: the socket, and bytes until then
        self._active: set[int] = set()  # of their sockets those on which something came since

    def keep(self, key: ConnectionKey | None, number: int, *, may_be_used: bool) -> None:
        """The request that was on it is over. `number`: its socket's; there is none where it was closed."""
        if key is None:
            return
        self._busy.discard(key)
        if number != NONE:
            self._waiting[key] = (number, time.monotonic() if may_be_used else float("-inf"))

    def take(self, key: ConnectionKey, *, is_encrypted: bool) -> bool:
        """Whether the connection may be used: one that was not kept is new."""
        if key in self._busy:  # the request that was on it is done, and libcurl has not told us yet
            return False
        self._busy.add(key)
        waiting = self._waiting.pop(key, None)
        if waiting is None:
            return True
        number, since = waiting
        if time.monotonic() - since >= self._limits.idle or _has_something_to_read(number):
            self._busy.discard(key)
            return False
        if is_encrypted and sys.platform == "linux":
            self._taken[key] = (number, _bytes_received(number))
            self._active.discard(number)
        return True

    def note_activity(self, number: int) -> None:
        """Something has come on that socket."""
        self._active.add(number)

    def answer_came_before(self, key: ConnectionKey | None) -> bool:
        """Whether what was read on an encrypted connection since it was taken had come before that.

        A quick answer may be read without a wait, too, but then the count of bytes has grown and none are left.
        """
        number, before = self._taken.pop(key, (NONE, 0)) if key is not None else (NONE, 0)
        if number == NONE or number in self._active:
            return False
        return _bytes_received(number) <= before or _has_something_to_read(number)


def _has_something_to_read(number: int) -> bool:
    """Nothing is to come on a connection that waits for a request: what does is its end."""
    with new_selector() as look:
        try:
            look.register(number, selectors.EVENT_READ)
            return bool(look.select(0))
        except (OSError, ValueError):
            return True


def _bytes_received(number: int) -> int:
    """By the system's count, on that socket; 0 where it does not count."""
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=number)
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED_AT + 8)
    except OSError:  # libcurl has closed it
        return 0
    finally:
        connection.detach()
    return int.from_bytes(info[_RECEIVED_AT:], sys.byteorder)


class CurlHandle:
    """A handle of libcurl, for one request after the other.

    kept: says before the first byte leaves on a connection whether that may be used; else it is closed.
    Times are of the monotonic clock.
    """

    def __init__(self, limits: Limits, kept: KeptConnections) -> None:
        self.curl = _new_curl(limits)
        self.sent = 0.0  # when the first byte was allowed to leave; 0: nothing has left this machine
        self.key: ConnectionKey | None = None  # of the connection that it left on
        self._limits = limits
        self._kept = kept
        self._headers: object = None
        self._target: object = None  # what goes where
        self._began = 0.0
        self._was_refused = False
        self._is_encrypted = False
        self._pieces: list[bytes] = []
        self._size = 0
        self._most = 0
        self._body = 0
        self.curl.setopt(pycurl.PREREQFUNCTION, self._may_send)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._read_body)

    def close(self) -> None:
        self.curl.close()

    def prepare(self, request: Request) -> None:
        """Make ready for a request, and forget the one before."""
        self._began, self.sent, self.key = time.monotonic(), 0.0, None
        self._pieces, self._size, self._most = [], 0, request.body_limit or self._limits.body
        self._body = len(request.body or b"")
        curl = self.curl
        if request.headers is not self._headers:
            lines = [f"{name}: {value}" for name, value in request.headers.items()]
            # "Expect:" alone says that no such header is sent: it would be a second answer to wait for
            curl.setopt(pycurl.HTTPHEADER, [*lines, "Expect:"])
            self._headers = request.headers
        if request.body is not None:
            curl.setopt(pycurl.POSTFIELDS, request.body)
        target = (request.method, request.url, request.body is None)
        if target != self._target:
            curl.setopt(pycurl.URL, request.url)
            if request.body is None:
                curl.setopt(pycurl.HTTPGET, 1)
            curl.setopt(pycurl.CUSTOMREQUEST, request.method)
            self._is_encrypted = request.url.startswith("https:")
            # Other systems do not count what comes on a connection: see KeptConnections
            curl.setopt(pycurl.FORBID_REUSE, self._is_encrypted and sys.platform != "linux")
            self._target = target

    def needs_another_connection(self, error: int) -> bool:
        """Whether nothing was sent only because the connection could not be used: then another one is taken."""
        was_refused, self._was_refused = self._was_refused, False
        return was_refused and not self.sent and error == pycurl.E_ABORTED_BY_CALLBACK

    def overdue_at(self, last_activity: float) -> float:
        """When a limit passes, where the last bytes came at `last_activity`. While connecting, libcurl looks itself."""
        limits = self._limits
        if not self.sent:
            return float("inf")
        return min(self.sent + limits.total, max(last_activity, self.sent) + limits.read)

    def outcome(self, error: int) -> RawReply | NoReply:
        """What came of the request; `error` is libcurl's code of what ended it."""
        status = self.curl.getinfo(pycurl.RESPONSE_CODE)
        if status >= 200:  # after an interim answer the true one is still to come
            return RawReply(
                status, self._relevant_headers(), b"".join(self._pieces)[: self._most], error == pycurl.E_OK
            )
        return NoReply(self._reason(error), self._phase())

    def _relevant_headers(self) -> dict[str, str]:
        """As libcurl has read them. A call from libcurl for each line of the head would wait for its turn each time."""
        asked = self.curl.getinfo_raw  # bytes: a header may hold any
        found = {
            "content-type": (asked(pycurl.CONTENT_TYPE) or b"").decode("utf-8", "replace"),
            "location": (asked(pycurl.REDIRECT_URL) or b"").decode("utf-8", "replace"),
            "retry-after": str(asked(pycurl.RETRY_AFTER) or ""),
        }
        return {name: value for name, value in found.items() if value}

    def _reason(self, error: int) -> str:
        """What failed, for a person."""
        if error == pycurl.E_COULDNT_CONNECT and not self.sent:
            number = self.curl.getinfo(pycurl.OS_ERRNO)
            return Reason.REFUSED if number == errno.ECONNREFUSED else Reason.OTHER.format(kind=os.strerror(number))
        found = (_WHILE_WAITING if self.sent else _WHILE_CONNECTING).get(error, Reason.OTHER)
        waited = time.monotonic() - self._began
        return found.format(connect=self._limits.connect, waited=waited, kind=f"curl {error}")

    def _phase(self) -> Phase:
        if not self.sent:
            return Phase.CONNECTING
        whole = self.curl.getinfo(pycurl.SIZE_UPLOAD_T) >= self._body
        return Phase.WAITING if whole and self.curl.getinfo(pycurl.REQUEST_SIZE) else Phase.SENDING

    # --- what libcurl calls; an exception here would be printed and lost, so there is nothing that raises ---

    def _may_send(self, remote: str, local: str, remote_port: int, local_port: int) -> int:
        """Asked on each connection before the first byte leaves on it: a request is allowed to leave once."""
        if self.sent:
            return int(pycurl.PREREQFUNC_ABORT)
        key = (remote, remote_port, local, local_port)
        if not self._kept.take(key, is_encrypted=self._is_encrypted):
            self._was_refused = True
            return int(pycurl.PREREQFUNC_ABORT)
        self.key = key
        self.sent = time.monotonic()
        return int(pycurl.PREREQFUNC_OK)

    def _read_body(self, piece: bytes) -> int:
        """How much of the piece was taken; anything but all of it ends the transfer."""
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece) if self._size <= self._most else 0


_TLS = dict.fromkeys(
    (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
    ),
    Reason.TLS_REFUSED,
)

_WHILE_CONNECTING: dict[int, str] = {
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.NAME_UNKNOWN,
    pycurl.E_OPERATION_TIMEDOUT: Reason.NO_CONNECTION,
    **_TLS,
}

_WHILE_WAITING: dict[int, str] = {
    pycurl.E_OPERATION_TIMEDOUT: Reason.NO_ANSWER,
    pycurl.E_GOT_NOTHING: Reason.CLOSED,
    # libcurl was about to send again, on another connection, or could not even make that one
    pycurl.E_ABORTED_BY_CALLBACK: Reason.CLOSED,
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.CLOSED,
    pycurl.E_COULDNT_CONNECT: Reason.CLOSED,
    **dict.fromkeys(_TLS, Reason.CLOSED),
    pycurl.E_SEND_ERROR: Reason.RESET,
    pycurl.E_RECV_ERROR: Reason.RESET,
    pycurl.E_UNSUPPORTED_PROTOCOL: Reason.NOT_HTTP,  # HTTP/0.9: no status line at all
    pycurl.E_FTP_WEIRD_SERVER_REPLY: Reason.NOT_HTTP,
}


def _new_curl(limits: Limits) -> pycurl.Curl:
    curl = pycurl.Curl()
    set_to: Callable[[int, object], None] = curl.setopt
    set_to(pycurl.NOSIGNAL, 1)
    set_to(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
    set_to(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    set_to(pycurl.FOLLOWLOCATION, 0)
    set_to(pycurl.PROXY, "")
    set_to(pycurl.NOPROXY, "*")
    set_to(pycurl.NETRC, pycurl.NETRC_IGNORED)
    set_to(pycurl.CAINFO, certifi.where())  # what requests trusts too
    set_to(pycurl.SSL_VERIFYPEER, 1)
    set_to(pycurl.SSL_VERIFYHOST, 2)
    set_to(pycurl.PATH_AS_IS, 1)
    # What comes encoded though nobody asked is decoded; what is asked for stands in our own headers
    set_to(pycurl.ACCEPT_ENCODING, "gzip, deflate")
    set_to(pycurl.CONNECTTIMEOUT_MS, max(1, round(limits.connect * 1000)))
    return curl
