"""Runs a command as a process, and measures its time, CPU and memory."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO


class Failed(RuntimeError):
    """A measured command failed. The message has the end of its output."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources of a process and its children. `peak` is the resident memory of the largest, in MB."""

    seconds: float
    cpu_seconds: float
    peak: float
    exit_code: int
    output: str

    @property
    def last_output(self) -> str:
        """The end of its output, on one line."""
        return " ".join(self.output.split())[-300:]


def spend(
    command: Sequence[str], environment: Mapping[str, str] | None = None, *, folder: Path, timeout: float = 600
) -> Usage:
    """Run a command to its end.

    The calling process must be small: the kernel counts its memory at the time of the fork as the child's.

    Raises:
        Failed: it took longer than `timeout` seconds, and was killed.
    """
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        too_long = threading.Event()

        def end() -> None:
            too_long.set()
            os.killpg(process.pid, signal.SIGKILL)

        watch = threading.Timer(timeout, end)
        watch.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            watch.cancel()
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)  # Popen does not know that os.wait4 reaped it
        output_end = _end_of(output)
    if too_long.is_set():
        raise Failed(f"it took longer than {timeout:.0f} s and was killed; its output: {output_end[-300:]}")
    return Usage(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, output_end)


def _end_of(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - 4000))
    return output.read().decode("utf-8", "replace").strip()
