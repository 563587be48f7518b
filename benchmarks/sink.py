"""A recruiting service that does next to nothing, so that what is measured is the client.

    python -m benchmarks.sink [--delay 20] [--tls CERTIFICATE KEY] [--conflict]
                              [--limit 50 [--burst 50] [--retry-after 1]] [--down-after 1 --down 600]

Keeps just enough of the contract: any GET is answered with a question list, any POST with 201, after `--delay`
milliseconds. With `--limit`, a POST beyond that many a second is answered with 429 at once. It remembers who was
taken: with `--conflict` a second POST of the same e-mail is answered with 409, without it is taken again; counted it
is in both. With `--down` it does not listen for so many seconds, some seconds after its first POST. Says `sink
listening on URL` when clients may come, and its figures as one line of JSON when its standard input ends.
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
    """What was sent to a sink. Seconds between the first POST and the last answer; bytes are those of bodies."""

    requests: int = 0
    taken: int = 0
    refused: int = 0
    twice: int = 0  # POSTs of somebody who had been taken before
    lists: int = 0
    bytes: int = 0
    connections: int = 0
    most_in_flight: int = 0
    began: float = 0.0
    ended: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Habits:
    """How a sink behaves. `delay` in seconds; `bucket` None: everything is allowed."""

    delay: float = 0.0
    conflict: bool = False
    bucket: TokenBucket | None = None
    down_after: float = 0.0
    down: float = 0.0
    retry_after: str | None = None


@dataclass(slots=True)
class State:
    """What all connections of a sink share."""

    habits: Habits
    figures: Figures = field(default_factory=Figures)
    concurrency: int = 0
    taken: set[bytes] = field(default_factory=set)
    transports: set[asyncio.Transport] = field(default_factory=set)


def _answer(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join((*lines, "\r\n")).encode() + body


_LIST = _answer("200 OK", json.dumps({"success": "OK", "content": QUESTIONS}).encode())
_CREATED = _answer("201 Created", b'{"message": "Application received."}')
_THERE = _answer("409 Conflict", b'{"detail": "The user has already applied."}')


def _too_many(retry_after: str | None) -> bytes:
    headers = [f"Retry-After: {retry_after}"] if retry_after else []
    return _answer("429 Too Many Requests", b'{"detail": "Too many requests."}', *headers)


class _Connection(asyncio.Protocol):
    """One client. httptools calls only the methods that are here: headers are not looked at, which is fast."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._parser = httptools.HttpRequestParser(self)
        self._pieces: list[bytes] = []
        self._refusal = _too_many(state.habits.retry_after)
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._state.figures.connections += 1
        self._state.transports.add(transport)

    def connection_lost(self, _: Exception | None) -> None:
        self._state.transports.discard(self._transport)

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
        state, habits = self._state, self._state.habits
        figures, now = state.figures, self._loop.time()
        figures.began = figures.began or now
        figures.requests += 1
        figures.bytes += len(body)
        if habits.bucket is not None and not habits.bucket.take(now):
            figures.refused += 1
            self._transport.write(self._refusal)
            return
        state.concurrency += 1
        figures.most_in_flight = max(figures.most_in_flight, state.concurrency)
        answer = self._take(body)
        if habits.delay:
            self._loop.call_later(habits.delay, self._deliver, answer)
        else:
            self._deliver(answer)

    def _take(self, body: bytes) -> bytes:
        state = self._state
        found = _EMAIL.search(body)
        email = found[1] if found else b""
        if email in state.taken:
            state.figures.twice += 1
            if state.habits.conflict:
                return _THERE
        state.taken.add(email)
        state.figures.taken += 1
        return _CREATED

    def _deliver(self, answer: bytes) -> None:
        self._state.concurrency -= 1
        self._state.figures.ended = self._loop.time()
        self._transport.write(answer)
        if not self._parser.should_keep_alive():
            self._transport.close()


async def _serve(make_habits: Callable[[], Habits], tls: ssl.SSLContext | None) -> Figures:
    state = State(make_habits())
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    async def listen(port: int) -> asyncio.Server:
        return await loop.create_server(lambda: _Connection(state), "127.0.0.1", port, ssl=tls, backlog=512)

    async def be_down() -> None:
        while not state.figures.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(state.habits.down_after)
        server.close()
        for transport in list(state.transports):
            transport.abort()
        await asyncio.sleep(state.habits.down)
        await listen(port)

    server = await listen(0)
    port = server.sockets[0].getsockname()[1]
    outage = asyncio.create_task(be_down()) if state.habits.down else None
    _say(f"{ANNOUNCEMENT}{'https' if tls else 'http'}://127.0.0.1:{port}")
    threading.Thread(target=_await_end_of_input, args=(loop, stop), daemon=True).start()
    gc.freeze()
    await stop.wait()
    if outage is not None:
        outage.cancel()
    server.close()
    figures = state.figures
    figures.seconds = figures.ended - figures.began
    figures.cpu_seconds = time.process_time()
    return figures


def _await_end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    loop.call_soon_threadsafe(stop.set)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _tls(files: list[Path] | None) -> ssl.SSLContext | None:
    if not files:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--delay", type=float, default=0.0, help="milliseconds until an answer")
    parser.add_argument("--tls", type=Path, nargs=2, metavar=("CERTIFICATE", "KEY"))
    parser.add_argument("--limit", type=float, help="requests a second; beyond: 429")
    parser.add_argument("--burst", type=float, help="what the bucket holds; default: what a second allows")
    parser.add_argument("--retry-after", help="what a 429 says in that header; default: no such header")
    parser.add_argument("--down", type=float, default=0.0, help="seconds in which it does not listen")
    parser.add_argument("--down-after", type=float, default=0.0, help="seconds from the first POST until then")
    parser.add_argument("--conflict", action="store_true", help="409 to somebody who was taken before")
    wanted = parser.parse_args()

    def habits() -> Habits:
        bucket = TokenBucket(wanted.limit, wanted.burst or wanted.limit, time.monotonic()) if wanted.limit else None
        return Habits(wanted.delay / 1000, wanted.conflict, bucket, wanted.down_after, wanted.down, wanted.retry_after)

    _say(json.dumps(asdict(asyncio.run(_serve(habits, _tls(wanted.tls))))))


if __name__ == "__main__":
    main()
