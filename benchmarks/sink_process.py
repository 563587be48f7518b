"""A sink in its own process, until a block ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.certificate import Certificate
from benchmarks.sink import ANNOUNCEMENT, Figures

ROOT = Path(__file__).resolve().parent.parent


class SinkProcess:
    """A context manager; `url` is the address, and after the block `figures` is what was sent to it."""

    def __init__(self, *arguments: str, certificate: Certificate | None = None) -> None:
        tls: Sequence[str] = ()
        if certificate is not None:
            tls = ("--tls", str(certificate.certificate), str(certificate.key))
        self._command = [sys.executable, "-m", "benchmarks.sink", *arguments, *tls]
        self.url = ""
        self.figures = Figures()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith(ANNOUNCEMENT):
            raise RuntimeError(f"the sink did not start: {line}")
        self.url = line.removeprefix(ANNOUNCEMENT).strip()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            output = self._process.communicate(timeout=30)[0]
        finally:
            self._process.kill()
            self._process.wait()
        self.figures = Figures(**json.loads(output))
