"""A sandbox in a thread of this process: for tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from importer.sandbox.memory import Memory
from importer.sandbox.options import SandboxOptions
from importer.sandbox.request_log import LoggedRequest
from importer.sandbox.server import SandboxServer, prepare


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """A sandbox that serves now: where it is, its token, what it has accepted, what was asked of it."""

    base_url: str
    token: str
    memory: Memory
    requests: list[LoggedRequest]


@contextmanager
def running(options: SandboxOptions) -> Iterator[RunningSandbox]:
    """Serves from a thread with its own event loop until the block ends.

    Raises:
        SandboxUnusable: a file or the address cannot be used.
    """
    server = prepare(options, keep_requests=True)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=_serve, args=(loop, server, stop), name="sandbox")
    thread.start()
    try:
        yield RunningSandbox(server.base_url, options.token, server.memory, server.log.requests)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        server.close()


def _serve(loop: asyncio.AbstractEventLoop, server: SandboxServer, stop: asyncio.Event) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(server.serve(stop))
