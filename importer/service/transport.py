"""The transport that requests fills: sends one request, gives status, headers and capped body, or where it failed.

What requests does on its own, and this does not (all measured): it follows a redirect of a POST as a GET and calls it
success; it takes a password from ~/.netrc in place of our token; it hands the token to a proxy named in the
environment; it holds a dripping answer far beyond its time-out; a broken body loses the status. Here nothing is
followed, nothing is read from the environment, nothing is tried again, and one deadline stands over the whole answer.
"""

from __future__ import annotations

import http
import http.client
import io
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import Any, ClassVar

import certifi
import requests
import urllib3
import urllib3.util
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from importer.service import reasons
from importer.service.replies import HEADERS_THAT_COUNT, NoReply, Phase, RawReply
from importer.service.timed_socket import timed_by_kernel
from importer.service.wire import Limits, WireRequest


class RequestsTransport:
    """Sends through the adapter of requests, without a session: see `Transport`."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._adapter = _DeadlineAdapter(pool_connections=1, pool_maxsize=connections, max_retries=0)

    def send(self, request: WireRequest, body_limit: int | None = None) -> RawReply | NoReply:
        """Send one request once. Never raises for what the network or the service does."""
        limits = self._limits
        call = _CALL.begin(limits)
        try:
            response = self._adapter.send(
                _prepared(request), stream=True, timeout=(limits.connect, limits.silence), verify=True, proxies=None
            )
        except (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
            return NoReply(_reason(error, call), call.phase)
        try:
            body, complete = _read_body(response, body_limit or limits.body)
        finally:
            response.close() if not _reusable(response) else response.raw.release_conn()
        came = response.raw.headers
        # http.client reads all bytes as Latin-1
        headers = {
            name: came.getlist(name)[-1].encode("latin-1").decode("utf-8", "replace")
            for name in HEADERS_THAT_COUNT
            if name in came
        }
        return RawReply(response.status_code, headers, body, complete)

    def close(self) -> None:
        self._adapter.close()


def _prepared(request: WireRequest) -> requests.PreparedRequest:
    """The request as requests would prepare it, without its looking for passwords, cookies and codecs each time."""
    prepared = requests.PreparedRequest()
    prepared.method = request.method
    prepared.url = request.url
    prepared.body = request.body
    # A plain dict: nobody looks a name up in other letters, and the one that requests has is made letter by letter.
    headers: Any = dict(request.headers)
    if request.body is not None:
        headers["Content-Length"] = str(len(request.body))
    prepared.headers = headers
    return prepared


def _read_body(response: requests.Response, limit: int) -> tuple[bytes, bool]:
    """The body up to the limit, and whether it is whole. A body that breaks off does not lose the status."""
    pieces: list[bytes] = []
    size = 0
    try:
        while size <= limit:
            piece = response.raw.read1(65536, decode_content=True)
            if not piece:
                return b"".join(pieces), True
            pieces.append(piece)
            size += len(piece)
    except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError):
        pass
    return b"".join(pieces)[:limit], False


def _reusable(response: requests.Response) -> bool:
    """Whether the answer was read to its end, so that the next one on this connection is not its rest."""
    original = getattr(response.raw, "_original_response", None)
    return original is None or bool(original.isclosed())


def _reason(error: BaseException, call: _Call) -> str:
    """What failed, for a person, without addresses of objects or nested names of classes."""
    seen: BaseException | None = error
    chain: list[BaseException] = []
    while seen is not None and len(chain) < 8:
        chain.append(seen)
        inner = getattr(seen, "reason", None) or (seen.args[0] if seen.args else None)
        seen = inner if isinstance(inner, BaseException) else seen.__cause__ or seen.__context__
    for kind, text in _REASONS:
        if any(isinstance(link, kind) for link in chain):
            return text.format(connect=call.limits.connect, waited=time.monotonic() - call.began)
    return reasons.OTHER.format(kind=type(chain[-1]).__name__)


# In this order: a foreign error is wrapped in others, and some are children of a less telling one.
_REASONS: list[tuple[type[BaseException], str]] = [
    (urllib3.exceptions.NameResolutionError, reasons.NAME_UNKNOWN),
    (socket.gaierror, reasons.NAME_UNKNOWN),
    (ConnectionRefusedError, reasons.REFUSED),
    (urllib3.exceptions.ConnectTimeoutError, reasons.NO_CONNECTION),
    (requests.exceptions.SSLError, reasons.TLS_REFUSED),
    (urllib3.exceptions.SSLError, reasons.TLS_REFUSED),
    (urllib3.exceptions.ReadTimeoutError, reasons.NO_ANSWER),
    (TimeoutError, reasons.NO_ANSWER),
    (http.client.RemoteDisconnected, reasons.CLOSED),  # before its parent, the reset
    (ConnectionResetError, reasons.RESET),
    (BrokenPipeError, reasons.RESET),
    (http.client.HTTPException, reasons.NOT_HTTP),
]


# --- one deadline over headers and body, and the phase of a call ---------------------------------


class _Call:
    """How far the call of this thread has come."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.phase = Phase.CONNECTING
        self.began = time.monotonic()


class _CurrentCall(threading.local):
    """The call that this thread is in: urllib3 gives its connections no other way to hear of it."""

    call: _Call = _Call(Limits())

    def begin(self, limits: Limits) -> _Call:
        self.call = _Call(limits)
        return self.call


