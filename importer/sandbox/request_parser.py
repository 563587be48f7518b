"""Bytes from a client become requests: HTTP/1.1 framing through httptools, with caps on head and body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import httptools

from importer.sandbox.request import Request

LONGEST_HEAD = 64 * 1024
LONGEST_BODY = 8 * 1024 * 1024


class RequestParser:
    """Takes bytes as they come and gives the requests that are whole. `broken` says that no more can be read."""

    def __init__(self, on_expectation: Callable[[], None]) -> None:
        """`on_expectation` is called when a client waits for a 100 before it sends its body."""
        self.broken = False
        self._on_expectation = on_expectation
        self._parser = httptools.HttpRequestParser(self)
        self._whole: list[Request] = []
        self.on_message_begin()

    def feed(self, received: bytes) -> list[Request]:
        """The requests that these bytes complete, in order; their bodies are at most LONGEST_BODY bytes long."""
        try:
            self._parser.feed_data(received)
        except httptools.HttpParserUpgrade:
            self.broken = True  # another protocol was asked for and is not spoken: answer as usual, then close
            self._whole[-1:] = [replace(request, keep_alive=False) for request in self._whole[-1:]]
        except httptools.HttpParserError:
            self.broken = True
        if not self._in_body:
            self._head_size += len(received)
            self.broken = self.broken or self._head_size > LONGEST_HEAD
        whole, self._whole = self._whole, []
        return whole

    # --- called by httptools ---

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._body_size = 0
        self._head_size = 0
        self._in_body = False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._in_body = True
        if self._headers.get("expect", "").lower() == "100-continue":
            self._on_expectation()

    def on_body(self, part: bytes) -> None:
        self._body_size += len(part)
        if self._body_size <= LONGEST_BODY:
            self._body.append(part)
        else:
            self._body.clear()

    def on_message_complete(self) -> None:
        if self._parser.get_http_version() == "1.1" and "host" not in self._headers:
            self.broken = True  # RFC 9112, 3.2: a request without Host gets a 400
            return
        self._whole.append(
            Request(
                method=self._parser.get_method().decode("latin-1"),
                path=self._url.partition(b"?")[0].decode("latin-1"),
                headers=self._headers,
                body=b"".join(self._body),
                keep_alive=self._parser.should_keep_alive() and not self.broken,
                too_large=self._body_size > LONGEST_BODY,
            )
        )
        self._in_body = False
        self._head_size = 0
