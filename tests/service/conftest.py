"""What is promised of the network is promised of each transport: a test that takes `transport` runs over both."""

from __future__ import annotations

import pytest

from importer.service.client import TransportChoice


@pytest.fixture(params=["requests", "curl"])
def transport(request: pytest.FixtureRequest) -> TransportChoice:
    """The one that carries the requests of this test."""
    return request.param  # type: ignore[no-any-return]
