"""One request with libcurl: its setup, its result, the reason of a failure, and which connection it may use.

libcurl's own behavior that is disabled here: it repeats a request, even a POST, if a reused connection closes before
the first byte of a response, and the 409 to the second one would look like an existing candidate. It waits without
limit for a response that arrives slowly, and it reads proxies from the environment.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import ssl
import sys
import time
from collections.abc import Callable
from typing import Final

import certifi
import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service.transport_api import Limits, NoReply, Phase, RawReply, Reason, Request

ConnectionKey = tuple[str, int, str, int]
"""A connection in libcurl: the address and port of the service, then ours."""

NONE: Final = -1  # libcurl's value for "no socket" and "no timer"
_RECEIVED_AT: Final = 128  # offset of the count of received bytes in Linux' struct tcp_info


def new_selector() -> selectors.BaseSelector:
    """A selector that is changed without a system call, since it changes twice per request."""
    return selectors.PollSelector() if sys.platform != "win32" else selectors.SelectSelector()


class KeptConnections:
    """The idle connections, by their addresses, and whether they may be used for a request.

    A connection is not used if it was idle for too long, since a reset on it would be ambiguous, or if data has arrived
    on it, since that may be a second response to the previous request and would be read as the response to the next
    one. libcurl itself checks only connections that were idle for a second.

    On an encrypted connection, a second response may be buffered in the TLS library, where it cannot be seen. Then the
    next request gets a response although no data arrived after it was sent.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[ConnectionKey, tuple[int, float]] = {}  # socket number, and idle since when
        self._busy: set[ConnectionKey] = set()
        self._taken: dict[ConnectionKey, tuple[int, int]] = {}  # encrypted: socket, and bytes received before
        self._active: set[int] = set()  # those of their sockets on which data arrived since

    def keep(self, key: ConnectionKey | None, number: int, *, may_be_used: bool) -> None:
        """The request on the connection is done. `number`: its socket, NONE if it was closed."""
        if key is None:
            return
        self._busy.discard(key)
        if number != NONE:
            self._waiting[key] = (number, time.monotonic() if may_be_used else float("-inf"))

    def take(self, key: ConnectionKey, *, is_encrypted: bool) -> bool:
        """Whether the connection may be used; one that is not known is new."""
        if key in self._busy:  # its request is done, but libcurl has not reported that yet
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
        """Data has arrived on that socket."""
        self._active.add(number)

    def answer_came_before(self, key: ConnectionKey | None) -> bool:
        """Whether the response on an encrypted connection had arrived before the request was sent.

        A fast response may also be read without waiting, but then the count of bytes has grown and none are left.
        """
        number, before = self._taken.pop(key, (NONE, 0)) if key is not None else (NONE, 0)
        if number == NONE or number in self._active:
            return False
        return _bytes_received(number) <= before or _has_something_to_read(number)


def _has_something_to_read(number: int) -> bool:
    """Whether data has arrived on an idle connection, or it was closed."""
    with new_selector() as look:
        try:
            look.register(number, selectors.EVENT_READ)
            return bool(look.select(0))
        except (OSError, ValueError):
            return True


def _bytes_received(number: int) -> int:
    """The number of bytes received on that socket; 0 if unknown."""
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=number)
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED_AT + 8)
    except OSError:  # libcurl has closed it
        return 0
    finally:
        connection.detach()
    return int.from_bytes(info[_RECEIVED_AT:], sys.byteorder)


