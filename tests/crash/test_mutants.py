"""The mutants match the current code; `make mutants` applies them."""

from __future__ import annotations

import pytest

from tests.crash.mutants import MUTANTS, Mutant, mismatch


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_a_mutant_can_be_applied(mutant: Mutant) -> None:
    """The text that a mutant changes occurs exactly once in its file, and its tests exist."""
    assert mismatch(mutant) == ""
