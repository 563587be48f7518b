"""A sandbox for each test that needs one, with the shipped questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.sandbox.wire import TOKEN, Client


@pytest.fixture
def sandbox() -> Iterator[RunningSandbox]:
    with running(SandboxOptions(token=TOKEN)) as served:
        yield served


@pytest.fixture
def client(sandbox: RunningSandbox) -> Client:
    return Client(sandbox.base_url)
