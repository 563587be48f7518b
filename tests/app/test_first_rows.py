"""The first row of each key, however many keys there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from importer.app.first_rows import FirstRows


@given(st.lists(st.integers(0, 30)))
def test_it_is_a_dict_whatever_is_put_away(keys: list[int]) -> None:
    """With room for three keys in memory it answers as a dict does."""
    plain: dict[bytes, int] = {}
    with FirstRows(in_memory=3) as first_rows:
        for row, number in enumerate(keys, start=2):
            key = number.to_bytes(16)
            assert first_rows.setdefault(key, row) == plain.setdefault(key, row)
