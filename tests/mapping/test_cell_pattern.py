"""A pattern has the meaning of a Python regular expression, and never takes long."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.mapping.scalars import CellPattern
from tests.patience import PATIENCE

_ATOMS = st.sampled_from(
    ["a", "i", "ı", "İ", "K", "ß", "é", "ⓐ", " ", "{", "&", "x{1", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", ".", "^",
     "$", r"\A", r"\Z", r"\.", r"\x41", r"\u0131", r"\n", "[^\\W\\d_]", "[a-c]", "[^a]", "[]a]", "[iş]"]
)  # fmt: skip
_REPEATS = st.sampled_from(["*", "+", "?", "+?", "{2}", "{1,2}", "{,2}", "{1,}", ""])
_FLAGS = st.sampled_from(["", "(?i)", "(?s)", "(?m)", "(?a)", "(?is)"])
_ONE = st.tuples(_ATOMS, _REPEATS).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
_CELLS = st.text(st.sampled_from("aiIıİkK\u212aßẞéşſA1٣ _{}.&x\n\u00a0"), max_size=6).map(str.strip)


@given(_FLAGS, st.lists(_ONE, min_size=1, max_size=3), st.lists(_ONE, max_size=3), _CELLS)
def test_a_pattern_matches_like_python(flags: str, taken: list[str], after: list[str], cell: str) -> None:
    """The same cells match with the same groups, including letters of all scripts and their capitals."""
    expression = re.compile(f"{flags}(?P<one>{''.join(taken)})(?P<two>{'|'.join(after)})?")
    match = expression.fullmatch(cell)
    assert CellPattern(expression.pattern, ("one", "two")).groups_of(cell) == (match and match.groupdict())


@pytest.mark.parametrize("pattern", ["(?P<a>(a+)+b)", "(?P<a>(?:a|a)*b)", r"(?P<a>(.*)(.*)(.*)(.*)(.*)(.*)b)"])
def test_a_pattern_that_would_take_hours_does_not_match(pattern: str) -> None:
    """Not even in a long column: after a few cells the others are not tried, until the mapping is read again."""
    started = time.perf_counter()
    for _ in range(2):
        one = CellPattern(pattern, ("a",))
        assert one.groups_of("ab") == {"a": "ab"}
        for _ in range(20):
            with suppress(TimeoutError):
                assert one.groups_of("a" * 2_000) is None
    assert time.perf_counter() - started < PATIENCE  # and not for hours


def test_a_lone_surrogate_is_a_character() -> None:
    """A lone surrogate, which JSON can contain, is matched; it is refused where it would be sent."""
    assert CellPattern("(?P<a>.+)", ("a",)).groups_of("\ud800") == {"a": "\ud800"}
