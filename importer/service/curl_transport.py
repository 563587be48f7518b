"""The transport that pycurl fills, where it is installed: the same promises as with requests, for less CPU.

What libcurl does on its own, and this does not: a request whose kept connection dies before the first byte of an answer
is sent again, a POST too, and the 409 to the second would be told as somebody else's. It would wait at a dripping
answer as long as it drips, and it reads proxies from the environment.
"""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Callable

import certifi
import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service import reasons
from importer.service.replies import NoReply, Phase, RawReply
from importer.service.wire import Limits, WireRequest


class CurlTransport:
    """Sends through libcurl, one line for each request in flight: see `Transport`."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._connections = connections
        self._free: list[_Line] = []  # the one used last is taken first; append and pop of a list need no lock

    def send(self, request: WireRequest, body_limit: int | None = None) -> RawReply | NoReply:
        """Send one request once. Never raises for what the network or the service does."""
        try:
            line = self._free.pop()
        except IndexError:
            line = _Line(self._limits)
        reply = line.send(request, body_limit or self._limits.body)
        if len(self._free) < self._connections:
            self._free.append(line)
        else:
            line.close()
        return reply

    def close(self) -> None:
        while self._free:
            self._free.pop().close()


class _Line:
    """One connection to the service, made when it is needed. For one thread at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._call = _Call(0)
        self._last_used = 0.0
        self._socket = _NONE
        self._multi = _new_multi()
        self._curl = _new_curl(limits)
        self._headers: object = None
        self._curl.setopt(pycurl.PREREQFUNCTION, self._may_send)
        self._curl.setopt(pycurl.WRITEFUNCTION, self._read_body)

    def close(self) -> None:
        self._multi.close()
        self._curl.close()

    def send(self, request: WireRequest, body_limit: int) -> RawReply | NoReply:
        if self._socket != _NONE and (
            time.monotonic() - self._last_used >= self._limits.idle or _has_something_to_read(self._socket)
        ):
            self._multi.close()  # and with it the connection: a reset on it would be ambiguous
            self._multi = _new_multi()
        call = self._call = _Call(body_limit)
        self._prepare(request)
        self._multi.add_handle(self._curl)
        try:
            error = self._transfer(call)
            self._socket = self._curl.getinfo(pycurl.ACTIVESOCKET)
        finally:
            self._multi.remove_handle(self._curl)  # of an answer that is not at its end, this closes the connection
        self._last_used = time.monotonic()
        status = self._curl.getinfo(pycurl.RESPONSE_CODE)
        if status >= 200:  # after an interim answer the true one is still to come
            return RawReply(status, self._told(), b"".join(call.pieces)[:body_limit], error == pycurl.E_OK)
        return NoReply(self._reason(error, call), self._phase(request, call))

    def _prepare(self, request: WireRequest) -> None:
        curl = self._curl
        if request.headers is not self._headers:
            lines = [f"{name}: {value}" for name, value in request.headers.items()]
            # "Expect:" alone says that no such header is sent: it would be a second answer to wait for
            curl.setopt(pycurl.HTTPHEADER, [*lines, "Expect:"])
            self._headers = request.headers
        curl.setopt(pycurl.URL, request.url)
        if request.body is None:
            curl.setopt(pycurl.HTTPGET, 1)
        else:
            curl.setopt(pycurl.POSTFIELDS, request.body)
        curl.setopt(pycurl.CUSTOMREQUEST, request.method)

    def _transfer(self, call: _Call) -> int:
        """Send and read until all is read or a limit has passed; gives libcurl's code of what ended it."""
        multi = self._multi
        while True:
            _, running = multi.perform()
            if not running:
                break
            now = time.monotonic()
            left = self._left(call, now)
            if left <= 0:
                return int(pycurl.E_OPERATION_TIMEDOUT)
            asked = multi.timeout()  # milliseconds; -1: libcurl has nothing to do until something comes
            ready = _wait(multi, left if asked < 0 else min(left, asked / 1000))
            if ready > 0:
                call.heard = time.monotonic()
            elif asked and time.monotonic() - now < _MOMENT:
                time.sleep(_MOMENT)  # there is no socket to wait for yet: the name is being looked up
        _, _, failed = multi.info_read()
        return int(failed[0][1] if failed else pycurl.E_OK)

    def _left(self, call: _Call, now: float) -> float:
        """Seconds until a limit passes. While connecting it is libcurl that keeps the limit."""
        if not call.sent:
            return self._limits.connect
        return min(call.sent + self._limits.answer, call.heard + self._limits.silence) - now

    def _told(self) -> dict[str, str]:
        """The headers that count, as libcurl has read them: had it to call us for each line of the head, a thread would
        have to wait for its turn each time.
        """
        asked = self._curl.getinfo
        found = {
            "content-type": asked(pycurl.CONTENT_TYPE),
            "location": asked(pycurl.REDIRECT_URL),
            "retry-after": asked(pycurl.RETRY_AFTER),
        }
        return {name: str(value) for name, value in found.items() if value}

    def _reason(self, error: int, call: _Call) -> str:
        """What failed, for a person."""
        if error == pycurl.E_COULDNT_CONNECT and not call.sent:
            number = self._curl.getinfo(pycurl.OS_ERRNO)
            return reasons.REFUSED if number == errno.ECONNREFUSED else reasons.OTHER.format(kind=os.strerror(number))
        found = (_WHILE_WAITING if call.sent else _WHILE_CONNECTING).get(error, reasons.OTHER)
        waited = time.monotonic() - call.began
        return found.format(connect=self._limits.connect, waited=waited, kind=f"curl {error}")

    def _phase(self, request: WireRequest, call: _Call) -> Phase:
        if not call.sent:
            return Phase.CONNECTING
        whole = self._curl.getinfo(pycurl.SIZE_UPLOAD_T) >= len(request.body or b"")
        return Phase.WAITING if whole and self._curl.getinfo(pycurl.REQUEST_SIZE) else Phase.SENDING

    # --- what libcurl calls; an exception here would be printed and lost, so there is nothing that raises ---

    def _may_send(self, *_: object) -> int:
        """Asked on each connection before the first byte leaves on it: here a request is let go, once."""
        if self._call.sent:
            return int(pycurl.PREREQFUNC_ABORT)
        self._call.sent = self._call.heard = time.monotonic()
        return int(pycurl.PREREQFUNC_OK)

    def _read_body(self, piece: bytes) -> int:
        return self._call.read_body(piece)


