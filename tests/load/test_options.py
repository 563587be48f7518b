"""The options of sending."""

from __future__ import annotations

import pytest

from importer.load import ErrorLimit
from importer.problems import UsageError


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("25", ErrorLimit(25)),
        ("0", ErrorLimit(0)),
        ("5%", ErrorLimit(5, is_percentage=True)),
        (" 2.5 % ", ErrorLimit(2.5, is_percentage=True)),
        ("100%", ErrorLimit(100, is_percentage=True)),
    ],
)
def test_a_limit_is_read(text: str, limit: ErrorLimit) -> None:
    """A number of rows, or a percentage of them."""
    assert ErrorLimit.parse(text) == limit


@pytest.mark.parametrize("text", ["", "many", "-1", "2.5", "5%%", "101%", "٥"])
def test_a_limit_that_is_not_valid_is_reported(text: str) -> None:
    """The message shows the text and the valid forms."""
    with pytest.raises(UsageError) as caught:
        ErrorLimit.parse(text)
    assert str(caught.value) == (
        f"{text!r} is not a valid limit for errors; use a number of rows (25) or a percentage (5%)"
    )


@pytest.mark.parametrize(
    ("limit", "errors", "ended", "passed"),
    [
        pytest.param("2", 2, 2, False, id="up to the number"),
        pytest.param("2", 3, 100, True, id="one more"),
        pytest.param("0", 1, 1, True, id="none allowed"),
        pytest.param("10%", 19, 19, False, id="too early to judge a percentage"),
        pytest.param("10%", 2, 20, False, id="up to the percentage"),
        pytest.param("10%", 3, 20, True, id="above the percentage"),
    ],
)
def test_when_a_limit_is_passed(limit: str, errors: int, ended: int, passed: bool) -> None:
    """A limit may be reached, but not exceeded."""
    assert ErrorLimit.parse(limit).is_passed_by(errors, ended) is passed
