"""The transport with pycurl, if it is installed: one libcurl handle for each thread, for a tenth of the CPU.

libcurl's own behavior that is disabled here: it repeats a request, even a POST, if a kept connection closes before the
first byte of a response, and the 409 to the second one would look like an existing candidate. It waits without limit
for a response that arrives slowly, and it reads proxies from the environment.
"""

from __future__ import annotations

import errno
import os
import select
import ssl
import sys
import threading
import time
from contextlib import suppress
from typing import Final

import certifi
import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

from importer.service.transport import Failure, Limits, NoReply, RawReply, Request

# Without the first, a POST could be sent twice.
IS_NEW_ENOUGH: Final = all(hasattr(pycurl, name) for name in ("PREREQFUNCTION", "ACTIVESOCKET", "RETRY_AFTER"))
_NONE: Final = -1  # libcurl's value for "no socket"
_NEVER: Final = float("-inf")


class CurlTransport:
    """Sends with libcurl: see `Transport`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._of_thread = threading.local()
        self._handles: list[_Handle] = []

    def send(self, request: Request) -> RawReply | NoReply:
        handle: _Handle | None = getattr(self._of_thread, "handle", None)
        if handle is None:
            handle = self._of_thread.handle = _Handle(self._limits)
            self._handles.append(handle)
        return handle.send(request)

    def close(self) -> None:
        for handle in self._handles:
            handle.close()


class _Handle:
    """A libcurl handle with its one connection. Its callbacks must not raise: libcurl would lose the exception."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._curl = _new_curl(limits)
        self._curl.setopt(pycurl.PREREQFUNCTION, self._may_start)
        self._curl.setopt(pycurl.WRITEFUNCTION, self._take)
        self._curl.setopt(pycurl.XFERINFOFUNCTION, self._is_overdue)
        self._last_used = _NEVER  # the connection
        self._headers: object = None
        self._target: object = None  # method, URL, and whether there is a body

    def close(self) -> None:
        with suppress(pycurl.error):  # a request is under way: its thread ends with the process
            self._curl.close()

    def send(self, request: Request) -> RawReply | NoReply:
        curl = self._curl
        self._prepare(request)
        kept = curl.getinfo(pycurl.ACTIVESOCKET)
        is_old = self._began >= self._last_used + self._limits.idle
        curl.setopt(pycurl.FRESH_CONNECT, kept != _NONE and (is_old or _has_something_to_read(kept)))
        error = pycurl.E_OK
        try:
            curl.perform()
        except pycurl.error as failed:
            error = failed.args[0]
        self._last_used = time.monotonic()
        if request.body is not None:
            curl.setopt(pycurl.POSTFIELDS, b"")  # a document would stay in memory until the next request
        status = curl.getinfo(pycurl.RESPONSE_CODE)
        if status < 200:  # below 200: only an interim response
            return NoReply(self._reason(error), may_have_arrived=self._was_started)
        body = b"".join(self._pieces)[: self._most]
        return RawReply(status, self._relevant_headers(), body, error == pycurl.E_OK)

    def _prepare(self, request: Request) -> None:
        self._began = self._last_activity = time.monotonic()
        self._was_started = False
        self._received, self._size = 0.0, 0
        self._pieces: list[bytes] = []
        self._most = request.body_limit or self._limits.body
        curl = self._curl
        if request.headers is not self._headers:
            # An empty "Expect:" disables the header, which would require waiting for an interim response
            curl.setopt(
                pycurl.HTTPHEADER, [*(f"{name}: {value}" for name, value in request.headers.items()), "Expect:"]
            )
            self._headers = request.headers
        if request.body is not None:
            curl.setopt(pycurl.POSTFIELDS, request.body)
        target = (request.method, request.url, request.body is None)
        if target != self._target:
            curl.setopt(pycurl.URL, request.url)
            if request.body is None:
                curl.setopt(pycurl.HTTPGET, 1)
            curl.setopt(pycurl.CUSTOMREQUEST, request.method)
            self._target = target

    def _relevant_headers(self) -> dict[str, str]:
        asked = self._curl.getinfo_raw  # bytes: a header may not be UTF-8
        found = {
            "content-type": (asked(pycurl.CONTENT_TYPE) or b"").decode("utf-8", "replace"),
            "location": (asked(pycurl.REDIRECT_URL) or b"").decode("utf-8", "replace"),
            "retry-after": str(asked(pycurl.RETRY_AFTER) or ""),
        }
        return {name: value for name, value in found.items() if value}

    def _reason(self, error: int) -> str:
        """What failed, for a person."""
        if self._limits.proxy and not self._was_started and error not in _TLS:
            return Failure.PROXY
        if error == pycurl.E_COULDNT_CONNECT and not self._was_started:
            number = self._curl.getinfo(pycurl.OS_ERRNO)
            return Failure.REFUSED if number == errno.ECONNREFUSED else Failure.OTHER.format(kind=os.strerror(number))
        found = _BEFORE_START.get(error, Failure.OTHER)
        if self._was_started:
            found = Failure.NO_ANSWER if self._is_late or error == pycurl.E_OPERATION_TIMEDOUT else Failure.LOST
        limit = self._limits.reached(time.monotonic() - self._began)
        return found.format(connect=self._limits.connect, limit=limit, kind=f"curl {error}")

    # --- called by libcurl ---

    def _may_start(self, *_: object) -> int:
        """Before the first byte on a connection: a request starts only once."""
        if self._was_started:
            return int(pycurl.PREREQFUNC_ABORT)
        self._was_started, self._is_late = True, False
        self._last_activity = time.monotonic()
        return int(pycurl.PREREQFUNC_OK)

    def _take(self, piece: bytes) -> int:
        """Returns how much was read; less than the piece ends the transfer."""
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece) if self._size <= self._most else 0

    def _is_overdue(self, _: float, received: float, *__: float) -> int:
        """About once a second: whether nothing has come for too long."""
        now = time.monotonic()
        if received != self._received:
            self._received, self._last_activity = received, now
        self._is_late = self._was_started and now >= self._last_activity + self._limits.read
        return int(self._is_late)


