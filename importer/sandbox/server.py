"""The server of the sandbox; tests run it in a thread of their own process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from importer.sandbox.app import SHIPPED_QUESTIONS, SandboxApp, SandboxOptions
from importer.sandbox.company import read_questions
from importer.sandbox.connection import Connection, LoggedRequest, RequestLog
from importer.sandbox.faults import Faults, read_faults
from importer.sandbox.json_reading import SandboxUnusable
from importer.sandbox.memory import Memory

_BACKLOG = 512
File = TypeVar("File")


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """A sandbox whose files are read and whose port is bound, so clients may connect. `memory`: what it accepted."""

    token: str
    memory: Memory
    _app: SandboxApp
    _log: RequestLog
    _listener: socket.socket
    _opened: ExitStack

    @property
    def requests(self) -> list[LoggedRequest]:
        """The requests received so far, if they are kept."""
        return self._log.requests

    @property
    def base_url(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def serve(self, stop: asyncio.Event) -> None:
        """Answer requests until `stop` is set; then close every connection."""
        connections: set[Connection] = set()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(self._app, self._log, connections), sock=self._listener)
        try:
            await stop.wait()
        finally:
            server.close()
            for connection in tuple(connections):
                connection.close()
            while connections:
                await asyncio.sleep(0)

    def close(self) -> None:
        self._opened.close()


def prepare(options: SandboxOptions, *, keep_requests: bool = False) -> RunningSandbox:
    """Read the files and bind the port.

    Raises:
        SandboxUnusable: a file or the address cannot be used; lists the problems of both files together.
    """
    problems: list[str] = []
    company = _read(read_questions, options.questions or SHIPPED_QUESTIONS, problems)
    faults = _read(read_faults, options.faults, problems) if options.faults else Faults()
    if not options.token or not options.token.isascii() or not options.token.isprintable() or " " in options.token:
        problems.append("the sandbox token must be printable ASCII without spaces, and not empty")
    if company is None or faults is None or problems:
        raise SandboxUnusable(problems)
    with ExitStack() as opened:
        listener = opened.enter_context(_listen(options))
        memory = opened.enter_context(closing(Memory(company, options.memory)))
        log = opened.enter_context(closing(RequestLog(options.log, keep=keep_requests)))
        app = SandboxApp(options, company, faults, memory)
        return RunningSandbox(options.token, memory, app, log, listener, opened.pop_all())


def _read(read: Callable[[Path], File], path: Path, problems: list[str]) -> File | None:
    try:
        return read(path)
    except SandboxUnusable as error:
        problems += error.problems
        return None


def _listen(options: SandboxOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        where = f"{options.host} port {options.port}"
        raise SandboxUnusable(f"cannot listen on {where}: {error}; choose another port, or 0 for a free one") from error


@contextmanager
def running(options: SandboxOptions) -> Iterator[RunningSandbox]:
    """Serve from a thread with its own event loop until the block ends.

    Raises:
        SandboxUnusable: a file or the address cannot be used.
    """
    sandbox = prepare(options, keep_requests=True)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def serve() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(sandbox.serve(stop))

    thread = threading.Thread(target=serve, name="sandbox")
    thread.start()
    try:
        yield sandbox
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        sandbox.close()