class _Call:
    """How far one request has come, and what was read of its answer. Times are of the monotonic clock."""

    __slots__ = ("_limit", "_size", "began", "heard", "pieces", "sent")

    def __init__(self, limit: int) -> None:
        self.began = time.monotonic()
        self.sent = 0.0  # when the first byte was let go; 0: nothing has left this machine
        self.heard = 0.0
        self.pieces: list[bytes] = []
        self._limit = limit
        self._size = 0

    def read_body(self, piece: bytes) -> int:
        """How much of the piece was taken; anything but all of it ends the transfer."""
        self.pieces.append(piece)
        self._size += len(piece)
        return len(piece) if self._size <= self._limit else 0


def _wait(multi: pycurl.CurlMulti, seconds: float) -> int:
    """Until something can be read or sent; how many sockets can."""
    try:
        return int(multi.select(seconds))
    except InterruptedError:
        return 0  # a signal came, and Python has seen to it


def _has_something_to_read(number: int) -> bool:
    """Nothing is to come on a connection that waits for a request: what does is its end. libcurl would look for it only
    where the connection has waited for a second.
    """
    if hasattr(select, "poll"):  # it knows no largest number of a socket, but Windows does not know it
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([number], [], [], 0)[0])


_NONE = -1  # how libcurl says that there is no socket
_MOMENT = 0.002  # seconds

_TLS = dict.fromkeys(
    (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
    ),
    reasons.TLS_REFUSED,
)

_WHILE_CONNECTING: dict[int, str] = {
    pycurl.E_COULDNT_RESOLVE_HOST: reasons.NAME_UNKNOWN,
    pycurl.E_OPERATION_TIMEDOUT: reasons.NO_CONNECTION,
    **_TLS,
}

_WHILE_WAITING: dict[int, str] = {
    pycurl.E_OPERATION_TIMEDOUT: reasons.NO_ANSWER,
    pycurl.E_GOT_NOTHING: reasons.CLOSED,
    # libcurl was about to send again, on another connection, or could not even make that one
    pycurl.E_ABORTED_BY_CALLBACK: reasons.CLOSED,
    pycurl.E_COULDNT_RESOLVE_HOST: reasons.CLOSED,
    pycurl.E_COULDNT_CONNECT: reasons.CLOSED,
    **dict.fromkeys(_TLS, reasons.CLOSED),
    pycurl.E_SEND_ERROR: reasons.RESET,
    pycurl.E_RECV_ERROR: reasons.RESET,
    pycurl.E_UNSUPPORTED_PROTOCOL: reasons.NOT_HTTP,  # HTTP/0.9: no status line at all
    pycurl.E_FTP_WEIRD_SERVER_REPLY: reasons.NOT_HTTP,
}


def _new_multi() -> pycurl.CurlMulti:
    multi = pycurl.CurlMulti()
    multi.setopt(pycurl.M_MAXCONNECTS, 1)
    return multi


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
