"""Who may use the pages: the person who started the server, in a browser on this machine, and no other page there."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MOST_TOKENS: Final = 20_000  # of forms; an older page has to be loaded again
_SECONDS: Final = 30 * 24 * 3600  # of the cookie; it ends with the server
_PUBLIC: Final = "/static/"
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer, a form would have no origin
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class FormTokens:
    """One token for each form that is shown: it can be sent once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._issued: OrderedDict[str, None] = OrderedDict()

    def issue(self) -> str:
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._issued[token] = None
            while len(self._issued) > _MOST_TOKENS:
                self._issued.popitem(last=False)
        return token

    def use(self, token: str) -> bool:
        """Whether this form was shown and is sent for the first time."""
        with self._lock:
            return self._issued.pop(token, 0) is None


class Access:
    """The sessions. An address with a token opens one, once; then a cookie does.

    on_used: called when a token was used, so that a new address can be shown.
    """

    def __init__(self, port: int, on_used: Callable[[], None] = lambda: None) -> None:
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"importer-{port}"  # cookies do not depend on the port
        self._lock = threading.Lock()
        self._tokens: dict[str, str] = {}
        self._session = secrets.token_urlsafe(32)
        self._on_used = on_used

    def address(self, path: str = "/") -> str:
        """An address that opens a session once, and then shows a page."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens[token] = path
        return f"http://{self.hosts[0]}/open?token={token}"

    def exchange(self, token: str) -> tuple[str, str] | None:
        """The value of the cookie, and the page to show; None if the token is wrong or was used."""
        with self._lock:
            path = self._tokens.pop(token, None)
        if path is None:
            return None
        self._on_used()
        return self._session, path

    def is_open(self, cookie: str | None) -> bool:
        return hmac.compare_digest((cookie or "").encode(), self._session.encode())


class Guard:
    """Lets only requests of a session through, to this address, from its own pages; sets the headers of all answers.

    closed: the page for a browser without a session, by the key of its text.
    """

    def __init__(self, app: ASGIApp, access: Access, closed: Callable[..., str]) -> None:
        self._app, self._access, self._closed = app, access, closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                added = ((name.lower().encode(), value.encode()) for name, value in _HEADERS.items())
                message["headers"] = [*message["headers"], *(each for each in added if each[0] not in known)]
            await send(message)

        if scope["type"] != "http":
            return
        answer = self._answer(Request(scope))
        await (answer or self._app)(scope, receive, send_with_headers)

    def _answer(self, request: Request) -> Response | None:
        """The answer to a request that must not reach a page; None for one that may."""
        host = request.headers.get("host", "")
        if host not in self._access.hosts:
            return self._refused("wrong_host", 403)
        if request.method not in ("GET", "HEAD") and request.headers.get("origin") != f"http://{host}":
            return self._refused("wrong_origin", 403)
        if request.url.path == "/open":
            return self._opened(request)
        if request.url.path.startswith(_PUBLIC) or self._access.is_open(request.cookies.get(self._access.cookie)):
            return None
        return self._refused("closed", 401)

    def _opened(self, request: Request) -> Response:
        found = self._access.exchange(dict(parse_qsl(request.url.query)).get("token", ""))
        if found is None:
            return self._refused("used", 401)
        session, path = found
        # A page and no redirect: a browser that comes from another site would leave a strict cookie out.
        response = HTMLResponse(self._closed("opened", path=path))
        response.set_cookie(self._access.cookie, session, _SECONDS, path="/", httponly=True, samesite="strict")
        return response

    def _refused(self, key: str, status: int) -> Response:
        return HTMLResponse(self._closed(key), status)
