"""The transport with requests: one thread for each active request; status, headers and capped body, or the failure.

Behavior of requests that is disabled here (all measured): it follows a redirect of a POST as a GET and reports success;
it replaces our token with a password from ~/.netrc; it sends the token to a proxy from the environment; it reads a slow
response far beyond its timeout; it loses the status if the body is broken. Here no redirect is followed, nothing is
read from the environment, nothing is retried, and one deadline covers the whole response.
"""

from __future__ import annotations

import http
import http.client
import io
import re
import socket
import ssl
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, ClassVar, Final

import requests
import urllib3
import urllib3.util
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from importer.service.certificates import trusted
from importer.service.transport_api import RELEVANT_HEADERS, Limits, NoReply, OnDone, Phase, RawReply, Reason, Request

_LONGEST_HEADER: Final = 65_536  # bytes
_MOST_HEADERS: Final = 100
_HEADER_NAME: Final = re.compile(r"[!-9;-~]+")
_LENGTH: Final = re.compile(r"[0-9]{1,18}")


class RequestsTransport:
    """Sends with the adapter of requests, without a session, on up to `connections` threads: see `Transport`."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._most = connections
        self._proxies = {"https": limits.proxy} if limits.proxy else {}
        self._adapter = _Adapter(limits, pool_connections=1, pool_maxsize=connections, max_retries=0)
        self._requests: SimpleQueue[tuple[Request, OnDone] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._under_way = 0
        self._counting = threading.Lock()

    def start(self, request: Request, on_done: OnDone) -> None:
        """Send one request once; returns at once. If all threads are busy, the request is queued."""
        with self._counting:
            self._under_way += 1
            if len(self._threads) < min(self._under_way, self._most):
                # Daemon threads, not an executor: an interrupted process does not wait for pending responses.
                thread = threading.Thread(target=self._work, name=f"sender {len(self._threads) + 1}", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._requests.put((request, on_done))

    def close(self) -> None:
        """End each thread after its current request."""
        for _ in self._threads:
            self._requests.put(None)
        self._adapter.close()

    def _work(self) -> None:
        while (asked := self._requests.get()) is not None:
            request, on_done = asked
            answer: RawReply | NoReply | BaseException
            try:
                answer = self._send(request)
            except BaseException as bug:  # noqa: BLE001 - reported to the caller
                answer = bug
            with self._counting:
                self._under_way -= 1
            on_done(answer)

    def _send(self, request: Request) -> RawReply | NoReply:
        limits = self._limits
        _CURRENT.begin(limits)
        prepared = _prepared(request)
        timeout = (limits.connect, limits.read)
        try:
            raw: Any = self._adapter.send(prepared, stream=True, timeout=timeout, proxies=self._proxies)
        except (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
            return NoReply(_reason(error), _CURRENT.phase)
        try:
            body, complete = _read_body(raw, request.body_limit or limits.body)
        finally:
            if not raw.closed:  # not read completely: the connection is not reused
                raw.close()
            raw.release_conn()
        # http.client reads all bytes as Latin-1
        headers = {
            name: raw.headers.getlist(name)[-1].encode("latin-1").decode("utf-8", "replace")
            for name in RELEVANT_HEADERS
            if name in raw.headers
        }
        return RawReply(raw.status, headers, body, complete)


def _prepared(request: Request) -> requests.PreparedRequest:
    """The prepared request, without the search for passwords, cookies and codecs: a third of the CPU (75 of 215 us)."""
    prepared = requests.PreparedRequest()
    prepared.method, prepared.url, prepared.body = request.method, request.url, request.body
    headers: Any = dict(request.headers)  # a plain dict: no case-insensitive lookup is needed
    if request.body is not None:
        headers["Content-Length"] = str(len(request.body))
    prepared.headers = headers
    return prepared


def _read_body(raw: Any, limit: int) -> tuple[bytes, bool]:
    """The body up to the limit, and whether it is complete. A broken body does not lose the status."""
    pieces: list[bytes] = []
    size = 0
    try:
        while size <= limit:
            piece = raw.read1(65536, decode_content=True)
            if not piece:
                return b"".join(pieces), True
            pieces.append(piece)
            size += len(piece)
    except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError):
        pass
    return b"".join(pieces)[:limit], False


def _reason(error: BaseException) -> str:
    """What failed, for a person, without object addresses or nested class names."""
    link: BaseException | None = error
    chain: list[BaseException] = []
    while link is not None and len(chain) < 8:
        chain.append(link)
        inner = getattr(link, "reason", None) or (link.args[0] if link.args else None)
        link = inner if isinstance(inner, BaseException) else link.__cause__ or link.__context__
    limits = _CURRENT.limits
    is_tls = any(isinstance(link, requests.exceptions.SSLError | urllib3.exceptions.SSLError) for link in chain)
    if limits.proxy and _CURRENT.phase is Phase.CONNECTING and not is_tls:
        return Reason.PROXY
    for kind, reason in _REASONS:
        if any(isinstance(link, kind) for link in chain):
            return reason.format(connect=limits.connect, limit=limits.reached(time.monotonic() - _CURRENT.began))
    return Reason.OTHER.format(kind=type(chain[-1]).__name__)


# The order matters: errors are wrapped in others, and some are subclasses of a more general one.
_REASONS: list[tuple[type[BaseException], Reason]] = [
    (urllib3.exceptions.NameResolutionError, Reason.NAME_UNKNOWN),
    (socket.gaierror, Reason.NAME_UNKNOWN),
    (ConnectionRefusedError, Reason.REFUSED),
    (urllib3.exceptions.ConnectTimeoutError, Reason.NO_CONNECTION),
    (requests.exceptions.SSLError, Reason.TLS_REFUSED),
    (urllib3.exceptions.SSLError, Reason.TLS_REFUSED),
    (urllib3.exceptions.ReadTimeoutError, Reason.NO_ANSWER),
    (TimeoutError, Reason.NO_ANSWER),
    (http.client.RemoteDisconnected, Reason.CLOSED),  # before its parent, the reset
    (ConnectionResetError, Reason.RESET),
    (BrokenPipeError, Reason.RESET),
    (http.client.HTTPException, Reason.NOT_HTTP),
]


# --- one deadline for headers and body, and the phase of a call ----------------------------------


class _CurrentCall(threading.local):
    """The state of this thread's call: urllib3 has no other way to pass it to its connections."""

    limits = Limits()
    phase: Phase = Phase.CONNECTING
    began = 0.0

    def begin(self, limits: Limits) -> None:
        self.limits, self.phase, self.began = limits, Phase.CONNECTING, time.monotonic()


