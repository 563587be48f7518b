"""Damaged files: the small form of the mutation run."""

from __future__ import annotations

from tests.extract.mutate import mutants, read


def test_damaged_files_give_a_result_or_a_message() -> None:
    """Each of 24 damaged files is read, or refused with one clear message; no traceback, no hang, no dead process."""
    verdicts = [read(mutant) for mutant in mutants(24, seed=20)]
    assert [verdict for verdict in verdicts if not verdict.good] == []
    assert {verdict.kind for verdict in verdicts} == {"read", "refused"}