def _has_something_to_read(number: int) -> bool:
    """Whether data has arrived on an idle connection, or it was closed."""
    try:
        if sys.platform == "win32":
            return bool(select.select([number], [], [], 0)[0])
        look = select.poll()  # unlike select, for any number
        look.register(number, select.POLLIN)
        return bool(look.poll(0))
    except (OSError, ValueError):
        return True


_TLS: Final = dict.fromkeys(
    (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
    ),
    Failure.TLS_REFUSED,
)
_BEFORE_START: Final[dict[int, Failure]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: Failure.NAME_UNKNOWN,
    pycurl.E_OPERATION_TIMEDOUT: Failure.NO_CONNECTION,
    **_TLS,
}


def _new_curl(limits: Limits) -> pycurl.Curl:
    curl = pycurl.Curl()
    for option, value in (
        (pycurl.NOSIGNAL, 1),
        (pycurl.NOPROGRESS, 0),
        (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1),
        (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
        (pycurl.FOLLOWLOCATION, 0),
        (pycurl.MAXCONNECTS, 1),
        (pycurl.PROXY, limits.proxy),
        (pycurl.NOPROXY, "" if limits.proxy else "*"),
        (pycurl.NETRC, pycurl.NETRC_IGNORED),
        # libcurl reads one file; that of the system has the certificates of an organization too
        (pycurl.CAINFO, str(limits.ca_file or ssl.get_default_verify_paths().cafile or certifi.where())),
        (pycurl.SSL_VERIFYPEER, 1),
        (pycurl.SSL_VERIFYHOST, 2),
        (pycurl.PATH_AS_IS, 1),
        # To decode responses that are encoded anyway; our own headers request no encoding
        (pycurl.ACCEPT_ENCODING, "gzip, deflate"),
        (pycurl.CONNECTTIMEOUT_MS, max(1, round(limits.connect * 1000))),
        (pycurl.TIMEOUT_MS, max(1, round(limits.total * 1000))),
    ):
        curl.setopt(option, value)
    return curl
