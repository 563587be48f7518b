"""A recruiting service that does almost nothing, so that the client is measured.

    python -m benchmarks.sink [--delay 20] [--tls CERTIFICATE KEY] [--conflict]
                              [--limit 50 [--burst 50] [--retry-after 1]] [--down-after 1 --down 600]

Follows just enough of the contract: any GET gets a question list, any POST a 201, after `--delay` milliseconds. With
`--limit`, a POST beyond that many a second gets 429 at once. With `--conflict`, a second POST of the same e-mail
address gets 409; without it, 201 again; both are counted. A POST to a path that ends with /files gets the ID of a
document, without delay. With `--down` it does not listen for so many seconds,
starting some seconds after its first POST. Prints `sink listening on URL` when clients may connect, and its figures as
one line of JSON when its standard input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import re
import ssl
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httptools

from benchmarks.candidates import QUESTIONS
from benchmarks.token_bucket import TokenBucket

ANNOUNCEMENT = "sink listening on "
_EMAIL = re.compile(rb'"email"\s*:\s*"([^"]*)"')


@dataclass(slots=True)
class Figures:
    """What was sent to a sink. Seconds from the first POST to the last response; bytes of bodies."""

    requests: int = 0
    accepted: int = 0
    refused: int = 0
    twice: int = 0  # POSTs of a candidate that was accepted before
    lists: int = 0
    uploads: int = 0
    upload_seconds: float = 0.0  # from the first upload to the response to the last one
    bytes: int = 0
    connections: int = 0
    most_in_flight: int = 0
    most_in_a_second: int = 0  # POSTs in any second
    began: float = 0.0
    ended: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Behavior:
    """The options of a sink. `delay` in seconds; `bucket` None: no limit."""

    delay: float = 0.0
    conflict: bool = False
    bucket: TokenBucket | None = None
    down_after: float = 0.0
    down: float = 0.0
    retry_after: str | None = None


@dataclass(slots=True)
class State:
    """The shared state of all connections of a sink."""

    behavior: Behavior
    figures: Figures = field(default_factory=Figures)
    in_flight: int = 0
    uploads_began: float = 0.0
    last_second: deque[float] = field(default_factory=deque)  # when the POSTs of the last second came
    accepted: set[bytes] = field(default_factory=set)
    transports: set[asyncio.Transport] = field(default_factory=set)


def _answer(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join((*lines, "\r\n")).encode() + body


_LIST = _answer("200 OK", json.dumps({"success": "OK", "content": QUESTIONS}).encode())
_CREATED = _answer("201 Created", b'{"message": "Application received."}')
_DUPLICATE = _answer("409 Conflict", b'{"detail": "The user has already applied."}')


def _too_many(retry_after: str | None) -> bytes:
    headers = [f"Retry-After: {retry_after}"] if retry_after else []
    return _answer("429 Too Many Requests", b'{"detail": "Too many requests."}', *headers)


class _Connection(asyncio.Protocol):
    """One client. httptools calls only the methods defined here; headers are ignored, which is fast."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._parser = httptools.HttpRequestParser(self)
        self._pieces: list[bytes] = []
        self._too_many_response = _too_many(state.behavior.retry_after)
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._state.figures.connections += 1
        self._state.transports.add(transport)

    def connection_lost(self, _: Exception | None) -> None:
        self._state.transports.discard(self._transport)

    def on_url(self, url: bytes) -> None:
        self._is_upload = url.endswith(b"/files")

    def on_message_begin(self) -> None:
        self._began = self._loop.time()

    def data_received(self, received: bytes) -> None:
        try:
            self._parser.feed_data(received)
        except httptools.HttpParserError:
            self._transport.close()

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        body = b"".join(self._pieces)
        self._pieces.clear()
        if self._parser.get_method() == b"GET":
            self._state.figures.lists += 1
            self._transport.write(_LIST)
            return
        state, behavior = self._state, self._state.behavior
        figures, now = state.figures, self._loop.time()
        if self._is_upload:
            state.uploads_began = state.uploads_began or self._began
            state.in_flight += 1
            figures.uploads += 1
            figures.bytes += len(body)
            self._after_delay(_answer("201 Created", b'{"id": "%d"}' % figures.uploads))
            figures.upload_seconds = now + behavior.delay - state.uploads_began
            return
        figures.began = figures.began or now
        figures.requests += 1
        figures.bytes += len(body)
        lately = state.last_second
        lately.append(now)
        while lately[0] <= now - 1:
            lately.popleft()
        figures.most_in_a_second = max(figures.most_in_a_second, len(lately))
        if behavior.bucket is not None and not behavior.bucket.take(now):
            figures.refused += 1
            self._transport.write(self._too_many_response)
            return
        state.in_flight += 1
        figures.most_in_flight = max(figures.most_in_flight, state.in_flight)
        self._after_delay(self._accept(body))

    def _after_delay(self, answer: bytes) -> None:
        if self._state.behavior.delay:
            self._loop.call_later(self._state.behavior.delay, self._deliver, answer)
        else:
            self._deliver(answer)

    def _accept(self, body: bytes) -> bytes:
        state = self._state
        found = _EMAIL.search(body)
        email = found[1] if found else b""
        if email in state.accepted:
            state.figures.twice += 1
            if state.behavior.conflict:
                return _DUPLICATE
        state.accepted.add(email)
        state.figures.accepted += 1
        return _CREATED

    def _deliver(self, answer: bytes) -> None:
        self._state.in_flight -= 1
        self._state.figures.ended = self._loop.time()
        self._transport.write(answer)
        if not self._parser.should_keep_alive():
            self._transport.close()