class CurlHandle:
    """A libcurl handle, used for one request at a time.

    kept: decides before the first byte is sent whether a connection may be used; otherwise it is closed.
    Times in seconds on the monotonic clock.
    """

    def __init__(self, limits: Limits, kept: KeptConnections) -> None:
        self.curl = _new_curl(limits)
        self.sent = 0.0  # when sending was allowed; 0: nothing was sent
        self.key: ConnectionKey | None = None  # of the connection it was sent on
        self._limits = limits
        self._kept = kept
        self._headers: object = None
        self._target: object = None  # method, URL, and whether there is a body
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
        """Set up the next request."""
        self._began, self.sent, self.key = time.monotonic(), 0.0, None
        self._pieces, self._size, self._most = [], 0, request.body_limit or self._limits.body
        self._body = len(request.body or b"")
        curl = self.curl
        if request.headers is not self._headers:
            lines = [f"{name}: {value}" for name, value in request.headers.items()]
            # An empty "Expect:" disables the header, which would require waiting for an interim response
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
            # Only Linux counts received bytes: see KeptConnections
            curl.setopt(pycurl.FORBID_REUSE, self._is_encrypted and sys.platform != "linux")
            self._target = target

    def needs_another_connection(self, error: int) -> bool:
        """Whether nothing was sent because the connection could not be used; then another one is tried."""
        was_refused, self._was_refused = self._was_refused, False
        return was_refused and not self.sent and error == pycurl.E_ABORTED_BY_CALLBACK

    def overdue_at(self, last_activity: float) -> float:
        """When a time limit expires, by the time of the last received bytes. libcurl itself limits connecting."""
        limits = self._limits
        if not self.sent:
            return float("inf")
        return min(self.sent + limits.total, max(last_activity, self.sent) + limits.read)

    def outcome(self, error: int) -> RawReply | NoReply:
        """The result of the request; `error`: libcurl's result code."""
        status = self.curl.getinfo(pycurl.RESPONSE_CODE)
        if status >= 200:  # below 200: only an interim response
            return RawReply(
                status, self._relevant_headers(), b"".join(self._pieces)[: self._most], error == pycurl.E_OK
            )
        return NoReply(self._reason(error), self._phase())

    def _relevant_headers(self) -> dict[str, str]:
        """As parsed by libcurl: a callback for each header line would be slower."""
        asked = self.curl.getinfo_raw  # bytes: a header may not be UTF-8
        found = {
            "content-type": (asked(pycurl.CONTENT_TYPE) or b"").decode("utf-8", "replace"),
            "location": (asked(pycurl.REDIRECT_URL) or b"").decode("utf-8", "replace"),
            "retry-after": str(asked(pycurl.RETRY_AFTER) or ""),
        }
        return {name: value for name, value in found.items() if value}

    def _reason(self, error: int) -> str:
        """What failed, for a person."""
        if self._limits.proxy and not self.sent and error not in _TLS:
            return Reason.PROXY
        if error == pycurl.E_COULDNT_CONNECT and not self.sent:
            number = self.curl.getinfo(pycurl.OS_ERRNO)
            return Reason.REFUSED if number == errno.ECONNREFUSED else Reason.OTHER.format(kind=os.strerror(number))
        found = (_WHILE_WAITING if self.sent else _WHILE_CONNECTING).get(error, Reason.OTHER)
        limit = self._limits.reached(time.monotonic() - self._began)
        return found.format(connect=self._limits.connect, limit=limit, kind=f"curl {error}")

    def _phase(self) -> Phase:
        if not self.sent:
            return Phase.CONNECTING
        whole = self.curl.getinfo(pycurl.SIZE_UPLOAD_T) >= self._body
        return Phase.WAITING if whole and self.curl.getinfo(pycurl.REQUEST_SIZE) else Phase.SENDING

    # --- called by libcurl; must not raise, since libcurl would print the exception and lose it ---

    def _may_send(self, remote: str, local: str, remote_port: int, local_port: int) -> int:
        """Called before the first byte is sent on a connection: allows a request to be sent only once."""
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
        """Returns how much was read; less than the piece ends the transfer."""
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
    # libcurl wanted to repeat the request on another connection, or could not open one
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
    set_to(pycurl.PROXY, limits.proxy)
    set_to(pycurl.NOPROXY, "" if limits.proxy else "*")
    set_to(pycurl.NETRC, pycurl.NETRC_IGNORED)
    # libcurl reads one file; that of the system has the certificates of an organization too
    set_to(pycurl.CAINFO, str(limits.ca_file or ssl.get_default_verify_paths().cafile or certifi.where()))
    set_to(pycurl.SSL_VERIFYPEER, 1)
    set_to(pycurl.SSL_VERIFYHOST, 2)
    set_to(pycurl.PATH_AS_IS, 1)
    # To decode responses that are encoded anyway; our own headers request no encoding
    set_to(pycurl.ACCEPT_ENCODING, "gzip, deflate")
    set_to(pycurl.CONNECTTIMEOUT_MS, max(1, round(limits.connect * 1000)))
    return curl
