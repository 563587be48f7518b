"""Every pattern of real exports has an example: a file, a mapping and a golden folder."""

from __future__ import annotations

from functools import cache

import pytest

from tests.samples.patterns import NUMBERS, SHAPE_OF, SHOWN, Shown, text_of_files, text_of_golden

_files = cache(text_of_files)
_golden = cache(text_of_golden)


def test_every_pattern_has_an_example() -> None:
    """Every pattern has an example, and every example is used."""
    assert list(dict.fromkeys(shown.pattern for shown in SHOWN)) == [f"P{number}" for number in NUMBERS]
    assert {shown.shape for shown in SHOWN} == set(SHAPE_OF) - {"all_job_posts", "nightly_candidates"}


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: f"{shown.pattern} {shown.what}")
def test_an_example_contains_its_pattern(shown: Shown) -> None:
    """The file has the pattern, the mapping handles it, and the golden folder has the result."""
    shape = SHAPE_OF[shown.shape]
    assert shown.file in _files(shape)
    assert shown.mapping in shape.mapping.read_text("utf-8")
    assert shown.golden in _golden(shape)
