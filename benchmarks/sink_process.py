"""A sink in a process of its own, for as long as a block lasts."""

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
    """Give it as a context; `url` says where it listens, and after the block `figures` what was sent to it."""

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
            told, _ = self._process.communicate(timeout=30)
        finally:
            self._process.kill()
            self._process.wait()
        self.figures = Figures(**json.loads(told))
