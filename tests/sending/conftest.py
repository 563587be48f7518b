"""On a clock that jumps nothing is worth waiting for in real time."""

from __future__ import annotations

import pytest

from importer.sending import loop


@pytest.fixture(autouse=True)
def _no_lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_LINGER", 0.0)
