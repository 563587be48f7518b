"""The transport with requests: its adapter, with connections that have one deadline and are not used when in doubt.

Behavior of requests that is not used (all measured): it follows a redirect of a POST as a GET and reports success; it
replaces our token with a password from ~/.netrc; it sends the token to a proxy from the environment; it reads a slow
response far beyond its timeout; it loses the status if the body is broken.
"""

from __future__ import annotations

import http
import http.client
import io
import socket
import threading
import time
from typing import Any, ClassVar, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection

from importer.service.certificates import trusted
from importer.service.transport import RELEVANT_HEADERS, Failure, Limits, NoReply, RawReply, Request

_FAILURES: Final = (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError)
_FIRST_FINAL: Final = 200  # a status below is interim: http.client gives most of them away as if they were final


class RequestsTransport:
    """Sends with the adapter of requests, without a session: see `Transport`."""

    def __init__(self, limits: Limits, connections: int) -> None:
        self._limits = limits
        self._proxies = {"https": limits.proxy} if limits.proxy else {}
        self._adapter = _Adapter(limits, pool_connections=1, pool_maxsize=connections, max_retries=0)

    def close(self) -> None:
        self._adapter.close()

    def send(self, request: Request) -> RawReply | NoReply:
        _CALL.begin(self._limits)
        body = _NotingBody(request.body)
        try:
            raw: Any = self._adapter.send(
                _prepared(request, body),
                stream=True,
                timeout=(self._limits.connect, self._limits.read),
                proxies=self._proxies,
            )
        except _FAILURES as error:
            return NoReply(_reason(error, self._limits, has_left=body.has_left), may_have_arrived=body.has_left)
        if raw.status < _FIRST_FINAL:
            raw.close()
            return NoReply(Failure.LOST, may_have_arrived=True)
        try:
            content, complete = _read(raw, request.body_limit or self._limits.body)
        finally:
            if not raw.closed:  # not read to its end: the connection is not used again
                raw.close()
            raw.release_conn()
        # http.client reads all bytes as Latin-1
        found = {name: raw.headers.getlist(name) for name in RELEVANT_HEADERS}
        headers = {
            name: values[-1].strip().encode("latin-1").decode("utf-8", "replace")
            for name, values in found.items()
            if values
        }
        return RawReply(raw.status, headers, content, complete)


class _NotingBody(io.BytesIO):
    """The body of a request; notes when it is first read. Before that the head was sent at most, so nothing is done."""

    def __init__(self, body: bytes | None) -> None:
        super().__init__(body or b"")
        self.is_needed = body is not None
        self._was_read = False

    @property
    def has_left(self) -> bool:
        """Whether the service may have the request; one without a body is not told apart once it is connected."""
        return self._was_read if self.is_needed else _CALL.is_connected

    def read(self, size: int | None = -1, /) -> bytes:
        self._was_read = True
        return super().read(size)


def _prepared(request: Request, body: _NotingBody) -> requests.PreparedRequest:
    """The prepared request, without the search for passwords, cookies and codecs: a third of the CPU."""
    prepared = requests.PreparedRequest()
    prepared.method, prepared.url = request.method, request.url
    headers: Any = dict(request.headers)  # a plain dict: no case-insensitive lookup is needed
    if request.body is not None:
        prepared.body = body  # type: ignore[assignment]
        headers["Content-Length"] = str(len(request.body))
    prepared.headers = headers
    return prepared


def _read(raw: Any, limit: int) -> tuple[bytes, bool]:
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
    except (*_FAILURES, ValueError):
        pass
    return b"".join(pieces)[:limit], False


# The order matters: errors are wrapped in others, and some are subclasses of a more general one.
_REASONS: Final[tuple[tuple[type[BaseException], Failure], ...]] = (
    (urllib3.exceptions.NameResolutionError, Failure.NAME_UNKNOWN),
    (socket.gaierror, Failure.NAME_UNKNOWN),
    (ConnectionRefusedError, Failure.REFUSED),
    (urllib3.exceptions.ConnectTimeoutError, Failure.NO_CONNECTION),
    (requests.exceptions.SSLError, Failure.TLS_REFUSED),
    (urllib3.exceptions.SSLError, Failure.TLS_REFUSED),
    (urllib3.exceptions.ReadTimeoutError, Failure.NO_ANSWER),
    (TimeoutError, Failure.NO_ANSWER),
)


