"""Damaged files: the short form of the mutation run."""

from __future__ import annotations

from tests.sources.mutate import mutants, read


def test_damaged_files_give_a_result_or_a_message() -> None:
    """Each of 24 damaged files is read, or refused with a clear message; no traceback and no hang."""
    dispositions = [read(mutant) for mutant in mutants(24, seed=20)]
    assert [disposition for disposition in dispositions if not disposition.good] == []
    assert {disposition.kind for disposition in dispositions} == {"read", "refused"}
