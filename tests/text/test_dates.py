"""Durations in words."""

from __future__ import annotations

import pytest

from importer.text.dates import in_words

DURATIONS = [
    pytest.param(2.5, "2.5 seconds", id="a fraction"),
    pytest.param(1, "1 second", id="one"),
    pytest.param(59.7, "1 minute", id="nearly a minute"),
    pytest.param(75, "1 minute 15 seconds", id="minutes with their seconds"),
    pytest.param(900, "15 minutes", id="minutes"),
    pytest.param(7260, "2 hours 1 minute", id="hours"),
    pytest.param(0, "0 seconds", id="nothing"),
]


@pytest.mark.parametrize(("seconds", "words"), DURATIONS)
def test_a_duration_is_said_exactly(seconds: float, words: str) -> None:
    """Nobody has to convert 1.2 minutes."""
    assert in_words(seconds) == words
