"""One fork server for all crash tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.fork_server import ForkServer


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer() as fork_server:
        yield fork_server
