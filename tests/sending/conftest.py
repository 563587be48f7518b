"""On a clock that jumps nothing is worth waiting for in real time."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.sending import loop
from tests.sending.given import Harness


@pytest.fixture(autouse=True)
def _no_lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_LINGER", 0.0)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)
