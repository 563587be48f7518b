"""A sandbox as a child process: for `run --sandbox`, which must outlive neither its parent nor its use."""

from __future__ import annotations

import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Literal

from importer.child_process import child_environment, python_command
from importer.sandbox.serving import ANNOUNCEMENT
from importer.sandbox.unusable import SandboxUnusable

TOKEN_VARIABLE = "IMPORTER_SANDBOX_TOKEN"
COMMAND = (*python_command("from importer.cli.app import main; main()"), "sandbox")
if sys.platform == "win32":
    _OWN_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP  # what a session of its own is elsewhere
else:
    _OWN_GROUP = 0
_GRACE = 5.0  # seconds that a child has to end by itself


class ChildSandbox:
    """A sandbox that serves from a child process: where it is, and its token. Ends with the block, or with `stop`."""

    def __init__(self, process: subprocess.Popen[bytes], base_url: str, token: str) -> None:
        self._process = process
        self.base_url = base_url
        self.token = token

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Ends the child; may be called again."""
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
    """Starts a sandbox (see SandboxOptions) as a child process on a free port, and returns when it listens.

    The child has a session of its own, so that Ctrl-C reaches only the parent, which still drains what is in flight;
    and it ends when its standard input does, so that a parent killed outright leaves no orphan. Its token is made up
    for it, and goes through the environment, never the command line.

    Raises:
        SandboxUnusable: the child ended, or did not listen within `wait` seconds; says what it said.
    """
    paths = {"--questions": questions, "--memory": memory, "--faults": faults, "--log": log}
    arguments = [text for flag, path in paths.items() if path for text in (flag, str(path))]
    arguments += ["--port", "0", "--pool-duplicates", str(pool_duplicate_status), "--exit-with-stdin"]
    token = secrets.token_urlsafe(24)
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={**child_environment(), TOKEN_VARIABLE: token},
            start_new_session=True,
            creationflags=_OWN_GROUP,
        )
        announcement = _first_line(process, wait)
        if not announcement.startswith(ANNOUNCEMENT):
            _end(process)
            raise SandboxUnusable(_what_went_wrong(process.returncode, announcement, complaints))
    return ChildSandbox(process, announcement.removeprefix(ANNOUNCEMENT), token)


def _first_line(process: subprocess.Popen[bytes], wait: float) -> str:
    """The first line that the child says, "" if it ends before or says nothing within `wait` seconds."""
    lines: list[bytes] = []
    output = _pipe(process.stdout)
    reader = threading.Thread(target=lambda: lines.append(output.readline()), daemon=True)
    reader.start()
    reader.join(wait)
    if reader.is_alive():
        process.kill()
        reader.join()
    return lines[0].decode("utf-8", "replace").strip()


def _what_went_wrong(code: int, announcement: str, complaints: IO[bytes]) -> list[str]:
    complaints.seek(0)
    said = complaints.read().decode("utf-8", "replace").strip().splitlines()
    if announcement:
        said.insert(0, announcement)
    return said or [f"the sandbox did not start (exit code {code})"]


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
