"""A sandbox as a process of its own: `importer sandbox`, and the child process of `run --sandbox`."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Literal

from importer.processes import child_environment, python_command
from importer.sandbox.files import SandboxUnusable
from importer.sandbox.server import prepared
from importer.sandbox.service import SandboxOptions

UNUSABLE: Final = 3
ANNOUNCEMENT: Final = "sandbox listening on "
TOKEN_VARIABLE: Final = "IMPORTER_SANDBOX_TOKEN"
# Not `importer sandbox`: the command line takes longer to load than the sandbox.
COMMAND: Final = tuple(python_command("from importer.sandbox.process import serve_child; serve_child()"))
_OWN_GROUP: Final = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # on Windows, like a session of its own
_GRACE: Final = 5.0  # seconds in which a child may end by itself


def serve(options: SandboxOptions) -> int:
    """Serve until SIGINT or SIGTERM, or with `exit_with_stdin` until standard input ends; returns the exit code.

    Prints `sandbox listening on http://127.0.0.1:PORT` on standard output once clients may connect. If it cannot start,
    prints all problems on standard error and returns 3. Must be called from the main thread.
    """
    stop = threading.Event()
    try:
        with prepared(options) as sandbox:
            earlier = {one: signal.signal(one, lambda *_: stop.set()) for one in (signal.SIGINT, signal.SIGTERM)}
            threading.Thread(target=sandbox.server.serve_forever, name="sandbox", daemon=True).start()
            if options.exit_with_stdin:
                threading.Thread(target=_await_end_of_stdin, args=(stop,), name="stdin", daemon=True).start()
            sys.stdout.write(f"{ANNOUNCEMENT}{sandbox.base_url}\n")
            sys.stdout.flush()
            stop.wait()
            for one, handler in earlier.items():
                signal.signal(one, handler)
    except SandboxUnusable as error:
        sys.stderr.writelines(f"{problem}\n" for problem in error.problems)
        return UNUSABLE
    return 0


def _await_end_of_stdin(stop: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop.set()


def serve_child() -> None:
    """In the child process: serve on a free port as its only argument says, until its standard input ends."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    options: dict[str, Any] = {name: Path(path) for name, path in given["paths"].items()}
    options["pool_duplicate_status"] = given["pool_duplicate_status"]
    sys.exit(serve(SandboxOptions(os.environ[TOKEN_VARIABLE], exit_with_stdin=True, **options)))


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
        timer = threading.Timer(wait, process.kill)
        timer.start()
        announcement = _pipe(process.stdout).readline().decode("utf-8", "replace").strip()
        is_late = timer.finished.is_set()
        timer.cancel()
        if not announcement.startswith(ANNOUNCEMENT):
            _end(process)
            errors.seek(0)
            text = errors.read().decode("utf-8", "replace")
            raise SandboxUnusable(_problems(process.returncode, text.strip().splitlines(), is_late=is_late))
    return ChildSandbox(process, announcement.removeprefix(ANNOUNCEMENT), token)


def _problems(code: int, error_lines: list[str], *, is_late: bool) -> list[str]:
    """Why the child does not serve: its own report unchanged, or one clear problem for anything else."""
    if code == UNUSABLE and error_lines:
        return error_lines
    reason = f": {error_lines[-1].strip()[:200]}" if error_lines else ""
    how = "took too long and was ended" if is_late else f"ended with exit code {code}{reason}"
    return [
        f"the sandbox did not start: its process {how};"
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
