"""A sandbox in a process of its own, as `importer sandbox` starts it."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE

ANNOUNCEMENT = "sandbox listening on "


@dataclass(frozen=True)
class SandboxProcess:
    """A running sandbox: its address, its token, and its process."""

    base_url: str
    token: str
    process: subprocess.Popen[str]


@contextmanager
def sandbox_process(**files: Path) -> Iterator[SandboxProcess]:
    """Serve until the block ends. files: by the names of their flags (questions, memory, faults, log)."""
    token = secrets.token_urlsafe(16)
    flags = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    command = [sys.executable, "-m", "importer", "sandbox", "--port", "0", *flags]
    environment = {**os.environ, "IMPORTER_SANDBOX_TOKEN": token}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith(ANNOUNCEMENT), line
            yield SandboxProcess(line.removeprefix(ANNOUNCEMENT).strip(), token, process)
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