_CURRENT = _CurrentCall()


class _DeadlineReader(io.RawIOBase):
    """Reads a socket within the deadline. Reads nothing once `is_over`."""

    is_over = False

    def __init__(self, sock: socket.socket, whole: io.BufferedIOBase, limits: Limits) -> None:
        self._sock = sock
        self._whole = whole  # keeps the socket open until this reader is closed, as http.client expects
        self._read_timeout = limits.read
        self._deadline = time.monotonic() + limits.total

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.is_over:
            return 0
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline of the response has passed")
        if left < self._read_timeout:  # otherwise keep the timeout set by urllib3: setting it is a system call
            self._sock.settimeout(left)
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._whole.close()
        super().close()


class _DeadlineResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._sock = sock
        self._reader = _DeadlineReader(sock, self.fp, _CURRENT.limits)
        self.fp = io.BufferedReader(self._reader)

    def begin(self) -> None:
        """Read status and headers.

        http.client skips only 100 among the interim responses: it would read another one as the response, and the final
        one as the response to the next request on this connection, which is for another row. It also parses headers as
        an e-mail, which is a fifth of the CPU of a request (35 of 180 microseconds).
        """
        status = 0
        while status < 200:
            version, status, reason = self._read_status()  # type: ignore[attr-defined]
            if status == http.HTTPStatus.SWITCHING_PROTOCOLS:
                raise http.client.BadStatusLine(f"{version} {status}")  # not requested; what follows is not HTTP
            self.headers = self.msg = _read_headers(self.fp)
        if not version.startswith(("HTTP/1.", "HTTP/0.9")):
            raise http.client.UnknownProtocol(version)
        self.code = self.status = status
        self.reason = reason.strip()
        self.version = 10 if version in ("HTTP/1.0", "HTTP/0.9") else 11
        self.chunked = (self.headers.get("Transfer-Encoding") or "").lower() == "chunked"
        self.chunk_left = None
        self.length = None if self.chunked else _length(self.headers)
        if status in (http.HTTPStatus.NO_CONTENT, http.HTTPStatus.NOT_MODIFIED):
            self.length = 0
        self.will_close = self._check_close() or (self.length is None and not self.chunked)  # type: ignore[attr-defined]

    def _close_conn(self) -> None:
        """At the end of the response: if more data has arrived, no other request may read it as its response."""
        self._reader.is_over = True
        if self.fp.peek(1) or (isinstance(self._sock, ssl.SSLSocket) and self._sock.pending()):
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)  # so that it is not reused
        super()._close_conn()  # type: ignore[misc]


