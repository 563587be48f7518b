"""How long tests wait for another thread or process: as long as a busy machine may need, and not forever.

No test fails because a machine is slow: a limit is far above what is measured, and only what hangs reaches it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 120.0  # seconds


def wait_until(condition: Callable[[], object], expected: str = "it did not happen") -> None:
    """Until the condition is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, expected
        time.sleep(0.01)
