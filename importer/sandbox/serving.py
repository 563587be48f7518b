"""A sandbox as a process of its own: serves until a signal, or until its standard input ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from importer.sandbox.options import SandboxOptions
from importer.sandbox.server import SandboxServer, prepare
from importer.sandbox.unusable import SandboxUnusable

UNUSABLE = 3
ANNOUNCEMENT = "sandbox listening on "


def serve(options: SandboxOptions) -> int:
    """Serves until SIGINT or SIGTERM, or with `exit_with_stdin` until standard input ends; the process's exit code.

    Says `sandbox listening on http://127.0.0.1:PORT` on standard output once clients may come. What keeps it from
    starting goes to standard error, all at once, and the code is 3. To be called from the main thread.
    """
    try:
        server = prepare(options)
    except SandboxUnusable as error:
        for problem in error.problems:
            sys.stderr.write(f"{problem}\n")
        return UNUSABLE
    try:
        asyncio.run(_serve(server, options.exit_with_stdin))
    finally:
        server.close()
    return 0


async def _serve(server: SandboxServer, exit_with_stdin: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop_soon() -> None:
        loop.call_soon_threadsafe(stop.set)

    with _signals_call(stop_soon):
        if exit_with_stdin:
            threading.Thread(target=_await_end_of_stdin, args=(stop_soon,), name="stdin", daemon=True).start()
        sys.stdout.write(f"{ANNOUNCEMENT}{server.base_url}\n")
        sys.stdout.flush()
        await server.serve(stop)


@contextmanager
def _signals_call(stop_soon: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call, until the block ends; plain handlers, as the loop's own are not on every system."""

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop_soon()

    earlier = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _await_end_of_stdin(stop_soon: Callable[[], None]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop_soon()