def _read_headers(head: io.BufferedIOBase) -> http.client.HTTPMessage:
    """The headers up to the blank line or the end. A line that is not one is ignored."""
    lines: list[str] = []
    while (line := head.readline(_LONGEST_HEADER + 1)) not in (b"\r\n", b"\n", b""):
        if len(line) > _LONGEST_HEADER or len(lines) == _MOST_HEADERS:
            raise http.client.HTTPException("the headers are too long")
        text = line.decode("latin-1")
        if text[0] in " \t" and lines:  # an old form: the value continues
            lines[-1] += text
        else:
            lines.append(text)
    headers = http.client.HTTPMessage()
    for text in lines:
        name, colon, value = text.partition(":")
        if colon and _HEADER_NAME.fullmatch(name):  # newer versions of Python raise an error for another one
            headers[name] = value.strip()
    return headers


def _length(headers: http.client.HTTPMessage) -> int | None:
    """The length of the body, None if the headers do not say it, or say different ones."""
    lengths = set(headers.get_all("Content-Length", ()))
    if len(lengths) > 1:
        del headers["Content-Length"]  # urllib3 would raise an error and lose the status
    text = lengths.pop() if len(lengths) == 1 else ""
    return int(text) if _LENGTH.fullmatch(text) else None


class _ReportsPhase:
    """A mixin for urllib3's connections: records when bytes may have been sent, and refuses long-idle ones."""

    response_class: ClassVar[type] = _DeadlineResponse
    sock: Any
    _last_used = 0.0
    _to_send: list[bytes] | None = None

    def connect(self) -> None:
        try:
            super().connect()  # type: ignore[misc]
        finally:
            _CURRENT.phase = Phase.CONNECTING  # only a proxy has heard of it

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send head and body with one system call; http.client would use two (7 of 145 microseconds of CPU)."""
        pieces: list[bytes] = []
        self._to_send = pieces
        try:
            super().request(*args, **kwargs)  # type: ignore[misc]
        finally:
            self._to_send = None
        self.send(b"".join(pieces))

    def send(self, data: Any) -> None:
        if self._to_send is not None:
            self._to_send.append(data)
            return
        if self.sock is None:
            self.connect()
        _CURRENT.phase = Phase.SENDING
        super().send(data)  # type: ignore[misc]

    def getresponse(self) -> Any:
        _CURRENT.phase = Phase.WAITING
        response = super().getresponse()  # type: ignore[misc]
        self._last_used = time.monotonic()
        return response

    @property
    def is_connected(self) -> bool:
        idle = time.monotonic() - self._last_used
        return bool(super().is_connected) and idle < _CURRENT.limits.idle  # type: ignore[misc]


class _Connection(_ReportsPhase, HTTPConnection):
    pass


class _SecureConnection(_ReportsPhase, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class _Adapter(HTTPAdapter):
    """requests' adapter with our connections, with one connection pool and our trusted certificates.

    The pool is looked up once, not for each request, which is a tenth of a request's CPU (17 of 160 microseconds).
    """

    def __init__(self, limits: Limits, **kwargs: Any) -> None:
        self._limits = limits
        super().__init__(**kwargs)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self._pools: dict[tuple[str, str], Any] = {}  # by scheme and host
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self.poolmanager.pool_classes_by_scheme
        return manager

    def get_connection_with_tls_context(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> Any:
        scheme, _, rest = (request.url or "").partition("://")
        origin = (scheme, rest.partition("/")[0])
        if origin not in self._pools:
            pool: Any = super().get_connection_with_tls_context(request, *args, **kwargs)
            if scheme == "https":
                pool.conn_kw["ssl_context"] = trusted(self._limits)
            self._pools[origin] = pool
        return self._pools[origin]

    def build_response(self, req: requests.PreparedRequest, resp: Any) -> Any:
        return resp  # urllib3's: no cookies, no history

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: requests would read the certificates from disk for each connection."""