async def _serve(make_behavior: Callable[[], Behavior], tls: ssl.SSLContext | None) -> Figures:
    state = State(make_behavior())
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    async def listen(port: int) -> asyncio.Server:
        return await loop.create_server(lambda: _Connection(state), "127.0.0.1", port, ssl=tls, backlog=512)

    async def be_down() -> None:
        while not state.figures.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(state.behavior.down_after)
        server.close()
        for transport in list(state.transports):
            transport.abort()
        await asyncio.sleep(state.behavior.down)
        await listen(port)

    server = await listen(0)
    port = server.sockets[0].getsockname()[1]
    outage = asyncio.create_task(be_down()) if state.behavior.down else None
    _print(f"{ANNOUNCEMENT}{'https' if tls else 'http'}://127.0.0.1:{port}")
    threading.Thread(target=_wait_for_end_of_input, args=(loop, stop), daemon=True).start()
    gc.freeze()
    await stop.wait()
    if outage is not None:
        outage.cancel()
    server.close()
    figures = state.figures
    figures.seconds = figures.ended - figures.began
    figures.cpu_seconds = time.process_time()
    return figures


def _wait_for_end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    loop.call_soon_threadsafe(stop.set)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _tls(files: list[Path] | None) -> ssl.SSLContext | None:
    if not files:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate, key = files
    context.load_cert_chain(certificate, key)
    return context


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--delay", type=float, default=0.0, help="milliseconds until a response")
    parser.add_argument("--tls", type=Path, nargs=2, metavar=("CERTIFICATE", "KEY"))
    parser.add_argument("--limit", type=float, help="requests a second; beyond: 429")
    parser.add_argument("--burst", type=float, help="size of the bucket; default: the limit")
    parser.add_argument("--retry-after", help="this header of a 429; default: no header")
    parser.add_argument("--down", type=float, default=0.0, help="seconds in which it does not listen")
    parser.add_argument("--down-after", type=float, default=0.0, help="seconds from the first POST until --down")
    parser.add_argument("--conflict", action="store_true", help="409 for a candidate that was accepted before")
    wanted = parser.parse_args()

    def behavior() -> Behavior:
        bucket = TokenBucket(wanted.limit, wanted.burst or wanted.limit, time.monotonic()) if wanted.limit else None
        return Behavior(
            wanted.delay / 1000, wanted.conflict, bucket, wanted.down_after, wanted.down, wanted.retry_after
        )

    _print(json.dumps(asdict(asyncio.run(_serve(behavior, _tls(wanted.tls))))))


if __name__ == "__main__":
    main()
