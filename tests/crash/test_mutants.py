"""The planted faults fit the code as it is; `make mutants` plants them."""

from __future__ import annotations

import pytest

from tests.crash.mutants import MUTANTS, Mutant, misfit


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_a_mutant_can_be_planted(mutant: Mutant) -> None:
    """The text that a mutant changes stands in its file exactly once, and its tests are there."""
    assert misfit(mutant) == ""
