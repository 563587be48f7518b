"""The stores: each test with an `address` runs with each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.ledger import Ledger
from importer.settings import LedgerAddress
from tests.ledger.given import begun
from tests.postgres import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> LedgerAddress:
    """The address of a ledger that does not exist yet, by the scheme of its store."""
    if request.param == "sqlite":
        return LedgerAddress(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    server: Server = request.getfixturevalue("postgres")
    return server.address(tmp_path / "ledger.key")


@pytest.fixture
def ledger(address: LedgerAddress) -> Iterator[Ledger]:
    """A ledger with one run begun."""
    with begun(address) as ledger:
        yield ledger