def _reason(error: BaseException, limits: Limits, *, has_left: bool) -> str:
    """What failed, for a person. Whether it left us is never read from the class of an error."""
    link: BaseException | None = error
    chain: list[BaseException] = []
    while link is not None and len(chain) < 8:
        chain.append(link)
        inner = getattr(link, "reason", None) or (link.args[0] if link.args else None)
        link = inner if isinstance(inner, BaseException) else link.__cause__ or link.__context__
    found = next((reason for kind, reason in _REASONS if any(isinstance(link, kind) for link in chain)), None)
    if not has_left and limits.proxy and found is not Failure.TLS_REFUSED:
        return Failure.PROXY
    if has_left and found is not Failure.NO_ANSWER:
        return Failure.LOST
    if found is None:
        return Failure.OTHER.format(kind=type(chain[-1]).__name__)
    return found.format(connect=limits.connect, limit=limits.reached(time.monotonic() - _CALL.began))


# --- one deadline for head and body, and connections that are used again only if nothing is in doubt ---


class _Call(threading.local):
    """The call of this thread: urllib3 has no other way to hand it to its connections."""

    limits = Limits()
    began = 0.0
    is_connected = False

    def begin(self, limits: Limits) -> None:
        self.limits, self.began, self.is_connected = limits, time.monotonic(), False


_CALL = _Call()


class _DeadlineReader(io.RawIOBase):
    """Reads a socket until the deadline of the call; gives up earlier if nothing comes."""

    def __init__(self, sock: socket.socket, whole: io.BufferedIOBase) -> None:
        self._sock, self._whole = sock, whole  # `whole` keeps the socket open until this is closed
        self._silence = _CALL.limits.read
        self._deadline = _CALL.began + _CALL.limits.total

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline of the response has passed")
        self._sock.settimeout(min(left, self._silence))
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._whole.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_DeadlineReader(sock, self.fp))

    def begin(self) -> None:
        super().begin()
        while http.HTTPStatus.SWITCHING_PROTOCOLS < self.status < _FIRST_FINAL:
            self.headers = None  # type: ignore[assignment]  # for http.client nothing was read yet: the next one
            super().begin()
        if len(set(self.headers.get_all("Content-Length", ()))) > 1:
            del self.headers["Content-Length"]  # urllib3 would raise an error, and the status would be lost


class _Kept:
    """A mixin for urllib3's connections."""

    response_class: ClassVar[type] = _Response
    sock: Any
    _last_used = 0.0

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]
        _CALL.is_connected = True

    def getresponse(self) -> Any:
        response = super().getresponse()  # type: ignore[misc]
        self._last_used = time.monotonic()
        return response

    @property
    def is_connected(self) -> bool:
        """Whether a kept connection may be used: it is not closed, and nothing has arrived since its last response."""
        is_fresh = time.monotonic() - self._last_used < _CALL.limits.idle
        _CALL.is_connected = is_fresh and super().is_connected  # type: ignore[misc]
        return _CALL.is_connected


class _Connection(_Kept, HTTPConnection):
    pass


class _SecureConnection(_Kept, HTTPSConnection):
    pass


class _Adapter(HTTPAdapter):
    """requests' adapter with our connections and our trusted certificates; looks its connection pool up once."""

    def __init__(self, limits: Limits, **kwargs: Any) -> None:
        self._limits = limits
        self._pools: dict[str, Any] = {}  # by scheme and host
        super().__init__(**kwargs)

    def get_connection_with_tls_context(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> Any:
        origin = "/".join((request.url or "").split("/", 3)[:3])
        if origin not in self._pools:
            pool: Any = super().get_connection_with_tls_context(request, *args, **kwargs)
            pool.ConnectionCls = _SecureConnection if origin.startswith("https:") else _Connection
            if origin.startswith("https:"):
                pool.conn_kw["ssl_context"] = trusted(self._limits)
            self._pools[origin] = pool
        return self._pools[origin]

    def build_response(self, req: requests.PreparedRequest, resp: Any) -> Any:
        return resp  # urllib3's: no cookies, no history

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: requests would read the certificates from disk for each connection."""
