"""Python environments of the peers: one each, pinned, outside of the tree, created once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_NEWER = ("python3.12", "python3.13", "python3.14")


class Unavailable(Exception):
    """A peer cannot be installed here; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A package and its measured version; `newer`: it needs Python 3.12."""

    package: str
    version: str
    newer: bool = False

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


def cache() -> Path:
    """The folder of the environments: in IMPORTER_BENCH_CACHE, or the user's cache folder."""
    named = os.environ.get("IMPORTER_BENCH_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "importer-bench"


def python_of(peer: Peer) -> Path:
    """The interpreter of the environment that has this peer, created if it is missing.

    Raises:
        Unavailable: no suitable Python is installed, or the package cannot be installed.
    """
    folder = cache() / f"{peer.package}-{peer.version}"
    python = folder / "bin" / "python"
    whole = folder / "whole"  # created last, so that an interrupted installation starts again
    if not whole.exists():
        base = _newer_python() if peer.newer else sys.executable
        shutil.rmtree(folder, ignore_errors=True)
        _run([base, "-m", "venv", str(folder)], peer)
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _run([*install, f"{peer.package}=={peer.version}"], peer)
        whole.touch()
    return python


def packages_of(python: Path) -> Path:
    """The folder where an environment has its packages."""
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    result = subprocess.run([str(python), "-c", ask], check=True, capture_output=True, text=True)
    return Path(result.stdout.strip())


def _run(command: list[str], peer: Peer) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    except (subprocess.SubprocessError, OSError) as error:
        lines = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        raise Unavailable(
            f"{peer} was skipped: it cannot be installed ({lines[-1] if lines else 'no reason given'})"
        ) from None


def _newer_python() -> str:
    """A working Python 3.12 or newer: a name on the path may be a shim that does not work."""
    kept = sorted(str(path) for path in Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python"))
    ask = "import sys; sys.exit(sys.version_info < (3, 12))"
    for name in (sys.executable, *_NEWER, *kept):
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", ask], check=False, capture_output=True).returncode == 0:
            return found
    raise Unavailable("it was skipped: it needs Python 3.12, which is not installed")
