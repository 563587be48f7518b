"""Many cells at a time give the same as each cell alone."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from importer.extract.cell_text import Value, cell_text, clean, find_problem
from importer.extract.sheet_content import column_text

_TEXTS = st.text(st.sampled_from("aİ#E+1 \t\n\x1f\x7f\x85\xa0\u0301\u200b\ufffd"), max_size=4) | st.text(max_size=4)


@given(st.lists(_TEXTS, min_size=1, max_size=4))
@example(["905320000000", "9.05E+11"])
@example(["a", "\x1f", "b"])
@example(["e", "\u0301"])
def test_texts(values: list[str]) -> None:
    """Each text of a column is cleaned, and each problem in a text is found."""
    text = column_text(values)
    assert text.cells == [clean(value) for value in values]
    assert text.typed is False
    assert list(text.problems) == [
        (at, flaw) for at, value in enumerate(values) if (flaw := find_problem(clean(value)))
    ]


_NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18)


@given(st.lists(_NUMBERS, min_size=1, max_size=4))
@example([0.5, -0.0])
@example([-0.5, 2.0])
@example([1.0, -0.0])
@example([1e-7, 0.5])
@example([999999999999999.0, 1.0])
@example([1e15, 1.0])
@example([7, 2.5])
@example([10**15 - 1, 7.0])
@example([0.1 + 0.2, 123456789012345.6])
def test_numbers(values: list[float]) -> None:
    """A column of numbers is each number without exponent, without `.0`, to 15 digits."""
    text = column_text(values)
    assert text.cells == [cell_text(value) for value in values]
    assert text.typed is True
    assert text.lost_digits == next((at for at, value in enumerate(values) if abs(value) >= 1e15), None)


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        pytest.param([True, False], ["TRUE", "FALSE"], id="booleans"),
        pytest.param([7, 10**15], ["7", "1000000000000000"], id="integers"),
        pytest.param(
            [datetime(2021, 3, 15), datetime(2021, 3, 15, 14, 30)], ["2021-03-15", "2021-03-15 14:30:00"], id="dates"
        ),
    ],
)
def test_other_kinds(values: list[Value], cells: list[str]) -> None:
    """A column of any other kind of value is each value's text."""
    text = column_text(values)
    assert (text.cells, text.typed) == (cells, True)
    assert text.lost_digits == (1 if values[0] == 7 else None)
