"""A pattern means what it means to Python's own expressions, and no text keeps it busy."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.mapping.linear_pattern import linear_pattern

_ATOMS = st.sampled_from(
    ["a", "i", "ı", "İ", "K", "ß", "é", "ⓐ", " ", "{", "&", "x{1", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", ".", "^",
     "$", r"\A", r"\Z", r"\.", r"\x41", r"\u0131", r"\n", "[^\\W\\d_]", "[a-c]", "[^a]", "[]a]", "[iş]", "[^\\s\\S]"]
)  # fmt: skip
_REPEATS = st.sampled_from(["*", "+", "?", "+?", "{2}", "{1,2}", "{,2}", "{1,}", ""])
_FLAGS = st.sampled_from(["", "(?i)", "(?s)", "(?m)", "(?a)", "(?is)"])
_ONE = st.tuples(_ATOMS, _REPEATS).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
_CELLS = st.text(st.sampled_from("aiIıİkK\u212aßẞéşſA1٣ _{}.&x\n\u00a0"), max_size=6).map(str.strip)


@given(_FLAGS, st.lists(_ONE, min_size=1, max_size=3), st.lists(_ONE, max_size=3), _CELLS)
def test_a_pattern_takes_what_it_takes_in_python(flags: str, taken: list[str], after: list[str], cell: str) -> None:
    """The same cells fit, and the named groups hold the same, letters of all scripts and their capitals included."""
    expression = re.compile(f"{flags}(?P<one>{''.join(taken)})(?P<two>{'|'.join(after)})?")
    match = expression.fullmatch(cell)
    assert linear_pattern(expression).groups_of(cell) == (match and match.groupdict())


@pytest.mark.parametrize("pattern", ["(?P<a>(a+)+b)", "(?P<a>(?:a|a)*b)", r"(?P<a>(.*)(.*)(.*)(.*)(.*)b)"])
def test_no_text_keeps_a_pattern_busy(pattern: str) -> None:
    """Patterns that take forever elsewhere are done in a moment."""
    started = time.perf_counter()
    assert linear_pattern(re.compile(pattern)).groups_of("a" * 10_000) is None
    assert time.perf_counter() - started < 5


def test_half_a_character_fits_nothing() -> None:
    """A surrogate by itself, which JSON can write, is told like any other text that does not fit."""
    assert linear_pattern(re.compile("(?P<a>.+)")).groups_of("\ud800") is None
