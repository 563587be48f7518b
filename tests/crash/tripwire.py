"""Kills its own process at a chosen step: before a request, a commit, a renaming, and after each of these.

The steps are seen from outside of the importer's code: Python's audit events for files and for the bytes of requests,
and SQLAlchemy's events for transactions. So every step counts, also one that is added later.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.pool import Pool

_FILES = {
    "os.rename": "renaming to {1}",
    "os.remove": "removing {0}",
    "os.mkdir": "making {0}",
    "os.link": "linking {1}",
    "os.rmdir": "removing folder {0}",
    "shutil.rmtree": "removing folder {0}",
    "os.truncate": "cutting {0}",
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class _Tripwire:
    def __init__(self, at: int, folder: Path) -> None:
        self._at = at
        self._count = 0
        self._lock = threading.Lock()
        self._log = os.open(folder / "steps.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) if at == 0 else None
        self._quiet = threading.local()

    def step(self, name: str) -> None:
        with self._lock:
            self._count += 1
            if self._log is not None:
                os.write(self._log, f"{name}\n".encode())
            elif self._count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)


def arm(at: int, folder: Path) -> None:
    """Kill this process at its n-th step from now; with 0, write the names of all steps to steps.txt instead."""
    wire = _Tripwire(at, folder)
    inside = str(folder)

    def audit(name: str, arguments: tuple[Any, ...]) -> None:
        if name in _FILES:
            shown = [
                Path(os.fsdecode(part)).name if isinstance(part, str | bytes | os.PathLike) else part
                for part in arguments
            ]
            wire.step("before " + _FILES[name].format(*shown))
        elif name == "open" and isinstance(arguments[0], str) and (arguments[2] or 0) & _WRITING:
            path = os.path.abspath(arguments[0])  # noqa: PTH100 - Path would raise events of its own
            if path.startswith(inside) and not path.endswith((".txt", "-journal")):
                wire.step(f"before opening {os.path.basename(path)}")  # noqa: PTH119
        elif name == "http.client.send":
            wire.step(f"before sending {'the head' if arguments[1].startswith((b'GET', b'POST')) else 'the body'}")

    sys.addaudithook(audit)
    event.listen(Engine, "begin", lambda connection: wire.step(f"beginning in {_name(connection)}"))
    event.listen(Engine, "commit", lambda connection: wire.step(f"before the commit in {_name(connection)}"))
    event.listen(Pool, "checkin", lambda connection, record: wire.step("after the transaction"))


def _name(connection: Any) -> str:
    return os.path.basename(connection.engine.url.database)  # noqa: PTH119