_CALL = _CurrentCall()


class _DeadlineReader(io.RawIOBase):
    """Reads a socket, each time no longer than what is left of the deadline. No more, once `is_over`."""

    is_over = False

    def __init__(self, sock: socket.socket, whole: io.BufferedIOBase, silence: float, deadline: float) -> None:
        self._sock = sock
        self._whole = whole  # keeps the socket open until this reader is closed, as http.client expects
        self._silence = silence
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.is_over:
            return 0
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline of the answer has passed")
        self._sock.settimeout(min(self._silence, left))
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._whole.close()
        super().close()


class _DeadlineResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        call = _CALL.call
        deadline = time.monotonic() + call.limits.answer
        self._sock = sock
        self._reader = _DeadlineReader(sock, self.fp, call.limits.silence, deadline)
        self.fp = io.BufferedReader(self._reader)

    def begin(self) -> None:
        super().begin()
        if len(set(self.headers.get_all("Content-Length", ()))) > 1 and not self.chunked:
            # Nobody knows where it ends. urllib3 would refuse it, and lose the status.
            del self.headers["Content-Length"]
            self.length = None
            self.will_close = True

    def _close_conn(self) -> None:
        """At the answer's end: where more has come than the answer, no other request may get the rest for its own."""
        self._reader.is_over = True
        if self.fp.peek(1) or (isinstance(self._sock, ssl.SSLSocket) and self._sock.pending()):
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)  # so it is found to be dead, whoever takes it next
        super()._close_conn()  # type: ignore[misc]

    def _read_status(self) -> tuple[str, int, str]:
        """Of the interim answers http.client passes over 100 alone. It would take another one for the answer, and the
        true one, which comes later, for the answer to the next request on this connection: to another row.
        """
        version, status, reason = super()._read_status()  # type: ignore[misc]
        if status == http.HTTPStatus.SWITCHING_PROTOCOLS:
            raise http.client.BadStatusLine(f"{version} {status}")  # nobody asked for it; what follows is no HTTP
        return version, http.HTTPStatus.CONTINUE if status < 200 else status, reason


class _TellsPhase:
    """Mixed into urllib3's connections: marks when bytes may have left, and lets no long-idle connection be used."""

    response_class: ClassVar[type] = _DeadlineResponse
    sock: Any
    _last_used = 0.0
    _held: bytes | None = None
    _head = b""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lines: dict[tuple[Any, tuple[Any, ...]], bytes] = {}

    def endheaders(self, *args: Any, **kwargs: Any) -> None:
        self._held = b""
        try:
            super().endheaders(*args, **kwargs)  # type: ignore[misc]
        finally:
            held, self._held = self._held, None
        self._head = held

    def putheader(self, header: Any, *values: Any) -> None:
        """Nearly all headers are the same for each request: http.client checks and writes each of them once."""
        said = (header, values)
        line = self._lines.get(said)
        if line is not None:
            self._output(line)  # type: ignore[attr-defined]
            return
        super().putheader(header, *values)  # type: ignore[misc]
        if header != "Content-Length":
            self._lines[said] = self._buffer[-1]  # type: ignore[attr-defined]

    def send(self, piece: Any) -> None:
        if self._held is not None:
            self._held += piece  # the head waits for the body: one system call for both, and over TLS one record
            return
        if self.sock is None:
            self.connect()  # type: ignore[attr-defined]
        _CALL.call.phase = Phase.SENDING
        head, self._head = self._head, b""
        super().send(head + piece if head else piece)  # type: ignore[misc]

    def getresponse(self) -> Any:
        if self._head:
            self.send(b"")  # there was no body
        _CALL.call.phase = Phase.WAITING
        response = super().getresponse()  # type: ignore[misc]
        self._last_used = time.monotonic()
        return response

    @property
    def is_connected(self) -> bool:
        idle = time.monotonic() - self._last_used
        return bool(super().is_connected) and idle < _CALL.call.limits.idle  # type: ignore[misc]


class _Connection(_TellsPhase, HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return timed_by_kernel(super()._new_conn())


class _SecureConnection(_TellsPhase, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


def _trusting() -> ssl.SSLContext:
    """One for all connections: reading some hundred certificates takes as long as ten requests."""
    context = urllib3.util.create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
    context.load_verify_locations(certifi.where())  # what requests trusts
    return context


class _DeadlineAdapter(HTTPAdapter):
    """requests' adapter with our connections. One address is all that it ever talks to, so one pool is looked up once,
    and cookies, history and encoding of an answer, which nobody here reads, are not worked out.
    """

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self._pools: dict[tuple[str, str], Any] = {}
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def get_connection_with_tls_context(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> Any:
        scheme, _, rest = (request.url or "").partition("://")
        origin = (scheme, rest.partition("/")[0])
        if origin not in self._pools:
            pool: Any = super().get_connection_with_tls_context(request, *args, **kwargs)
            if scheme == "https":
                pool.conn_kw["ssl_context"] = _trusting()
            self._pools[origin] = pool
        return self._pools[origin]

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: what is trusted stands in the context of the pool, and requests would have it read again from disk
        for each connection, while all others wait.
        """

    def build_response(self, req: requests.PreparedRequest, resp: Any) -> requests.Response:
        response = requests.Response()
        response.status_code = resp.status
        response.raw = resp
        response.request = req
        return response
