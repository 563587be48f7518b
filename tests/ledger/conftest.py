"""The stores: each test with an `address` runs with each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from importer.ledger import LedgerStore
from tests.ledger.given import begun

# By the scheme of its addresses: the address of a new ledger that is kept in a folder of the test's own.
STORES: dict[str, Callable[[Path], str]] = {
    "sqlite": lambda folder: f"sqlite:///{folder / 'ledger.sqlite'}",
}


@pytest.fixture(params=STORES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that does not exist yet."""
    return STORES[request.param](tmp_path)


@pytest.fixture
def ledger(address: str) -> Iterator[LedgerStore]:
    """A ledger with one run begun."""
    with begun(address) as ledger:
        yield ledger
