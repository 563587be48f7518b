"""What a sandbox is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SHIPPED_QUESTIONS = Path(__file__).with_name("questions.json")


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """How one sandbox is to run; every path may be None.

    `port` 0 takes a free one. `questions` None takes the file that ships with the importer. `memory` keeps what was
    accepted (JSON lines, personal data), `log` every request (JSON lines, no personal data), `faults` says which
    requests meet which fault. `pool_duplicate_status` answers a second addition to a talent pool: the service
    description (4.3) does not show it. With `exit_with_stdin` the sandbox ends when its standard input ends.
    """

    token: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    questions: Path | None = None
    memory: Path | None = None
    faults: Path | None = None
    log: Path | None = None
    pool_duplicate_status: Literal[409, 400] = 409
    exit_with_stdin: bool = False
