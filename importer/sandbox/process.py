"""A sandbox as a process of its own: `importer sandbox`, and the child process of `run --sandbox`."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any, Literal

from importer.processes import child_environment, python_command
from importer.sandbox.app import SandboxOptions
from importer.sandbox.json_reading import SandboxUnusable
from importer.sandbox.server import RunningSandbox, prepare

UNUSABLE = 3
ANNOUNCEMENT = "sandbox listening on "
TOKEN_VARIABLE = "IMPORTER_SANDBOX_TOKEN"
# Not `importer sandbox`: the command line takes longer to load than the sandbox.
COMMAND = tuple(python_command("from importer.sandbox.process import serve_child; serve_child()"))
if sys.platform == "win32":
    _OWN_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP  # like a session of its own on other systems
else:
    _OWN_GROUP = 0
_GRACE = 5.0  # seconds in which a child may end by itself
_LONGEST_REASON = 200


def serve(options: SandboxOptions) -> int:
    """Serve until SIGINT or SIGTERM, or with `exit_with_stdin` until standard input ends; returns the exit code.

    Prints `sandbox listening on http://127.0.0.1:PORT` on standard output once clients may connect. If it cannot start,
    prints all problems on standard error and returns 3. Must be called from the main thread.
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


def serve_child() -> None:
    """In the child process: serve on a free port as its only argument says, until its standard input ends."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    options: dict[str, Any] = {name: Path(path) for name, path in given["paths"].items()}
    options["pool_duplicate_status"] = given["pool_duplicate_status"]
    sys.exit(serve(SandboxOptions(os.environ[TOKEN_VARIABLE], exit_with_stdin=True, **options)))


async def _serve(server: RunningSandbox, exit_with_stdin: bool) -> None:
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
    """Call `stop_soon` on SIGINT and SIGTERM; plain handlers, as the loop has none on some systems."""

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


class ChildSandbox:
    """A sandbox in a child process: its address and token. Ends with the block, or with `stop`."""

    def __init__(self, process: subprocess.Popen[bytes], base_url: str, token: str) -> None:
        self._process = process
        self.base_url = base_url
        self.token = token

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """End the child; may be called again."""
        _end(self._process)

    def __enter__(self) -> ChildSandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    *,
    questions: Path | None = None,
    memory: Path | None = None,
    faults: Path | None = None,
    log: Path | None = None,
    pool_duplicate_status: Literal[409, 400] = 409,
    command: Sequence[str] = COMMAND,
    wait: float = 20.0,
) -> ChildSandbox:
    """Start a sandbox (see SandboxOptions) as a child process on a free port, and return when it listens.

    The child has its own session, so that Ctrl-C reaches only the parent, which still has requests in flight; it ends
    when its standard input ends, so that a killed parent leaves no orphan. Its token is random and passed in the
    environment, never on the command line.

    Raises:
        SandboxUnusable: the child cannot use a file or an address, as it reports; or it ended, or did not listen
            within `wait` seconds.
    """
    paths = {"questions": questions, "memory": memory, "faults": faults, "log": log}
    paths_as_text = {name: str(path) for name, path in paths.items() if path}
    token = secrets.token_urlsafe(24)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, json.dumps({"pool_duplicate_status": pool_duplicate_status, "paths": paths_as_text})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**child_environment(), TOKEN_VARIABLE: token},
            start_new_session=True,
            creationflags=_OWN_GROUP,
        )
        announcement = _first_line(process, wait)
        if announcement is None or not announcement.startswith(ANNOUNCEMENT):
            _end(process)
            errors.seek(0)
            text = errors.read().decode("utf-8", "replace")
            raise SandboxUnusable(_problems(process.returncode, announcement, text.strip().splitlines(), wait))
    return ChildSandbox(process, announcement.removeprefix(ANNOUNCEMENT), token)


def _first_line(process: subprocess.Popen[bytes], wait: float) -> str | None:
    """The first line of the child's output, "" if it ends first; None if there is no line within `wait` seconds."""
    lines: list[bytes] = []
    output = _pipe(process.stdout)
    reader = threading.Thread(target=lambda: lines.append(output.readline()), daemon=True)
    reader.start()
    reader.join(wait)
    if reader.is_alive():
        process.kill()
        reader.join()
        return None
    return lines[0].decode("utf-8", "replace").strip()


def _problems(code: int, announcement: str | None, error_lines: list[str], wait: float) -> list[str]:
    """Why the child does not serve: its own report unchanged, or one clear problem for anything else."""
    if code == UNUSABLE and error_lines:
        return error_lines
    if announcement is None:
        return [
            f"the sandbox did not start within {wait:g} seconds; run the command again,"
            " or run `importer sandbox` to see the reason"
        ]
    reason = f": {error_lines[-1].strip()[:_LONGEST_REASON]}" if error_lines else ""
    return [
        f"the sandbox did not start: its process ended with exit code {code}{reason};"
        " run `importer sandbox` to see the full error; if a module is missing, install candidate-importer again"
    ]


def _end(process: subprocess.Popen[bytes]) -> None:
    _pipe(process.stdin).close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _pipe(process.stdout).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "the child was started with pipes"
    return pipe
